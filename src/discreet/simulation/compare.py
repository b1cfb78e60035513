"""Run a sweep cell by cell, on this machine or on a cluster, into one file. It can be interrupted."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import joblib

from discreet import checks
from discreet.atomic_files import check_place, errors_name, write_atomically
from discreet.errors import InvalidArgument
from discreet.imports import require_extra
from discreet.simulation.progress import progress_bar
from discreet.simulation.sweep import Cell, Sweep, run_cell, schema

if TYPE_CHECKING:
    import polars


def compare(
    sweep: Sweep,
    path: str | pathlib.Path,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    progress: bool = False,
) -> polars.DataFrame:
    """Run all cells of a sweep that the file does not hold yet, and return the file's contents.

    Each cell is written down as soon as it is done, in the folder `<path>.parts`; at the end, and on Ctrl-C,
    the parts are joined to one Parquet file. Called again it continues: finished cells are not run twice,
    failed ones are tried again.

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
    import polars

    target = pathlib.Path(path)
    parts = target.with_name(target.name + ".parts")
    _join(target, parts)  # what an interrupted run has left
    held = read(target) if target.exists() else polars.DataFrame(schema=schema())
    finished = set(held.filter(polars.col("error").is_null())["cell"].to_list())
    cells = [cell for cell in sweep.cells() if cell.key not in finished]
    if not cells:
        return held
    check_place(target)
    with errors_name(target):
        parts.mkdir(exist_ok=True)
    with (
        progress_bar("cells", len(cells), shown=progress, unit="cells") as bar,
        _backend(cluster, workers) as run,
    ):
        try:
            for frame in run(cells):
                _put_part(parts, frame)
                bar.advance(1)
        finally:
            _join(target, parts)
    return read(target)


def read(path: str | pathlib.Path) -> polars.DataFrame:
    """The contents of a sweep's file; nothing else is needed to plot it."""
    import polars

    try:
        frame = polars.read_parquet(path)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise InvalidArgument(f"Cannot read {path} as a sweep: {str(error).splitlines()[0]}.") from None
    if frame.schema != polars.Schema(schema()):
        raise InvalidArgument(f"The file {path} is a Parquet file, but not that of a sweep.")
    return frame


def write_parquet(path: str | os.PathLike[str], frame: polars.DataFrame) -> None:
    """Write a frame to a file, whole or not at all."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_atomically(path, buffer.getvalue())


def failures(frame: polars.DataFrame) -> list[str]:
    """One line for each cell that failed."""
    import polars

    line = "{learner} in {environment}, n={n}, epsilon={epsilon}, T={rounds}, seed {seed}: {error}"
    failed = frame.filter(polars.col("error").is_not_null())
    return [line.format(**row) for row in failed.iter_rows(named=True)]


def _put_part(parts: pathlib.Path, frame: polars.DataFrame) -> None:
    write_parquet(parts / f"{frame['cell'][0]}.parquet", frame)


def _join(target: pathlib.Path, parts: pathlib.Path) -> None:
    """Put finished parts into the file, sorted, so that it does not matter who finished first."""
    import polars

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
    count = -1 if workers is None else checks.integer("compare", "workers", workers, 1)
    found = re.fullmatch(r"(dask|ray)://(.+)", cluster or "")
    if cluster is not None and found is None:
        wanted = "'dask://HOST:PORT' or 'ray://HOST:PORT'"
        raise checks.invalid_argument("compare", "cluster", wanted, cluster)
    if found is None:
        with joblib.parallel_config(backend="loky", n_jobs=count):
            yield _run
    elif found[1] == "dask":
        with _dask(found[2]):
            yield _run
    else:
        with _ray(found[2]):
            yield _run_in_batches


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
    require_extra("cluster", "A Dask cluster needs", "dask", "distributed")
    from dask.distributed import Client

    try:
        client = Client(f"tcp://{address}", timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError) as error:
        raise InvalidArgument(f"No Dask scheduler answers at {address}: {type(error).__name__}.") from None
    with client, joblib.parallel_config(backend="dask"):
        yield


@contextlib.contextmanager
def _ray(address: str) -> Iterator[None]:
    require_extra("cluster", "A Ray cluster needs", "ray")
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
