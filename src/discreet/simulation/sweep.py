"""Sweeps: streams x learners x n x epsilon x rounds x seeds, cell by cell, into one file.

A cell is one of each. Its numbers depend on the cell alone, not on the machine that runs it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import threading
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from discreet import checks
from discreet.atomic_files import check_place, errors_name, write_atomically
from discreet.environments import Environment, as_environment
from discreet.environments.custom import has_size
from discreet.errors import DiscreetError, InvalidArgument
from discreet.frames import Library, make_frame
from discreet.imports import imported_from, require_extra
from discreet.simulation.builtin_learners import Setting, find_learner, template_of
from discreet.simulation.progress import progress_bar
from discreet.simulation.replicas import ROUNDS, simulate

with imported_from("report", "A sweep needs"):
    import joblib
    import polars

#: The columns of a sweep's file: a row per cell and checkpoint, or one with the error of a failed cell.
COLUMNS = polars.Schema(
    dict.fromkeys(("cell", "environment", "parameters", "learner"), polars.String)
    | {"n": polars.Int64, "epsilon": polars.Float64}
    | dict.fromkeys(("rounds", "seed", "round"), polars.Int64)
    | dict.fromkeys(("cost", "best", "best_lower_bound", "regret", "bound"), polars.Float64)
    | {"would_be_private": polars.Boolean, "error": polars.String}
)


@dataclasses.dataclass(frozen=True)
class Cell:
    """One learner in one environment with one seed, which is that of the stream and of the learner."""

    environment: str
    parameters: tuple[tuple[str, Any], ...]
    learner: str
    n: int
    epsilon: float | None  # of learners that use it
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
        n: Numbers of items. An environment of fixed size ignores them.
        rounds: Numbers of rounds; those of the shortest stream by default, if it is short.
        checkpoints: How many rounds regret is noted at.
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
        known = [field.name for field in dataclasses.fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise InvalidArgument(f"A sweep has no setting {unknown[0]!r}. It has: {', '.join(known)}.")
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
    return polars.DataFrame({name: columns.get(name) for name in COLUMNS}, schema=COLUMNS)


def compare(
    sweep: Sweep,
    path: str | pathlib.Path,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    progress: bool = False,
) -> polars.DataFrame:
    """Run all cells of a sweep that the file does not hold yet, and return the file's contents.

    Finished cells are kept in the folder `<path>.parts`, and joined to one file at the end and on Ctrl-C.
    Called again it continues, and tries failed cells again.

    Args:
        sweep: What to run.
        path: The Parquet file; where it cannot be written, an OSError is raised before anything is run.
        workers: Processes on this machine; one per core by default.
        cluster: The address of a cluster instead: "dask://host:port" or "ray://host:port" ("ray://auto" for
            a Ray that runs on this machine).
        progress: Whether to show a bar.

    Examples:
        >>> import tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "sweep.parquet")
        >>> sweep = Sweep.from_mapping({"streams": ["modular"], "learners": ["random"], "n": 3, "rounds": 64})
        >>> compare(sweep, path, workers=1)["round"].max()
        64
    """
    target = pathlib.Path(path)
    parts = target.with_name(target.name + ".parts")
    _join(target, parts)  # what an interrupted run has left
    held: polars.DataFrame = read(target) if target.exists() else polars.DataFrame(schema=COLUMNS)
    finished = set(held.filter(polars.col("error").is_null())["cell"])
    cells = [cell for cell in sweep.cells() if cell.key not in finished]
    if not cells:
        return held
    check_place(target)
    with errors_name(target):
        parts.mkdir(exist_ok=True)
    shown = progress_bar("cells", len(cells), shown=progress, unit="cells")
    with shown as bar, _backend(cluster, workers) as run:
        try:
            for frame in run(cells):
                write_parquet(parts / f"{frame['cell'][0]}.parquet", frame)
                bar.advance(1)
        finally:
            _join(target, parts)
    whole: polars.DataFrame = read(target)
    return whole


def read(path: str | pathlib.Path, library: Library = "polars") -> Any:
    """The contents of a sweep's file, as a frame of polars or pandas; nothing else is needed to plot it."""
    try:
        frame = polars.read_parquet(path)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise InvalidArgument(f"Cannot read {path} as a sweep: {str(error).splitlines()[0]}.") from None
    if frame.schema != COLUMNS:
        raise InvalidArgument(f"The file {path} is a Parquet file, but not that of a sweep.")
    return frame if library == "polars" else make_frame(frame.to_dict(as_series=False), library)


def write_parquet(path: str | os.PathLike[str], frame: polars.DataFrame) -> None:
    """Write a frame to a file, whole or not at all."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_atomically(path, buffer.getvalue())


def failures(frame: polars.DataFrame) -> list[str]:
    """One line for each cell that failed."""
    line = "{learner} in {environment}, n={n}, epsilon={epsilon}, T={rounds}, seed {seed}: {error}"
    failed = frame.filter(polars.col("error").is_not_null())
    return [line.format(**row) for row in failed.iter_rows(named=True)]


def _join(target: pathlib.Path, parts: pathlib.Path) -> None:
    """Put finished parts into the file, sorted, so that it does not matter who finished first."""
    files = sorted(parts.glob("*.parquet")) if parts.exists() else []
    if files:
        new = polars.concat([polars.read_parquet(file) for file in files])
        if target.exists():
            old = read(target).filter(~polars.col("cell").is_in(new["cell"].unique().to_list()))
            new = polars.concat([old, new])
        order = ["environment", "parameters", "learner", "n", "epsilon", "rounds", "seed", "round"]
        write_parquet(target, new.sort(order, nulls_last=False))
    if parts.exists():
        shutil.rmtree(parts)


@contextlib.contextmanager
def _backend(cluster: str | None, workers: int | None) -> Iterator[Callable[[list[Cell]], Iterator[Any]]]:
    """A function that runs cells and yields their frames as they finish."""
    if cluster is None:
        count = -1 if workers is None else checks.integer("compare", "workers", workers, 1)
        with joblib.parallel_config(backend="loky", n_jobs=count):
            yield _run
    elif found := re.fullmatch(r"(dask|ray)://(.+)", cluster):
        with _dask(found[2]) if found[1] == "dask" else _ray(found[2]):
            yield _run if found[1] == "dask" else _run_in_batches
    else:
        wanted = "'dask://HOST:PORT' or 'ray://HOST:PORT'"
        raise checks.invalid_argument("compare", "cluster", wanted, cluster)


def run_cell_in(folder: str, cell: Cell) -> Any:
    """Run a cell in a worker, which may have been started elsewhere: custom modules may lie in `folder`."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return run_cell(cell)


def _tasks(cells: list[Cell]) -> list[Any]:
    return [joblib.delayed(run_cell_in)(os.getcwd(), cell) for cell in cells]


def _run(cells: list[Cell]) -> Iterator[Any]:
    with _deaf():
        frames = joblib.Parallel(return_as="generator_unordered", batch_size=1)(_tasks(cells))
    try:
        for frame in frames:  # noqa: UP028 # "yield from" would end them, with a warning
            yield frame
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*tasks", UserWarning)  # that some were not finished is known
            frames.close()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started meanwhile leave Ctrl-C to this one, which ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run_in_batches(cells: list[Cell]) -> Iterator[Any]:
    """For Ray, whose joblib backend gives results only when all are there."""
    size = 4 * max(1, joblib.effective_n_jobs(-1))
    for first in range(0, len(cells), size):
        yield from joblib.Parallel(n_jobs=-1, batch_size=1)(_tasks(cells[first : first + size]))


@contextlib.contextmanager
def _dask(address: str) -> Iterator[None]:
    require_extra("cluster", "A Dask cluster needs")
    from dask.distributed import Client

    try:
        client = Client(f"tcp://{address}", timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError) as error:
        raise InvalidArgument(f"No Dask scheduler answers at {address}: {type(error).__name__}.") from None
    with client, joblib.parallel_config(backend="dask"):
        yield


@contextlib.contextmanager
def _ray(address: str) -> Iterator[None]:
    require_extra("ray", "A Ray cluster needs")
    import ray
    from ray.util.joblib import register_ray

    try:
        ray.init(address="auto" if address == "auto" else f"ray://{address}", log_to_driver=False)
    except ConnectionError as error:
        raise InvalidArgument(f"No Ray cluster answers at {address}: {type(error).__name__}.") from None
    try:
        register_ray()
        with joblib.parallel_config(backend="ray"):
            yield
    finally:
        ray.shutdown()
