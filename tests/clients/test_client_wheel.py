"""The distribution `discreet-client`: a few MB that ask and tell, with bits made here."""

import pathlib
import zipfile

import pytest

import discreet
from code_blocks import ROOT
from discreet import Client
from fresh_environment import FreshEnvironment, built
from running_service import RunningService

#: Bytes of the wheel and all that it needs, as installed.
MOST = 10_000_000

PROGRAM = """
import sys
from discreet_client import Client, Pinned
url, key = sys.argv[1:]
pinned = Pinned(epsilon=1.0, cost_range=(0, 1), rounds_per_person=2)
with Client(url, key, randomize=pinned) as client:
    client.tell_many("wheel", [(client.ask("wheel"), 0.3) for _ in range(5)])
    client.guarantee("wheel"), client.history("wheel"), client.populations(), client.keys()
print(*(name for name in sys.modules if name.startswith("discreet")))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return built(ROOT / "clients" / "python", tmp_path_factory.mktemp("dist"), "--wheel")


@pytest.fixture(scope="module")
def environment(wheel: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> FreshEnvironment:
    return FreshEnvironment(wheel, tmp_path_factory.mktemp("fresh"))


def test_it_asks_and_tells_bits(
    wheel: pathlib.Path, environment: FreshEnvironment, service: RunningService
) -> None:
    """To a real service, with what it declares and nothing else; it has the modules that are used, only."""
    assert not environment.linked() & {"numpy", "numba", "scipy", "cryptography"}
    with Client(service.url, service.key) as admin:
        settings = {"epsilon": 1.0, "cost_range": (0, 1), "rounds_per_person": 2, "mode": "local"}
        admin.create_learner("wheel", "bandit", ["tea", "milk"], **settings)
        ended = environment.run("python", "-c", PROGRAM, service.url, service.key)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert admin.learner("wheel").counts.told == 5
    packed = {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in zipfile.ZipFile(wheel).namelist()
        if name.endswith(".py")
    }
    assert packed == set(ended.stdout.split())


def test_it_is_small(wheel: pathlib.Path, environment: FreshEnvironment) -> None:
    """With all that it needs; it has the version of the library."""
    environment.linked()
    everything = [file for top in environment.packages.iterdir() for file in [top, *top.resolve().rglob("*")]]
    assert 1_000_000 < sum(file.stat().st_size for file in everything if file.is_file()) < MOST
    assert wheel.name.split("-")[1] == discreet.__version__


def test_it_has_the_names_of_the_library(environment: FreshEnvironment) -> None:
    """All of `discreet.client`, and the errors."""
    environment.linked()
    code = "import discreet_client; print(*discreet_client.__all__); discreet_client.errors.Expired"
    ended = environment.run("python", "-c", code)
    assert set(ended.stdout.split()) == {*discreet.client.__all__, "errors"}


def test_it_says_what_is_not_there(environment: FreshEnvironment) -> None:
    """And how to get it."""
    environment.linked()
    code = "from discreet_client import Pinned; Pinned(1.0, (0, 1), 2, delta=1e-6)"
    ended = environment.run("python", "-c", code)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "discreet_client.errors.MissingExtra: Pinned with a 'delta' needs the whole library: "
        "pip install 'discreet[client]', and import it from discreet.client."
    )
