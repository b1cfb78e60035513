"""The wheels: what is in them, and that they work elsewhere with what they declare and nothing else."""

import email
import pathlib
import re
import zipfile

import polars
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from discreet.simulation.sweep import COLUMNS
from fresh_environment import FreshEnvironment, built

ROOT = pathlib.Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    out = tmp_path_factory.mktemp("dist")
    made = built(ROOT, out)
    assert len(list(out.glob("discreet-*.tar.gz"))) == 1
    return made


@pytest.fixture(scope="module")
def client_wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return built(ROOT / "clients" / "python", tmp_path_factory.mktemp("dist"), "--wheel")


def test_what_is_in_it(wheel: pathlib.Path) -> None:
    """All modules, the mark of typed packages, pages of the service; no tests, no caches."""
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


def test_the_wheels_share_no_file(wheel: pathlib.Path, client_wheel: pathlib.Path) -> None:
    """So that removing one leaves the other whole."""
    library, clients = (set(zipfile.ZipFile(each).namelist()) for each in (wheel, client_wheel))
    assert not library & clients
    assert {name.split("/")[0].partition("-")[0] for name in library | clients} == {
        "discreet",
        "discreet_client",
    }


def required(wheel: pathlib.Path) -> set[str]:
    """The distributions that a wheel may need, with any extra."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = [name for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
        lines = email.message_from_bytes(packed.read(name)).get_all("Requires-Dist") or []
    return {canonicalize_name(Requirement(line).name) for line in lines}


def test_all_that_is_required_is_on_the_index(wheel: pathlib.Path, client_wheel: pathlib.Path) -> None:
    """Neither names the other or itself: `constraints.txt` has what was installed from there, all but Ray."""
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), flags=re.MULTILINE)
    assert required(client_wheel) == {"httpx2"}
    assert required(wheel) - set(map(canonicalize_name, pinned)) == {"ray"}


LIBRARY = """
import discreet
discreet.Client("http://127.0.0.1:8710", "discreet_key")
print(discreet.minimize(discreet.set_functions.Modular([1, -2])).value)
"""
CLIENTS = """
from discreet_client import Client, Pinned
pinned = Pinned(epsilon=1.0, cost_range=(0, 1))
Client("http://127.0.0.1:8710", "discreet_key", randomize=pinned)
print(pinned.randomizer().release(0.5) in (0, 1))
"""


def test_either_can_be_removed(
    wheel: pathlib.Path, client_wheel: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Both are installed, in either order; the other works on."""
    environment = FreshEnvironment(wheel, tmp_path)
    environment.linked("client")

    def working() -> list[str]:
        return [environment.run("python", "-c", code).stdout for code in (LIBRARY, CLIENTS)]

    environment.install(client_wheel)
    assert working() == ["-2.0\n", "True\n"]
    environment.remove("discreet-client")
    assert working() == ["-2.0\n", ""]
    environment.install(client_wheel)
    environment.remove("discreet")
    assert working() == ["", "True\n"]
    environment.install(wheel)
    assert working() == ["-2.0\n", "True\n"]
