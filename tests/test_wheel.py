"""The wheel: what is in it, and that it works elsewhere with what it declares and nothing else."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import venv
import zipfile

import polars
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from discreet.simulation.sweep import COLUMNS

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Built as `make dist` does, without a second environment for the build."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert len(list(out.glob("discreet-*.tar.gz"))) == 1
    (built,) = out.glob("discreet-*.whl")
    return built


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


def linked(packages: pathlib.Path, extras: set[str]) -> set[str]:
    """Put links to what the installed wheel needs with these extras into its environment; their names."""
    (installed,) = importlib.metadata.distributions(name="discreet", path=[str(packages)])
    found: dict[str, importlib.metadata.Distribution] = {}
    left = [(installed, extras)]
    while left:
        one, wanted = left.pop()
        for requirement in map(Requirement, one.requires or []):
            name = canonicalize_name(requirement.name)
            needed = (
                [requirement.marker.evaluate({"extra": e}) for e in wanted or {""}]
                if requirement.marker
                else [True]
            )
            if any(needed) and name != "discreet" and name not in found:
                found[name] = importlib.metadata.distribution(name)
                left.append((found[name], requirement.extras))
    for one in found.values():
        for top in {file.parts[0] for file in one.files or []} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(one.locate_file(top))
    return set(found)


def test_it_runs_with_what_it_declares(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """In an environment with the wheel and links to its dependencies: the library, then commands."""
    home = tmp_path / "env"
    venv.create(home, with_pip=False)
    (packages,) = home.glob("lib/python*/site-packages")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(home),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
    ]
    subprocess.run([*pip, "--no-compile", str(wheel)], check=True, timeout=100)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [home / "bin" / words[0], *words[1:]]
        return subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)

    core = linked(packages, set())
    assert core >= {"numba", "llvmlite", "scipy"}
    assert not core & {"typer", "rich", "matplotlib", "polars", "joblib", "fastapi", "httpx2"}
    f = "discreet.set_functions.Modular([1, -2])"
    assert run("python", "-c", f"import discreet; print(discreet.minimize({f}).value)").stdout == "-2.0\n"
    refused = run("discreet", "list")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "discreet: The command line needs the extra 'cli': pip install 'discreet[cli]'.\n"
    )
    assert not linked(packages, {"cli", "report"}) & {"fastapi", "httpx2", "dask"}
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
