"""What is printed fits the terminal, or 80 columns where there is none."""

import json

import pytest

from discreet.cli import main
from discreet.cli.app import table, wrapped


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert not end.value.code
    return capsys.readouterr().out


COMMANDS = [
    ["list"],
    ["plan", "--n", "50", "--epsilon", "1", "--rounds", "1e3", "--full"],
    ["simulate", "modular", "-l", "full", "-l", "paper-bandit", "--epsilon", "0.25", "--no-report"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_lines_fit_80_columns_where_nothing_is_known(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a pipe."""
    monkeypatch.delenv("COLUMNS", raising=False)
    small = ["--rounds", "64", "--seeds", "2", "--quiet"] if command[0] == "simulate" else []
    lines = printed(capsys, *command, *small).splitlines()
    assert max(map(len, lines)) <= 80


def test_lists_and_plans_use_the_width_there_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words are the same, whatever the width; parameters have a line of their own."""
    texts = []
    for columns in (70, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = "".join(printed(capsys, *command) for command in COMMANDS[:2])
        assert 0.8 * columns < max(map(len, text.splitlines())) <= columns
        texts.append(text.split())
    assert texts[0] == texts[1]
    assert "  n=8, gap=0.5, turns=0.5\n" in printed(capsys, "list")


def test_words_go_on_below_and_nothing_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that is wider than the terminal goes on below as well."""
    monkeypatch.setenv("COLUMNS", "28")
    assert table(["a", "b"], [["x", "one two three four five six"]]) == (
        "a  b\nx  one two three four five\n   six"
    )
    folded = table(["a", "b"], [["x", "1" * 40]])
    assert folded.count("1") == 40
    assert wrapped("one two three four five six seven") == "one two three four five six\nseven"
    assert table(["[b]", "b"], [["[red]x", ":smile:"]]) == "[b]     b\n[red]x  :smile:"


def test_data_has_no_width(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON is the same on every terminal."""
    found = []
    for columns in ("20", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        found.append(printed(capsys, "list", "--json"))
    assert found[0] == found[1]
    assert json.loads(found[0])["streams"]["drifting"]["parameters"] == ["n=8", "gap=0.5", "turns=0.5"]


def test_one_seed_has_no_interval_and_nothing_has_no_sign(capsys: pytest.CaptureFixture[str]) -> None:
    """Several have half their interval in a column."""
    command = ["simulate", "cuts", "-l", "empty", "--rounds", "1,000", "--no-report", "--quiet"]
    one = printed(capsys, *command, "--seeds", "1")
    assert one.splitlines()[0] == "cuts, 8 items, 1,000 rounds, 1 seed; regret and cost per round"
    assert "95%" not in one
    assert one.splitlines()[2].split() == ["FixedSet", "(empty)", "0.0000", "-1.0000"]
    two = printed(capsys, *command, "--seeds", "2").splitlines()
    assert two[1].split() == ["learner", "regret", "±95%", "cost"]
