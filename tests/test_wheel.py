"""The wheel: what is in it, and that it works elsewhere with what it declares and nothing else."""

import pathlib
import zipfile

import polars
import pytest

from discreet.simulation.sweep import COLUMNS
from fresh_environment import FreshEnvironment, built

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    out = tmp_path_factory.mktemp("dist")
    made = built(ROOT, out)
    assert len(list(out.glob("discreet-*.tar.gz"))) == 1
    return made


def test_what_is_in_it(wheel: pathlib.Path) -> None:
    """All modules, the mark of typed packages, pages and migrations of the service; no tests, no caches."""
    names = zipfile.ZipFile(wheel).namelist()
    assert "discreet/py.typed" in names
    assert not [name for name in names if "__pycache__" in name or name.startswith(("tests", "benchmarks"))]
    here = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "discreet").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert here <= set(names)


def test_it_runs_with_what_it_declares(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """In an environment with the wheel and links to its dependencies: the library, then commands."""
    environment = FreshEnvironment(wheel, tmp_path)
    run, core = environment.run, environment.linked()
    assert core >= {"numba", "llvmlite", "scipy"}
    assert not core & {"typer", "rich", "matplotlib", "polars", "joblib", "fastapi", "httpx2"}
    f = "discreet.set_functions.Modular([1, -2])"
    assert run("python", "-c", f"import discreet; print(discreet.minimize({f}).value)").stdout == "-2.0\n"
    refused = run("discreet", "list")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "discreet: The command line needs the extra 'cli': pip install 'discreet[cli]'.\n"
    )
    assert not environment.linked("cli", "report") & {"fastapi", "httpx2", "dask"}
    row = {"environment": "town", "learner": "random", "n": 3, "epsilon": None, "rounds": 64, "seed": 0}
    row |= {
        "round": 64,
        "cost": 9.0,
        "best": 1.0,
        "regret": 8.0,
        "would_be_private": True,
        "parameters": "{}",
    }
    polars.DataFrame([row | {"parameters": "{}"}], schema=COLUMNS).write_parquet(tmp_path / "sweep.parquet")
    for words in (["list"], ["report", "sweep.parquet"]):
        assert run("discreet", *words).returncode == 0
    assert (tmp_path / "sweep.html").read_text().lower().startswith("<!doctype html>")
