"""What somebody meets who installed the package without its extras."""

import pathlib
import subprocess
import sys
import tomllib

import pytest

import discreet.cli
from code_blocks import ROOT
from commands import run
from discreet.errors import MissingExtra
from discreet.imports import EXTRAS, require_extra
from discreet.simulation import sweep
from discreet.simulation.progress import progress_bar
from discreet.storage import open_store


def without(patch: pytest.MonkeyPatch, *modules: str) -> None:
    """Some modules cannot be imported any more."""
    for module in modules:
        patch.setitem(sys.modules, module, None)


@pytest.mark.parametrize(
    ("command", "modules"),
    [("keys list", ["fastapi"]), ("store check", ["sqlalchemy"]), ("serve", ["fastapi"])],
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


#: What needs an extra, with the extra and the beginning of the message.
NEEDING = {
    "discreet.report": ("report", "A report needs"),
    "import discreet.simulation.sweep": ("report", "A sweep needs"),
    "import discreet.plots.charts": ("report", "A figure needs"),
    "discreet.auditing.plot_audits([audit])": ("report", "A figure needs"),
    "trace.plot()": ("report", "A figure needs"),
    "trace.to_frame('polars')": ("report", "A data frame needs"),
    "discreet.Client": ("client", "A client needs"),
    "discreet.privacy.Guarantee(rho=1.0).at_delta(1e-6)": (
        "accounting",
        "Converting rho into (epsilon, delta) needs",
    ),
}


@pytest.mark.process
def test_a_core_install_works_and_names_what_is_missing() -> None:
    """Without any extra: simulations and audits run, and all else is a `MissingExtra` that says which."""
    code = f"""
import sys
sys.modules.update(dict.fromkeys({sum(EXTRAS.values(), ())!r}))
import discreet, discreet.auditing
trace = discreet.simulate("modular", discreet.baselines.RandomSet(2), rounds=8, seeds=1)
audit = discreet.audit(discreet.randomizers.OneBit(epsilon=1.0), runs=128, power=False, seed=1)
for needing in {list(NEEDING)!r}:
    try:
        exec(needing)
    except discreet.errors.MissingExtra as error:
        print(f"{{needing}}|{{error.extra}}|{{error}}")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = {line.split("|")[0]: tuple(line.split("|")[1:]) for line in ended.stdout.splitlines()}
    assert found == {
        needing: (extra, f"{who} the extra '{extra}': pip install 'discreet[{extra}]'.")
        for needing, (extra, who) in NEEDING.items()
    }


@pytest.mark.parametrize(
    "command", ["demo --n 3 --rounds 500 --seeds 1", "simulate modular --rounds 16 --seeds 1 --n 2"]
)
def test_reports_are_left_out_unless_asked_for(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """One line says how to get one; with a place of its own it is refused before anything is run."""
    monkeypatch.chdir(tmp_path)
    without(monkeypatch, "matplotlib")
    code, out, err = run(capsys, *command.split(), "--quiet")
    assert (code, "report" in out) == (0, False)
    assert err == "No report is written: that needs pip install 'discreet[report]'.\n"
    code, out, err = run(capsys, *command.split(), "--report", "here.html")
    assert (code, out) == (2, "")
    assert err == "discreet: A report needs the extra 'report': pip install 'discreet[report]'.\n"
    assert list(tmp_path.iterdir()) == []


DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def test_the_table_of_extras_is_that_of_the_package() -> None:
    """Each that can be installed, but the one for developers."""
    assert set(EXTRAS) == set(DECLARED) - {"dev"}


@pytest.mark.parametrize(
    ("whole", "part"), [("cluster", "report"), ("ray", "report"), ("service", "cli"), ("service", "client")]
)
def test_an_extra_that_includes_another_lists_all_of_it(whole: str, part: str) -> None:
    """Line by line: it does not name the package itself, which an installer might look for on an index."""
    assert set(DECLARED[part]) <= set(DECLARED[whole])


def test_others_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same words; one module that is missing is enough."""
    require_extra("client", "A client needs", "httpx2", "anyio")
    without(monkeypatch, "sqlalchemy", "distributed", "ray", "anyio", "rich")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for call, extra in (
        (lambda: open_store("a.db"), "service"),
        (lambda: sweep._dask("a:1").__enter__(), "cluster"),
        (lambda: sweep._ray("a:1").__enter__(), "ray"),
        (lambda: progress_bar("rounds", 1.0).__enter__(), "cli"),
        (lambda: require_extra("client", "A client needs", "httpx2", "anyio"), "client"),
    ):
        with pytest.raises(MissingExtra, match=rf"^A .* needs the extra '{extra}': .*discreet\[{extra}\]"):
            call()
