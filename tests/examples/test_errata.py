"""The errata scripts: the fast ones whole, the slow ones with fewer runs, against the numbers in the docs."""

import math
import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benchmarks.pages import body_of
from examples.errata import (
    e1_bandit_privacy,
    e2_full_information_tuning,
    e3_neighbours,
    e4_noise_size,
    e5_regularizer_is_public,
    e6_exploration_needs_rounds,
    e7_indices,
    e8_any_lipschitz_bound,
    e9_factor_of_n,
)

from code_blocks import ROOT
from discreet.auditing import proved_loss

TEXT = (ROOT / "docs" / "errata.md").read_text()
#: With its sign, as a power, or in millions; what is part of a formula or a name is none.
NUMBER = re.compile(
    r"(?<![\w.^/*+-])(?<![\w^]\()[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+|\^\d+| million)?(?![\w(/^]|\.\d)"
)


def numbers(text: str) -> list[str]:
    """Those of the text; of formulas only powers such as $T = 2^{20}$."""
    plain = re.sub(r"\$(?:[A-Z] = )?2\^\{(\d+)\}\$", r"2^\1", text)
    return NUMBER.findall(re.sub(r"\$[^$]*\$", "", plain))


def value(number: str) -> float:
    digits, *million = number.replace(",", "").split()
    return float(digits) * (1e6 if million else 1)


def agree(quoted: str, printed: str) -> bool:
    """Whether what is quoted is what was printed, with fewer digits."""
    if "^" in quoted or "^" in printed:
        return quoted == printed
    if "e" in quoted:
        return 0.1 < abs(value(printed) / value(quoted)) < 10
    _, point, decimals = quoted.split()[0].partition(".")
    half = 0.5 * 10.0 ** -len(decimals) if point else 0.0
    return abs(value(quoted) - value(printed)) <= half * (1e6 if "million" in quoted else 1.0) + 1e-12


def name_of(script: ModuleType) -> str:
    return script.__name__.rsplit(".", 1)[1]


def rows_of(script: ModuleType) -> list[list[str]]:
    """The cells of a script's table in the page, below its headings."""
    lines = body_of(TEXT, name_of(script)).splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_e1_the_attack_breaks_the_published_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claimed epsilon 1. Seeded, 5,000 runs: at least 2; of two samples of the same stream, nothing."""
    assert e1_bandit_privacy.measured_loss("published", 2, 8, 5_000) > 2.0
    simulate = e1_bandit_privacy.simulate

    def twice_the_same(session: Any, first: float, rounds: int, runs: int) -> Any:
        sets, hit = simulate(session, 1.0, rounds, 2 * runs)
        return (sets[:runs], hit[:runs]) if first > 0 else (sets[runs:], hit[runs:])

    monkeypatch.setattr(e1_bandit_privacy, "simulate", twice_the_same)
    assert e1_bandit_privacy.measured_loss("published", 2, 8, 5_000) < 0.2


def test_e8_small_lipschitz_bounds_lose_more_than_claimed() -> None:
    """L = M: the two worst functions are told apart at far more than epsilon = 1. Seeded, 1500 runs."""
    assert e8_any_lipschitz_bound.measured_loss(1.0, 1500) > 2.0


def test_the_table_of_e1_is_within_what_is_proved() -> None:
    """Its upper bounds are the formula's; of what was measured, only the published algorithm is above 1."""
    rows = rows_of(e1_bandit_privacy)
    for n, _, _, published, bound, corrected in rows:
        assert bound == f"{e1_bandit_privacy.upper_bound(int(n)):.1f}"
        assert 1 < float(published) < float(bound)
        assert float(corrected) <= 1
    assert len(rows) == 3


def test_the_table_of_e2_is_what_its_script_prints() -> None:
    """Seeded: the rows of fewest rounds come again to the letter."""
    rows = rows_of(e2_full_information_tuning)
    assert [row[0] for row in rows] == ["2^10", "2^12", "2^14", "2^16", "2^18"]
    for exponent, row in zip((10, 12, 14), rows, strict=False):
        assert e2_full_information_tuning.row(exponent) == f"| {' | '.join(row)} |"


def test_the_table_of_e8_is_within_what_is_proved() -> None:
    """Its bounds are the formula's; what was measured lies between half of them and all."""
    rows = rows_of(e8_any_lipschitz_bound)
    assert [row[0] for row in rows] == ["8", "4", "2", "1"]
    for L, measured, bound in rows:
        assert bound == f"{2 * math.sqrt(6) / float(L):.2f}"
        assert 0.5 * float(bound) < float(measured) <= float(bound)


def test_e3_gradients_are_further_apart_than_long_and_the_published_tree_loses_that() -> None:
    """The table by enumeration; claimed epsilon 1, seeded, 2,000 runs instead of the page's 20,000."""
    assert [f"| {' | '.join(row)} |" for row in rows_of(e3_neighbours)] == [
        e3_neighbours.row(n) for n in (1, 2, 3, 6)
    ]
    published, corrected = (float(loss) for loss in re.findall(r"at least\s+(\d\.\d+) \(proved", TEXT))
    assert 1.2 < e3_neighbours.measured_loss("published", 2_000) < published <= 2
    assert 0.5 < e3_neighbours.measured_loss("corrected", 2_000) < corrected <= 1


@pytest.mark.parametrize(
    ("script", "part"),
    [
        (e4_noise_size, "*Shown*"),
        (e5_regularizer_is_public, "*Shown*"),
        (e6_exploration_needs_rounds, "*Why not*"),
        (e7_indices, "*Shown*"),
        (e9_factor_of_n, "*Why not*"),
    ],
    ids=lambda given: name_of(given) if isinstance(given, ModuleType) else "",
)
def test_numbers_in_the_docs_are_what_the_scripts_print(
    script: ModuleType, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each number that errata.md states for a script stands in its output, with as many digits or more."""
    script.main()
    printed = capsys.readouterr().out
    section = next(found for found in TEXT.split("\n## ") if f"`{name_of(script)}`" in found)
    quoted = section[section.index(part) :]
    assert set(re.findall(r"^\|.*\|$", quoted, flags=re.MULTILINE)) <= set(printed.splitlines())
    compared = numbers(quoted)
    assert len(compared) >= 3
    assert [one for one in compared if not any(agree(one, other) for other in numbers(printed))] == []


def test_the_lower_bound_finds_nothing_where_there_is_nothing() -> None:
    """Equal samples prove no loss; disjoint ones prove as much as their number allows."""
    rng = np.random.default_rng(0)
    assert proved_loss(rng.normal(size=10_000), rng.normal(size=10_000)) < 0.2
    assert proved_loss(np.ones(10_000), np.zeros(10_000)) > 6
