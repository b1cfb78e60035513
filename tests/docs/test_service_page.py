"""What docs/service.md says can be done, and the tests it names exist."""

import doctest
import pathlib
import re
import shlex

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.service import upkeep
from discreet.service.desk import Desk
from running_service import RunningService

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "service.md"
TEXT = PAGE.read_text()


def test_its_python_works(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a real server on a new store."""
    with RunningService(tmp_path) as service:
        monkeypatch.setenv("DISCREET_URL", service.url)
        monkeypatch.setenv("DISCREET_CLIENT_KEY", service.key)
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        found = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags)
    assert found.attempted > 15
    assert not found.failed


def test_its_commands_exist() -> None:
    """With the options it gives them."""
    commands = re.findall(r"(?:^|`)(discreet (?:serve|store|keys)[^`\n]*)", TEXT, flags=re.MULTILINE)
    assert len(commands) >= 6
    for command in commands:
        words = shlex.split(command)[1:]
        names = [word for word in words[:2] if re.fullmatch("[a-z]+", word)]
        shown = CliRunner().invoke(app, [*names, "--help"], env={"COLUMNS": "200"})
        assert shown.exit_code == 0, command
        assert all(word in shown.output for word in words if word.startswith("--")), command


def test_the_tests_it_names_exist() -> None:
    """Each in the file that it names."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)
    assert len(named) >= 18
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text(), name


def test_a_copy_of_a_store_in_use_can_be_opened(tmp_path: pathlib.Path) -> None:
    """The command for backups gives a consistent copy while the service writes; its witness lets it go on."""
    with Desk.open(tmp_path / "shop.db") as desk:
        desk.create("till", "bandit", 3, {"epsilon": 1.0, "cost_range": [0, 1]})
        desk.ask("till", 7)
        upkeep.backup(tmp_path / "shop.db", tmp_path / "copy.db")
    parts = {"key_file": tmp_path / "shop.db.key", "witness_file": tmp_path / "shop.db.witness"}
    with Desk.open(tmp_path / "copy.db", **parts) as restored:
        assert restored.learner("till").counts.asked == 7


def test_the_sections_answer_all_objections() -> None:
    """Twelve rows, in order."""
    rows = re.findall(r"^\| (\d+) \|", TEXT, flags=re.MULTILINE)
    assert [int(row) for row in rows] == list(range(1, 13))
