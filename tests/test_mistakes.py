"""Mistakes people make (docs/mistakes.md): each is found out, without anything private being told."""

import logging
import re
from typing import Literal

import numpy as np
import pytest

import discreet
from code_blocks import ROOT, is_there
from discreet.set_functions import FromCallable, is_submodular
from every_learner import state_of

PAGE = (ROOT / "docs" / "mistakes.md").read_text()
HERE = "tests/test_mistakes.py"
#: The tests of each mistake of the page.
SHOWN_BY = {
    "The cost range is wrong": (
        f"{HERE}::test_a_wrong_range_shows_in_the_released_mean",
        f"{HERE}::test_nothing_is_raised_counted_or_printed_for_a_clipped_cost",
    ),
    "Epsilon is too small for the number of rounds": (
        f"{HERE}::test_plan_warns_of_an_epsilon_that_is_too_small",
    ),
    "Costs are not submodular": (f"{HERE}::test_with_substitutes_a_learner_may_settle_on_a_worse_set",),
    "Telling twice, late, or out of order": (
        "tests/learners/test_what_must_not_go_wrong.py::test_tickets",
        "tests/learners/test_what_must_not_go_wrong.py::test_order_of_arrival",
    ),
    "The list of items changes": (
        "tests/learners/test_session_contract.py::test_items_can_be_switched_off_or_it_says_so",
    ),
    "Items in a set": (
        "tests/learners/test_session_contract.py::test_wrong_arguments_are_refused_in_the_name_of_the_class",
    ),
    "A seed in production": ("tests/learners/test_session_contract.py::test_a_seed_repeats_a_run",),
    "Two processes go on from one file": (
        "tests/learners/test_what_must_not_go_wrong.py::test_secret_state_is_single_use",
    ),
    "A cost that is not a number": (f"{HERE}::test_a_cost_that_is_no_number_counts_as_the_middle",),
    "A set function is built from private numbers, and that fails": (
        "tests/learners/test_feedback.py::test_what_cannot_be_made_counts_as_a_constant",
    ),
    "People come back, and nobody counts": (
        "tests/learners/test_people.py::test_further_rounds_change_nothing",
    ),
    "A bit is made with another epsilon": (
        "tests/learners/test_feedback.py::test_a_bit_that_was_made_otherwise_is_refused",
    ),
    "A backup is put back": ("tests/service/test_stale_backups.py::test_an_old_backup_is_not_continued",),
}


def test_every_mistake_of_the_page_is_tested() -> None:
    """Each has a test, here or where the page says."""
    assert re.findall(r"^## (.+)$", PAGE, flags=re.MULTILINE) == list(SHOWN_BY)
    for test in (test for tests in SHOWN_BY.values() for test in tests):
        assert is_there(test), test


@pytest.mark.parametrize(("cost", "end"), [(17.0, 1.0), (-3.0, 0.0)])
def test_a_wrong_range_shows_in_the_released_mean(cost: float, end: float) -> None:
    """Seed 1, 4,000 rounds: the mean lies at the end of the range, within five standard errors (0.08).

    Costs within the range do not look like that: 0.7 is farther from both ends.
    """
    learner = discreet.BanditLearner(3, epsilon=1.0, cost_range=(0, 1), seed=1)
    for _ in range(4_000):
        learner.tell(learner.ask(), cost)
    assert learner.mean_cost == pytest.approx(end, abs=0.08)


def all_parts(learner: discreet.BanditLearner) -> dict[str, object]:
    """All that a learner keeps and shows, but for its name."""
    kept = {name: held for name, held in vars(learner).items() if isinstance(held, int | float | str | list)}
    del kept["lineage"]
    shown = {"repr": repr(learner), "mean": learner.mean_cost, "guarantee": str(learner.guarantee)}
    return kept | shown | {"attributes": sorted(vars(learner)), "state": state_of(learner)}


@pytest.mark.parametrize("mode", ["local", "central"])
@pytest.mark.parametrize(("cost", "end"), [(17.0, 1.0), (-3.0, 0.0), (float("inf"), 0.5), ("a million", 0.5)])
def test_nothing_is_raised_counted_or_printed_for_a_clipped_cost(
    mode: Literal["local", "central"],
    cost: object,
    end: float,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A learner that was told what it clips is one that was told the end of the range, in all its parts.

    One by one or at once. Warnings are errors in all tests.
    """
    caplog.set_level(logging.DEBUG, logger="discreet")
    plain, clipped = (
        discreet.BanditLearner(3, epsilon=1.0, cost_range=(0, 1), mode=mode, seed=2) for _ in range(2)
    )
    for learner, told in ((plain, end), (clipped, cost)):
        for _ in range(10):
            learner.tell(learner.ask(), told)
        learner.tell_many([(decision, told) for decision in learner.ask(10)])
    assert all_parts(plain) == all_parts(clipped)
    assert capsys.readouterr() == ("", "")
    assert caplog.records == []


def test_plan_warns_of_an_epsilon_that_is_too_small() -> None:
    """And names one that would do; with that there is no warning."""
    given = {"n": 8, "rounds": 20_000, "cost_range": (0, 1), "effect": 0.1}
    poor = discreet.plan(epsilon=0.05, **given)
    assert "WARNING" in str(poor)
    assert poor.epsilon_needed is not None
    assert "WARNING" not in str(discreet.plan(epsilon=poor.epsilon_needed, **given))


def test_with_substitutes_a_learner_may_settle_on_a_worse_set() -> None:
    """Seed 2: of substitutes the first one, alone. With complements it finds the best set."""
    substitutes = FromCallable(lambda chosen: [[0.0, -0.5], [-1.5, 0.0]][1 in chosen][0 in chosen], 2)
    complements = FromCallable(lambda chosen: [[0.0, 0.5], [0.5, -1.5]][1 in chosen][0 in chosen], 2)
    for cost, settled in ((substitutes, {0}), (complements, {0, 1})):
        learner = discreet.FullInformationLearner(2, 1.0, (-2, 1), method="blocks", seed=2)
        for _ in range(2000):
            learner.tell(learner.ask(), cost)
        assert set(np.flatnonzero(learner.point.round())) == settled
        assert bool(is_submodular(cost)) == (discreet.minimize(cost).set == settled)


@pytest.mark.parametrize(
    ("nonsense", "counts_as"),
    [("unknown", 0.5), (None, 0.5), (float("nan"), 0.5), ([0.3], 0.5), ("0.3", 0.3)],
    ids=repr,
)
def test_a_cost_that_is_no_number_counts_as_the_middle(nonsense: object, counts_as: float) -> None:
    """In every part of the learner, and nothing is raised; another number leaves traces."""
    odd, like, other = (
        discreet.BanditLearner(2, epsilon=1.0, cost_range=(0, 1), mode="central", seed=5) for _ in range(3)
    )
    for learner, told in ((odd, nonsense), (like, counts_as), (other, 0.4)):
        for _ in range(5):
            learner.tell(learner.ask(), told)
    expected = all_parts(like)
    assert all_parts(odd) == expected
    assert all_parts(other) != expected
