"""What a sweep consists of: streams x learners x n x epsilon x rounds x seeds, cell by cell.

A cell is one of each. It is run by `run_cell`, which depends on the cell alone: whichever machine runs it,
the numbers are the same.
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
from discreet.simulation.replicas import simulate

if TYPE_CHECKING:
    import polars

#: Where nothing else is said, and the data are enough for it.
ROUNDS = 65536
#: The columns of a sweep's file and their types in polars, one row per cell and checkpoint; a cell that
#: failed has one row with its error.
COLUMNS = {
    "cell": "String",
    "environment": "String",
    "parameters": "String",
    "learner": "String",
    "n": "Int64",
    "epsilon": "Float64",
    "rounds": "Int64",
    "seed": "Int64",
    "round": "Int64",
    "cost": "Float64",
    "best": "Float64",
    "best_lower_bound": "Float64",
    "regret": "Float64",
    "bound": "Float64",
    "would_be_private": "Boolean",
    "error": "String",
}


@dataclasses.dataclass(frozen=True)
class Cell:
    """One learner in one environment with one seed, which is that of the stream and of the learner.

    An environment of fixed size ignores `n`; `epsilon` is None for learners that have none.
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
        """A sweep from plain values, as a TOML file holds them.

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
        made = cls(**{name: _checked(name, value) for name, value in given.items()})
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
        cells = []
        for (name, parameters), learner in itertools.product(self.streams, self.learners):
            sizes = self.n if has_size(name) else self.n[:1]
            losses: Iterable[float | None] = self.epsilon if find_learner(learner).uses_epsilon else (None,)
            for rest in itertools.product(sizes, losses, self.rounds, range(self.seeds)):
                cells.append(Cell(name, parameters, learner, *rest, self.checkpoints))
        return list(dict.fromkeys(cells))


def _checked(name: str, value: Any) -> Any:
    """A setting of a sweep as the class holds it."""
    if name == "title":
        return str(value)
    if name in ("seeds", "checkpoints"):
        return checks.integer("sweep", name, value, 1)
    listed = value if isinstance(value, list | tuple) else [value]
    if name == "streams":
        return tuple(map(_stream, listed))
    if name == "learners":
        return tuple(find_learner(str(entry)).name for entry in listed)
    if name == "epsilon":
        return tuple(checks.positive_number("sweep", name, entry) for entry in listed)
    return tuple(checks.integer("sweep", name, entry, 1) for entry in listed)


def _stream(entry: Any) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """An environment by its name, or as a table with a name and parameters."""
    if isinstance(entry, str):
        return entry, ()
    if not isinstance(entry, Mapping) or "name" not in entry:
        raise checks.invalid_argument("sweep", "streams", "names, or tables with a 'name'", entry)
    return str(entry["name"]), tuple(sorted((key, value) for key, value in entry.items() if key != "name"))


def _environment(cell: Cell) -> Environment:
    return as_environment(
        cell.environment, items=range(cell.n), rounds=cell.rounds, parameters=dict(cell.parameters)
    )


def run_cell(cell: Cell) -> polars.DataFrame:
    """Run one cell; an error becomes its one row, so that the others are not lost."""
    import polars

    parameters = json.dumps(dict(cell.parameters), sort_keys=True)
    columns = dataclasses.asdict(cell) | {"cell": cell.key, "parameters": parameters}
    try:
        environment = _environment(cell)
        epsilon = 1.0 if cell.epsilon is None else cell.epsilon
        setting = Setting(environment.items, epsilon, environment.cost_range, cell.rounds)
        learner = template_of(find_learner(cell.learner), setting)
        trace = simulate(environment, learner, cell.rounds, [cell.seed], checkpoints=cell.checkpoints)
        columns |= {name: getattr(trace, name)[0] for name in ("cost", "best", "best_lower_bound", "regret")}
        columns |= {"n": environment.n, "round": trace.checkpoints, "bound": trace.bound}
        columns["would_be_private"] = trace.guarantee.private
    except Exception as error:
        text = str(error) if isinstance(error, DiscreetError) else f"{type(error).__name__}: {error}"
        columns["error"] = (text.splitlines() or [type(error).__name__])[0]
    return polars.DataFrame({name: columns.get(name) for name in COLUMNS}, schema=schema())


def schema() -> dict[str, Any]:
    """The columns with the types of polars."""
    import polars

    return {name: getattr(polars, kind) for name, kind in COLUMNS.items()}
