"""The wheel: what is in it, and that it works elsewhere with what it declares and nothing else."""

import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import venv
import zipfile

import polars
import pytest

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


def needed(requirements: list[str] | None, found: dict[str, importlib.metadata.Distribution]) -> None:
    """Add the installed distributions that these requirements, without extras, lead to."""
    for requirement in requirements or []:
        name, _, condition = requirement.partition(";")
        name = re.split(r"[^\w.-]", name.strip())[0].lower().replace("_", "-")
        if "extra ==" not in condition and name not in found:
            try:
                found[name] = importlib.metadata.distribution(name)
            except importlib.metadata.PackageNotFoundError:
                continue  # for another system or version of Python
            needed(found[name].requires, found)


def test_it_runs_with_what_it_declares(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """In an environment with the wheel and links to its dependencies, commands that need no compiler."""
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
    (installed,) = importlib.metadata.distributions(name="discreet", path=[str(packages)])
    found: dict[str, importlib.metadata.Distribution] = {}
    needed(installed.requires, found)
    assert {"numba", "llvmlite", "typer"} < found.keys()
    assert "fastapi" not in found
    for one in found.values():
        for top in {file.parts[0] for file in one.files or []} - {"..", "__pycache__"}:
            (packages / top).symlink_to(one.locate_file(top))
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
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    for words in (["list"], ["report", "sweep.parquet"]):
        subprocess.run([home / "bin" / "discreet", *words], cwd=tmp_path, env=clean, check=True, timeout=200)
    assert (tmp_path / "sweep.html").read_text().lower().startswith("<!doctype html>")
