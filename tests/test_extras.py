"""What somebody meets who installed the package without its extras."""

import subprocess
import sys

import pytest

import discreet.cli
from discreet.errors import MissingExtra
from discreet.imports import require_extra
from discreet.simulation import sweep
from discreet.storage import open_store


def without(patch: pytest.MonkeyPatch, *modules: str) -> None:
    """Some modules cannot be imported any more."""
    for module in modules:
        patch.setitem(sys.modules, module, None)


@pytest.mark.parametrize(
    ("command", "modules"),
    [("keys list", ["fastapi"]), ("store check", ["sqlalchemy", "alembic"]), ("serve", ["fastapi"])],
)
def test_commands_of_the_service_name_the_extra(
    command: str,
    modules: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one line, whichever part is missing. Their help needs no extra."""
    for name in [name for name in sys.modules if name.startswith(("discreet.service", "discreet.storage"))]:
        monkeypatch.delitem(sys.modules, name)
    without(monkeypatch, *modules)
    with pytest.raises(SystemExit) as ended:
        discreet.cli.main(command.split())
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert shown.err == (
        "discreet: The service, its stores and its keys need the extra 'service': "
        "pip install 'discreet[service]'.\n"
    )
    with pytest.raises(SystemExit) as ended:
        discreet.cli.main([*command.split(), "--help"])
    assert ended.value.code == 0


@pytest.mark.process
@pytest.mark.parametrize(("name", "missing"), [("Client", "httpx2"), ("AsyncClient", "anyio")])
def test_clients_name_the_extra(name: str, missing: str) -> None:
    """An ImportError, as for anything that is not installed."""
    code = f"import sys; sys.modules[{missing!r}] = None; import discreet; discreet.{name}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "discreet.errors.MissingExtra: A client needs the extra 'client': pip install 'discreet[client]'."
    )


def test_others_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same words; one module that is missing is enough."""
    require_extra("client", "A client needs", "httpx2", "anyio")
    without(monkeypatch, "sqlalchemy", "distributed", "ray", "anyio")
    for call, extra in (
        (lambda: open_store("a.db"), "service"),
        (lambda: sweep._dask("a:1").__enter__(), "cluster"),
        (lambda: sweep._ray("a:1").__enter__(), "cluster"),
        (lambda: require_extra("client", "A client needs", "httpx2", "anyio"), "client"),
    ):
        with pytest.raises(MissingExtra, match=rf"^A .* needs the extra '{extra}': .*discreet\[{extra}\]"):
            call()
