"""What a sweep consists of: streams x learners x n x epsilon x rounds x seeds, cell by cell.

A cell is one of each. It is run by :func:`run_cell`, which depends on the cell alone: whichever machine
runs it, the numbers are the same.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import pathlib
import tomllib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from discreet import checks
from discreet.environments import Environment, as_environment, has_size
from discreet.errors import DiscreetError, InvalidArgument
from discreet.simulation.builtin_learners import Setting, find_learner, template_of
from discreet.simulation.replicas import as_maker, bounds_at, log_grid, promise_of, replica

if TYPE_CHECKING:
    import polars

#: Where nothing else is said, and the data are enough for it.
ROUNDS = 65536
#: The columns of a sweep's file, one row per cell and checkpoint; a cell that failed has one row with its
#: error.
COLUMNS = (
    "cell",
    "environment",
    "parameters",
    "learner",
    "n",
    "epsilon",
    "rounds",
    "seed",
    "round",
    "cost",
    "best",
    "best_lower_bound",
    "regret",
    "bound",
    "would_be_private",
    "error",
)


@dataclasses.dataclass(frozen=True)
class Cell:
    """One learner, in one environment, with one seed.

    Attributes:
        environment: Its name.
        parameters: Its parameters other than n, as sorted pairs.
        learner: The learner's name.
        n: Items; an environment of fixed size ignores it.
        epsilon: Privacy loss, or None for learners that have none.
        rounds: Rounds.
        seed: Seed of the stream and of the learner.
        checkpoints: How many rounds regret is noted at.
    """

    environment: str
    parameters: tuple[tuple[str, Any], ...]
    learner: str
    n: int
    epsilon: float | None
    rounds: int
    seed: int
    checkpoints: int

    @property
    def key(self) -> str:
        """A name that is the same wherever the same cell is run."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True, default=list)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        epsilon = "" if self.epsilon is None else f", epsilon={self.epsilon:g}"
        return f"{self.learner} in {self.environment}, n={self.n}{epsilon}, T={self.rounds}, seed {self.seed}"


@dataclasses.dataclass(frozen=True)
class Sweep:
    """All combinations that are to be run.

    Attributes:
        streams: Names of environments (or MODULE:NAME), each with its parameters other than n.
        learners: Names of learners.
        n: Numbers of items.
        epsilon: Privacy losses.
        rounds: Numbers of rounds; those of the shortest stream by default, if it is short.
        seeds: How many seeds.
        checkpoints: How many rounds regret is noted at.
        title: For the report.
    """

    streams: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
    learners: tuple[str, ...]
    n: tuple[int, ...] = (8,)
    epsilon: tuple[float, ...] = (1.0,)
    rounds: tuple[int, ...] = (ROUNDS,)
    seeds: int = 5
    checkpoints: int = 30
    title: str = "Comparison"

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Sweep:
        """A sweep from plain values, as a TOML file holds them; each is checked.

        Examples:
            >>> Sweep.from_mapping({"streams": ["modular"], "learners": ["bandit"], "n": [4, 8]}).n
            (4, 8)
        """
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(given) - known)
        if unknown:
            raise InvalidArgument(
                f"A sweep has no setting {unknown[0]!r}. It has: {', '.join(sorted(known))}."
            )
        if not given.get("streams") or not given.get("learners"):
            raise InvalidArgument("A sweep needs at least one of 'streams' and one of 'learners'.")
        values: dict[str, Any] = {
            "streams": tuple(_stream(entry) for entry in _listed(given["streams"])),
            "learners": tuple(find_learner(str(name)).name for name in _listed(given["learners"])),
        }
        for name, least in (("n", 1), ("rounds", 1)):
            if name in given:
                values[name] = tuple(
                    checks.integer("sweep", name, value, least) for value in _listed(given[name])
                )
        if "epsilon" in given:
            values["epsilon"] = tuple(
                checks.positive_number("sweep", "epsilon", value) for value in _listed(given["epsilon"])
            )
        for name in ("seeds", "checkpoints"):
            if name in given:
                values[name] = checks.integer("sweep", name, given[name], 1)
        if "title" in given:
            values["title"] = str(given["title"])
        made = cls(**values)
        # Once for each stream, which may have to read a file: refuses names and sizes before anything is run.
        cells = {(cell.environment, cell.parameters, cell.n): cell for cell in made.cells()}
        longest = (dataclasses.replace(cell, rounds=max(made.rounds)) for cell in cells.values())
        limits = [_environment(cell).most_rounds for cell in longest]
        most = min((limit for limit in limits if limit is not None), default=None)
        if most is None or max(made.rounds) <= most:
            return made
        if "rounds" in given:
            wanted = f"at most {most}, as many as there are data for"
            raise checks.invalid_argument("sweep", "rounds", wanted, max(made.rounds))
        return dataclasses.replace(made, rounds=(most,))

    @classmethod
    def from_file(cls, path: str | pathlib.Path) -> Sweep:
        """A sweep from a TOML file."""
        try:
            with open(path, "rb") as file:
                given = tomllib.load(file)
        except OSError as error:
            raise InvalidArgument(f"Cannot read {path}: {error.strerror or error}.") from None
        except tomllib.TOMLDecodeError as error:
            raise InvalidArgument(f"The file {path} is not TOML: {error}.") from None
        return cls.from_mapping(given)

    def cells(self) -> list[Cell]:
        """All cells, each once: a learner without epsilon is run once, not for every epsilon."""
        found: dict[Cell, None] = {}
        sizes = {name: self.n if has_size(name) else self.n[:1] for name, _ in self.streams}
        for (name, parameters), learner, rounds in itertools.product(
            self.streams, self.learners, self.rounds
        ):
            losses: Iterable[float | None] = self.epsilon if find_learner(learner).uses_epsilon else (None,)
            for n, epsilon, seed in itertools.product(sizes[name], losses, range(self.seeds)):
                cell = Cell(name, parameters, learner, n, epsilon, rounds, seed, self.checkpoints)
                found[cell] = None
        return list(found)


def run_cell(cell: Cell) -> polars.DataFrame:
    """Run one cell; an error becomes its one row, so that the others are not lost."""
    import polars

    fixed = {
        "cell": cell.key,
        "environment": cell.environment,
        "parameters": json.dumps(dict(cell.parameters), sort_keys=True),
        "learner": cell.learner,
        "n": cell.n,
        "epsilon": cell.epsilon,
        "rounds": cell.rounds,
        "seed": cell.seed,
    }
    try:
        measured: dict[str, Any] = _measure(cell)
    except Exception as error:
        text = str(error) if isinstance(error, DiscreetError) else f"{type(error).__name__}: {error}"
        names = ("round", "cost", "best", "best_lower_bound", "regret", "bound", "would_be_private")
        measured = dict.fromkeys(names) | {"error": text.splitlines()[0] if text else type(error).__name__}
        measured = {name: [value] for name, value in measured.items()}
    rows = len(measured["round"])
    columns = {name: [value] * rows for name, value in fixed.items()} | measured
    return polars.DataFrame({name: columns[name] for name in COLUMNS}, schema=schema())


def schema() -> dict[str, Any]:
    """The types of the columns."""
    import polars

    text, whole, number = polars.String, polars.Int64, polars.Float64
    kinds = dict.fromkeys(COLUMNS, number) | dict.fromkeys(
        ("cell", "environment", "parameters", "learner", "error"), text
    )
    return (
        kinds | dict.fromkeys(("n", "rounds", "seed", "round"), whole) | {"would_be_private": polars.Boolean}
    )


def _measure(cell: Cell) -> dict[str, Any]:
    environment = _environment(cell)
    epsilon = 1.0 if cell.epsilon is None else cell.epsilon
    setting = Setting(environment.items, epsilon, environment.cost_range, cell.rounds)
    template = template_of(find_learner(cell.learner), setting)
    learner = as_maker(template)(cell.seed)
    marks = log_grid(cell.rounds, cell.checkpoints)
    stream = environment.stream(cell.rounds, cell.seed)
    done = replica(stream, learner, marks)
    bounds = bounds_at(learner, marks)
    return {
        "n": [environment.n] * marks.size,
        "round": marks,
        "cost": done.cost,
        "best": done.best,
        "best_lower_bound": done.lower,
        "regret": done.cost - done.best,
        "bound": [None] * marks.size if bounds is None else bounds,
        "would_be_private": [promise_of(template, learner).private] * marks.size,
        "error": [None] * marks.size,
    }


def _environment(cell: Cell) -> Environment:
    return as_environment(
        cell.environment, items=range(cell.n), rounds=cell.rounds, parameters=dict(cell.parameters)
    )


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _stream(entry: Any) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """An environment by its name, or as a table with a name and parameters."""
    if isinstance(entry, str):
        return entry, ()
    if not isinstance(entry, Mapping) or "name" not in entry:
        raise checks.invalid_argument("sweep", "streams", "names, or tables with a 'name'", entry)
    return str(entry["name"]), tuple(sorted((key, value) for key, value in entry.items() if key != "name"))
