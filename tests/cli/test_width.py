"""What is printed fits the terminal, or 80 columns where there is none."""

import pytest

from discreet.cli import main


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


def test_one_seed_has_no_interval_and_nothing_has_no_sign(capsys: pytest.CaptureFixture[str]) -> None:
    """Several have half their interval in a column."""
    command = ["simulate", "cuts", "-l", "empty", "--rounds", "1,000", "--no-report", "--quiet"]
    one = printed(capsys, *command, "--seeds", "1")
    assert one.splitlines()[0] == "cuts, 8 items, 1,000 rounds, 1 seed; regret and cost per round"
    assert "95%" not in one
    assert one.splitlines()[2].split() == ["FixedSet", "(empty)", "0.0000", "-1.0000"]
    two = printed(capsys, *command, "--seeds", "2").splitlines()
    assert two[1].split() == ["learner", "regret", "±95%", "cost"]
