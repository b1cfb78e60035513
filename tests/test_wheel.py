"""The wheel: what is in it, and that it works outside the repository, in an empty environment."""

import os
import pathlib
import subprocess
import sys
import venv
import zipfile

import pytest

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


@pytest.mark.timeout(600)
def test_it_runs_in_an_empty_environment(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Installed with its dependencies and nothing else, `discreet demo --quick` writes its report."""
    home = tmp_path / "env"
    venv.create(home, with_pip=True)
    program = home / "bin"
    # Modules are compiled when they are imported: most of them never are.
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([program / "pip", "install", *options, str(wheel)], check=True, timeout=400)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    elsewhere = tmp_path / "work"
    elsewhere.mkdir()
    done = subprocess.run(
        [program / "discreet", "demo", "--quick", "--quiet"],
        cwd=elsewhere,
        env=clean,
        check=True,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert "discreet-demo.html" in done.stdout
    assert (elsewhere / "discreet-demo.html").read_text().lower().startswith("<!doctype html>")
