"""Settings shared by all tests."""

import pathlib
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from postgres_server import Server, running

# No deadline: the first call of a kernel compiles it. Derandomised: a red run can be repeated as it was;
# `pytest --hypothesis-profile=search` looks for new examples.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("repeatable")

# What was started in the background of a script ignores Ctrl-C, and tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# These hold fixtures; as modules with doctests they would be taken for one another.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One PostgreSQL server for the whole run."""
    with running() as server:
        yield server


@pytest.fixture
def postgres(postgres_server: Server, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty PostgreSQL database. Witnesses are kept in the test's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return postgres_server.new_database()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest, whatever the order: otherwise all but one process may have to wait for it."""
    items.sort(key=lambda item: item.path.name != "test_wheel.py")
