"""The rates that docs/theorems.md calls proved are those of the bounds, and of what it measures."""

import math
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from examples.theorems.series import RATES

from code_blocks import ROOT
from discreet import BanditLearner, FullInformationLearner, bounds
from discreet.paper.submod_pftal import corrected_H

PAGE = (ROOT / "docs" / "theorems.md").read_text()
ROW = re.compile(r"^\| ([\w ]+) \| ([^|]+) \| (\S+) \| (\S+) \| (\S+) \|$", flags=re.MULTILINE)
#: Exponents in n, T and epsilon, by feedback and bound.
TABLE = {
    (feedback, bound.removesuffix(", proved here")): tuple(float(Fraction(power)) for power in powers)
    for feedback, bound, *powers in ROW.findall(PAGE.split("## Claimed and proved")[1].split("\n## ")[0])
    if feedback != "feedback"
}
Bound = Callable[[int, int, float], float]


def corrected_full(n: int, T: int, epsilon: float) -> float:
    return bounds.submod_pftal(n, T, 1.0, epsilon, corrected_H(T, 1.0, epsilon))


def corrected_bandit(n: int, T: int, epsilon: float) -> float:
    H, gamma = bounds.bandit_submod_pftal_stated_tuning(n, T, 1.0)
    return bounds.bandit_submod_pftal(n, T, 1.0, epsilon, H, gamma)


def learner_full(n: int, T: int, epsilon: float) -> float:
    return FullInformationLearner(n, epsilon, (-1, 1), method="blocks").regret_bound(T)


def learner_local(n: int, T: int, epsilon: float) -> float:
    return BanditLearner(n, epsilon, (-1, 1), method="worst-case", mode="local").regret_bound(T)


def learner_central(n: int, T: int, epsilon: float) -> float:
    return BanditLearner(n, epsilon, (-1, 1), method="worst-case").regret_bound(T)


#: What can be computed, and its name among the learners that the page measures.
COMPUTED: dict[tuple[str, str], tuple[Bound, str]] = {
    ("full information", "preprint, claimed"): (
        lambda n, T, epsilon: bounds.submod_pftal_claimed(n, T, 1.0, epsilon),
        "paper-full-published",
    ),
    ("full information", "`SubmodPFTAL`, corrected"): (corrected_full, "paper-full"),
    ("full information", "`FullInformationLearner`, blocks"): (learner_full, "full-blocks"),
    ("bandit", "`BanditSubmodPFTAL`, corrected"): (corrected_bandit, "paper-bandit"),
    ("bandit", "`BanditLearner`, worst case, local"): (learner_local, "bandit-worst-case-local"),
    ("bandit", "`BanditLearner`, worst case, central"): (learner_central, "bandit-worst-case"),
}


def test_all_that_can_be_computed_is() -> None:
    """The other rows are the claims that no function of the package has."""
    quoted = {row for row in TABLE if row[1].endswith("claimed")}
    assert set(TABLE) - quoted <= set(COMPUTED) <= set(TABLE)
    assert len(TABLE) == 9


@pytest.mark.parametrize("row", COMPUTED, ids=" ".join)
def test_proved_exponents_are_those_of_the_bounds(row: tuple[str, str]) -> None:
    """What doubling n, T or epsilon does, with so many rounds that lower terms and logarithms are small."""
    bound, _ = COMPUTED[row]
    n, T, epsilon = 2**14, 2**300, 2.0**-9
    least = bound(n, T, epsilon)
    others = bound(2 * n, T, epsilon), bound(n, 2 * T, epsilon), bound(n, T, 2 * epsilon)
    assert [math.log2(other / least) for other in others] == pytest.approx(list(TABLE[row]), abs=0.02)


@pytest.mark.parametrize("row", COMPUTED, ids=" ".join)
def test_the_measured_tables_show_the_same_theorems(row: tuple[str, str]) -> None:
    """Where these give a power."""
    in_n, in_T, in_epsilon = TABLE[row]
    _, learner = COMPUTED[row]
    shown = zip(RATES[learner], (in_T, in_n, in_epsilon), strict=True)
    assert all(rate == pytest.approx(power) for rate, power in shown if rate is not None)
