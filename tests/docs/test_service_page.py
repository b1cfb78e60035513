"""What docs/service.md says can be done, and the tests it names exist."""

import configparser
import json
import pathlib
import re
import shlex
import subprocess
from typing import Any

import pytest

from code_blocks import ROOT, Block, blocks, is_there, run_discreet, run_python
from discreet import Client
from discreet.service.learner_service import LearnerService
from running_service import RunningService

PAGE = ROOT / "docs" / "service.md"
TEXT = PAGE.read_text()
ADDRESS = "127.0.0.1:8710"
POST = 'curl -sS -X POST -H "Authorization: Bearer $ADMIN"'
NEW_KEY = """-H "Content-Type: application/json" -d '{"role": "ask_tell", "label": "web"}'"""
COST = """-H "Content-Type: application/json" -d '{"cost": 0.3}'"""
TOKENS = """-H "Content-Type: application/json" -d '{"tokens": true}'"""
JSON = '-H "Content-Type: application/json"'
LEARNERS = f"http://{ADDRESS}/v1/learners"
CORNER = (
    '{"name": "corner", "feedback": "bandit", "items": ["tea", "milk"], "epsilon": 1, "cost_range": [0, 1]}'
)
FIRST = [
    f"{POST} {JSON} -d '{CORNER}' {LEARNERS}",
    f"{POST} {LEARNERS}/corner/ask",
    POST
    + f" {JSON} -d "
    + '"{\\"decision\\": \\"$DECISION\\", \\"cost\\": 0.3}"'
    + f" {LEARNERS}/corner/tell",
]
ITEMS = (
    POST
    + f" {JSON} -d "
    + '"{\\"decision\\": \\"$DECISION\\", \\"cost\\": 0.35, \\"items\\": {\\"tea\\": 0.4}}"'
    + f" {LEARNERS}/basket/tell"
)
LOCAL = [
    "discreet serve --store shop.db",
    f"{POST} {NEW_KEY} http://{ADDRESS}/v1/keys",
    "discreet keys create --role ask_tell --label web --store shop.db",
    f"{POST.replace('ADMIN', 'TOKEN')} {COST} http://{ADDRESS}/v1/learners/till/tell",
    "discreet store backup shop-backup.db --store shop.db",
    "discreet store restore shop-backup.db --store shop.db",
    "discreet store check --store shop.db",
    "discreet store adopt --store shop.db",
    f"{POST} http://{ADDRESS}/v1/learners/till/restart",
    "discreet store adopt --latest",
    "discreet store rotate-key --new-key-file new.key --store shop.db --key-file shop.db.key",
    "discreet serve --store shop.db --key-file new.key",
]
#: Run elsewhere: by `tests/service/test_serve_options.py` and the tests of the command line.
HELPERS = ["discreet keys new", "discreet serve --help"]
DATABASE = "postgresql://discreet@db.internal/shop"
SHARED = [
    f"discreet serve --store {DATABASE} --workers 4 --key-file /etc/discreet/shop.key",
]


def only(language: str) -> Block:
    """The one block of a language."""
    (found,) = (block for block in blocks(PAGE) if block.language == language)
    return found


def commands() -> list[str]:
    """Those of the blocks and those within sentences, but for `pip`, in the order of the page."""
    found = [
        (block.line, command)
        for block in blocks(PAGE)
        if block.language == "sh"
        for command in block.commands
        if not command.startswith("pip ")
    ]
    for inline in re.finditer(r"`(discreet (?:serve|store|keys)\s[^`]+)`", TEXT):
        found.append((TEXT[: inline.start()].count("\n") + 1, " ".join(inline[1].split())))
    return [command for _, command in sorted(found, key=lambda each: each[0])]


def served(folder: pathlib.Path, command: str) -> RunningService:
    """The server that a command starts, on a free port instead of the usual one."""
    words = shlex.split(command)
    assert words[:2] == ["discreet", "serve"]
    return RunningService(folder, options=words[2:])


def curl(command: str, service: RunningService, **environment: str) -> Any:
    """What the server answers."""
    assert ADDRESS in command
    here = command.replace(f"http://{ADDRESS}", service.url)
    given = {"ADMIN": service.key, **environment}
    done = subprocess.run(["sh", "-c", here], env=given, check=True, capture_output=True, timeout=60)
    return json.loads(done.stdout)


def test_every_command_is_run() -> None:
    """By one of the next two tests; what they run stands on the page."""
    assert sorted(commands()) == sorted([*FIRST, ITEMS, *HELPERS, *LOCAL, *SHARED])


@pytest.mark.slow
def test_its_commands_work(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server, all Python of the page, a key, a backup that is old when it is put back, another key."""
    serve, new_key, keys, device, backup, restore, check, adopt, restart, latest, *others = LOCAL
    rotate, serve_rotated = others
    monkeypatch.chdir(tmp_path)
    with served(tmp_path, serve) as service:
        monkeypatch.setenv("DISCREET_URL", service.url)
        monkeypatch.setenv("DISCREET_CLIENT_KEY", service.key)
        assert run_python(PAGE) > 15
        create, ask, tell = FIRST
        assert curl(create, service)["name"] == "corner"
        (decision,) = curl(ask, service)["decisions"]
        assert curl(tell, service, DECISION=decision["id"]) == {"code": "accepted"}
        with Client(service.url, service.key) as owner:
            assert curl(ITEMS, service, DECISION=owner.ask("basket").id) == {"code": "accepted"}
        made = curl(new_key, service)
        assert made["role"] == "ask_tell"
        (asked,) = curl(f"{POST} {TOKENS} http://{ADDRESS}/v1/learners/till/ask", service)["decisions"]
        assert curl(device, service, TOKEN=asked["token"]) == {"code": "accepted"}
        with Client(service.url, service.key) as owner:  # bits are released as they come
            settings = {"epsilon": 1.0, "cost_range": (0, 1), "mode": "local", "method": "worst-case"}
            owner.create_learner("bits", "bandit", 3, **settings)
        assert run_discreet(backup) == 0
        with Client(service.url, str(made["key"])) as web:
            web.tell("bits", web.ask("bits"), 0.5)
        admin = service.key
    assert run_discreet(keys) == 0
    assert re.search(r"discreet_\w+", capsys.readouterr().out)
    assert run_discreet(restore) == 0
    assert run_discreet(check) == 1
    assert "older than what 'bits' has released" in capsys.readouterr().out
    assert run_discreet(adopt) == 0
    assert "'bits' was restarted" in capsys.readouterr().out
    assert run_discreet(check) == 0
    again = served(tmp_path, serve)
    again.key = admin
    with again:
        assert curl(restart, again)["epoch"] == 2
    (tmp_path / "shop.db.guard").unlink()
    assert run_discreet(latest, "--store", "shop.db") == 0
    assert "restarted" not in capsys.readouterr().out
    assert run_discreet(rotate) == 0
    rotated = served(tmp_path, serve_rotated)
    rotated.key = admin
    with rotated, Client(rotated.url, admin) as client:
        client.tell("till", client.ask("till"), 0.5)


@pytest.mark.slow
def test_its_commands_for_postgresql_work(
    postgres: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several processes serve a store, and another machine joins them."""
    (command,) = SHARED
    serve = re.sub(r"postgresql://\S+", postgres, command).replace("/etc/discreet/", f"{tmp_path}/")
    serve = serve.replace("--workers 4", "--workers 2")
    monkeypatch.chdir(tmp_path)
    with LearnerService.open(postgres, key_file="shop.key") as learner_service:
        learner_service.create("till", "bandit", 3, {"epsilon": 1.0, "cost_range": [0, 1]})
    with served(tmp_path, serve) as service, Client(service.url, service.key) as client:
        client.tell("till", client.ask("till"), 0.5)
        with LearnerService.open(postgres, key_file="shop.key") as another:  # as another machine would
            assert another.ask("till")
        assert client.learner("till").epoch == 1


@pytest.mark.slow
def test_the_unit_of_systemd_starts_a_server(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its files in other folders: its rollback guard goes where the unit says, and it ends in time."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign] # names keep their capitals
    unit.read_string(only("ini").text)
    service = unit["Service"]
    folders = {f"/var/lib/{name}" for name in service["StateDirectory"].split()} | {"/etc/discreet"}
    for folder in folders:
        (tmp_path / folder.lstrip("/")).mkdir(parents=True)
    name, _, guard = service["Environment"].partition("=")
    assert str(pathlib.PurePosixPath(guard).parent) in folders
    monkeypatch.setenv(name, f"{tmp_path}{guard}")
    program, *words = service["ExecStart"].split()
    assert pathlib.PurePosixPath(program).name == "discreet"
    here = [f"{tmp_path}{word}" if word.startswith("/") else word for word in words]
    with served(tmp_path, shlex.join(["discreet", *here])) as running:
        assert running.key
        running.stop(float(service["TimeoutStopSec"]))
    assert pathlib.Path(f"{tmp_path}{guard}").exists()


def test_the_proxy_is_the_one_that_is_shipped() -> None:
    """Line by line; another test runs it."""
    assert only("nginx").text.strip() == (ROOT / "deploy" / "nginx.conf").read_text().strip()


def test_the_tests_it_names_exist() -> None:
    """Each in the file that it names."""
    named = re.findall(r"`(tests/[\w/]+\.py::\w+)`", TEXT)
    assert len(named) >= 18
    for test in named:
        assert is_there(test), test
