"""Sweeps: every cell once, the same numbers on any backend, one file that can be gone on with."""

import pathlib
import signal
import subprocess
from collections.abc import Iterator

import polars
import pytest
from joblib.externals.loky import get_reusable_executor

from discreet import DiscreetError
from discreet.simulation import sweep as module
from discreet.simulation.sweep import COLUMNS, Cell, Sweep, compare, failures, read, run_cell, write_parquet

SMALL = {
    "streams": ["modular", {"name": "modular", "gap": 0.3}],
    "learners": ["bandit", "random"],
    "n": [3, 4],
    "epsilon": [0.5, 1.0],
    "rounds": 256,
    "seeds": 2,
    "checkpoints": 5,
}


@pytest.fixture(scope="module")
def expected() -> polars.DataFrame:
    """The small sweep, run in this process, cell by cell."""
    frames = [run_cell(cell) for cell in Sweep.from_mapping(SMALL).cells()]
    order = ["environment", "parameters", "learner", "n", "epsilon", "rounds", "seed", "round"]
    return polars.concat(frames).sort(order, nulls_last=False)


def test_cells_are_all_combinations_once() -> None:
    """A learner without epsilon is run once, not for every epsilon; keys tell all cells apart."""
    cells = Sweep.from_mapping(SMALL).cells()
    assert len(cells) == 2 * 2 * (2 + 1) * 2
    assert len({cell.key for cell in cells}) == len(cells)
    assert {cell.epsilon for cell in cells if cell.learner == "random"} == {None}
    assert cells[0].key == Sweep.from_mapping(SMALL).cells()[0].key


@pytest.mark.process
def test_a_file_is_written_gone_on_with_and_never_run_twice(
    tmp_path: pathlib.Path, expected: polars.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an interruption the finished cells are in the file, and only the others are run."""
    sweep, path = Sweep.from_mapping(SMALL), tmp_path / "sweep.parquet"
    ran: list[str] = []

    def some(cells: list[Cell]) -> Iterator[polars.DataFrame]:
        for k, cell in enumerate(cells):
            if k == 7 and len(ran) == 7:
                raise KeyboardInterrupt
            ran.append(cell.key)
            yield run_cell(cell)

    monkeypatch.setattr(module, "_run", some)
    with pytest.raises(KeyboardInterrupt):
        compare(sweep, path)
    assert read(path)["cell"].n_unique() == 7
    assert list(tmp_path.iterdir()) == [path]
    frame = compare(sweep, path)
    assert len(ran) == len(set(ran)) == len(sweep.cells())
    assert frame.equals(expected)
    assert compare(sweep, path).equals(expected)
    assert len(ran) == len(sweep.cells())
    assert frame.columns == list(COLUMNS)


@pytest.mark.process
def test_parts_of_a_killed_run_are_not_lost(tmp_path: pathlib.Path, expected: polars.DataFrame) -> None:
    """What a run that was killed left in the folder beside the file is taken up."""
    sweep, path = Sweep.from_mapping(SMALL), tmp_path / "sweep.parquet"
    parts = tmp_path / "sweep.parquet.parts"
    parts.mkdir()
    cell = sweep.cells()[0]
    marked = run_cell(cell).with_columns(cost=polars.lit(-7.0))
    write_parquet(parts / f"{cell.key}.parquet", marked)
    frame = compare(sweep, path, workers=2)
    kept = frame.filter(polars.col("cell") == cell.key)
    assert kept["cost"].unique().to_list() == [-7.0]
    others = polars.col("cell") != cell.key
    assert frame.filter(others).equals(expected.filter(others))
    assert not parts.exists()


@pytest.mark.process
def test_failed_cells_are_reported_and_tried_again(tmp_path: pathlib.Path) -> None:
    """The others are there; a failed one has a row with its error and no numbers."""
    learners = {"learners": ["random", "exponential-weights"], "n": 13, "seeds": 1}
    sweep = Sweep.from_mapping(SMALL | learners)
    frame = compare(sweep, tmp_path / "sweep.parquet", workers=1)
    failed = failures(frame)
    assert len(failed) == 4
    assert all("exponential-weights" in line and "from 1 to 12" in line for line in failed)
    assert frame.filter(polars.col("learner") == "random")["cost"].null_count() == 0
    assert frame.filter(polars.col("learner") != "random")["cost"].null_count() == 4
    again = compare(sweep, tmp_path / "sweep.parquet", workers=1)
    assert again.equals(frame)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"streams": []}, "at least one of 'streams'"),
        ({"learners": ["nobody"]}, "no learner called 'nobody'"),
        ({"streams": ["modlar"]}, "Did you mean 'modular'"),
        ({"streams": [{"gap": 1}]}, "'streams'"),
        ({"streams": [{"name": "modular", "gup": 1}]}, "no parameter 'gup'"),
        ({"n": [0]}, "'n'"),
        ({"streams": ["priced-cuts"], "n": [3, 99], "learners": ["bandit"]}, "from 1 to 20"),
        ({"epsilon": -1}, "'epsilon'"),
        ({"rounds": "many"}, "'rounds'"),
        ({"sede": 1}, "no setting 'sede'"),
    ],
)
def test_bad_sweeps_are_refused_before_anything_is_run(change, message: str, tmp_path: pathlib.Path) -> None:
    """In one line that names the setting."""
    with pytest.raises(DiscreetError, match=message):
        compare(Sweep.from_mapping(SMALL | change), tmp_path / "sweep.parquet")
    assert list(tmp_path.iterdir()) == []


def test_sweep_files(tmp_path: pathlib.Path) -> None:
    """TOML; what is no TOML, or not there, or no sweep, is said in one line."""
    path = tmp_path / "sweep.toml"
    path.write_text('streams = ["modular"]\nlearners = ["bandit"]\nseeds = 3\ntitle = "Mine"\n')
    sweep = Sweep.from_file(path)
    assert (sweep.seeds, sweep.title, len(sweep.cells())) == (3, "Mine", 3)
    path.write_text("streams = [")
    with pytest.raises(DiscreetError, match="not TOML"):
        Sweep.from_file(path)
    with pytest.raises(DiscreetError, match="Cannot read"):
        Sweep.from_file(tmp_path / "none.toml")
    with pytest.raises(DiscreetError, match="Cannot read"):
        read(path)
    polars.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(DiscreetError, match="not that of a sweep"):
        read(tmp_path / "other.parquet")


def test_unreachable_and_unknown_clusters_are_refused(tmp_path: pathlib.Path) -> None:
    """Without a traceback of the cluster's own."""
    sweep = Sweep.from_mapping(SMALL)
    with pytest.raises(DiscreetError, match="'cluster'"):
        compare(sweep, tmp_path / "sweep.parquet", cluster="slurm://x")


@pytest.mark.filterwarnings("ignore")  # Dask's own
@pytest.mark.process
def test_a_cluster_that_loses_a_worker_gives_the_same_numbers(
    tmp_path: pathlib.Path,
    expected: polars.DataFrame,
    dask_cluster: tuple[str, list[subprocess.Popen[bytes]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A real Dask scheduler with two workers, one of which is killed after the first cells."""
    from dask.distributed import Client

    address, workers = dask_cluster
    with Client(f"tcp://{address}", timeout="60s") as client:
        client.wait_for_workers(2, timeout=60)
    seen = set()

    def write(path: pathlib.Path, frame: polars.DataFrame) -> None:
        write_parquet(path, frame)
        seen.add(path)
        if len(seen) == 3:
            workers[0].kill()

    monkeypatch.setattr(module, "write_parquet", write)
    frame = compare(Sweep.from_mapping(SMALL), tmp_path / "sweep.parquet", cluster=f"dask://{address}")
    assert workers[0].poll() is not None
    assert len(seen) == len(Sweep.from_mapping(SMALL).cells()) + 1  # and the whole
    assert frame.equals(expected)


@pytest.mark.process
def test_workers_leave_ctrl_c_to_the_process_that_started_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """From their first moment, so that they print no tracebacks; here it works as before."""
    get_reusable_executor().shutdown(wait=True)
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(module, "run_cell_in", lambda _, number: signal.getsignal(number))
    with module._backend(None, 2) as run:
        heard = list(run([signal.SIGINT] * 4))  # type: ignore[list-item] # what is asked for in place of cells
    assert heard == [signal.SIG_IGN] * 4
    assert signal.getsignal(signal.SIGINT) is before


def test_a_sweep_of_a_file_is_no_longer_than_the_file(tmp_path: pathlib.Path) -> None:
    """By default; what was asked for and is too much is refused before anything is run."""
    file = tmp_path / "day.csv"
    file.write_text("tea,milk\ntea\nmilk,jam\n" * 20)
    given = {"streams": [{"name": "baskets", "path": str(file)}, "modular"], "learners": ["random"], "n": 3}
    assert Sweep.from_mapping(given).rounds == (60,)
    assert Sweep.from_mapping(given | {"rounds": [60, 30]}).rounds == (60, 30)
    with pytest.raises(DiscreetError, match=r"'rounds' of sweep must be at most 60, .*Got 61"):
        Sweep.from_mapping(given | {"rounds": [30, 61]})
    assert Sweep.from_mapping(given | {"streams": ["modular"]}).rounds == (65536,)
