"""What somebody meets who installed the package without its extras."""

import subprocess
import sys

import pytest

from discreet.errors import MissingExtra
from discreet.extras import require_extra

pytestmark = pytest.mark.process


def without(modules: str, statement: str) -> subprocess.CompletedProcess[str]:
    """Run a statement in a process where some modules cannot be imported."""
    code = f"import sys; sys.modules.update(dict.fromkeys({modules.split()!r})); {statement}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("command", "modules"),
    [("keys list", "fastapi"), ("store check", "sqlalchemy alembic"), ("serve", "fastapi")],
)
def test_commands_of_the_service_name_the_extra(command: str, modules: str) -> None:
    """In one line, whichever part is missing."""
    ended = without(modules, f"from discreet.cli import main; main({command.split()!r})")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "discreet: The service, its stores and its keys need the extra 'service': "
        "pip install 'discreet[service]'.\n"
    )


def test_their_help_needs_no_extra() -> None:
    """Somebody may want to read it before installing anything."""
    ended = without("sqlalchemy", "from discreet.cli import main; main(['store', 'check', '--help'])")
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(("name", "missing"), [("Client", "httpx"), ("AsyncClient", "anyio")])
def test_clients_name_the_extra(name: str, missing: str) -> None:
    """An ImportError, as for anything that is not installed."""
    ended = without(missing, f"import discreet; discreet.{name}('http://127.0.0.1:8710', 'discreet_k')")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "discreet.errors.MissingExtra: A client needs the extra 'client': pip install 'discreet[client]'."
    )


@pytest.mark.parametrize(
    ("missing", "statement", "who", "extra"),
    [
        ("sqlalchemy", "from discreet.storage import open_store; open_store('a.db')", "A store", "service"),
        (
            "distributed",
            "from discreet.simulation.sweep import _dask; _dask('a:1').__enter__()",
            "A Dask cluster",
            "cluster",
        ),
        (
            "ray",
            "from discreet.simulation.sweep import _ray; _ray('a:1').__enter__()",
            "A Ray cluster",
            "cluster",
        ),
    ],
    ids=["store", "dask", "ray"],
)
def test_others_name_the_extra(missing: str, statement: str, who: str, extra: str) -> None:
    """In the same words."""
    ended = without(missing, statement)
    assert ended.stderr.splitlines()[-1] == (
        f"discreet.errors.MissingExtra: {who} needs the extra {extra!r}: pip install 'discreet[{extra}]'."
    )


def test_what_is_there_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One module that is missing is enough."""
    require_extra("client", "A client needs", "httpx", "anyio")
    monkeypatch.setitem(sys.modules, "anyio", None)
    with pytest.raises(MissingExtra, match=r"^A client needs .*discreet\[client\]"):
        require_extra("client", "A client needs", "httpx", "anyio")
