"""The errata scripts: the fast ones whole, the slow ones with fewer runs, against the numbers in the docs."""

import pathlib
import re

import pytest
from examples.errata import (
    e1_bandit_privacy,
    e3_neighbours,
    e4_noise_size,
    e5_regularizer_is_public,
    e6_exploration_needs_rounds,
    e7_indices,
    e8_any_lipschitz_bound,
    e9_factor_of_n,
)

from discreet.auditing import proved_loss

ERRATA = pathlib.Path(__file__).parents[2] / "docs" / "errata.md"


def test_e1_the_attack_breaks_the_published_algorithm_and_not_the_corrected() -> None:
    """Claimed epsilon 1. Seeded, 40,000 runs: published at least 3, corrected no more than 1."""
    assert e1_bandit_privacy.measured_loss("published", 2, 64, 40_000) > 3.0
    assert e1_bandit_privacy.measured_loss("corrected", 2, 64, 40_000) < 1.0


def test_e3_the_published_tree_loses_more_than_it_claims() -> None:
    """Claimed epsilon 1; seeded, 4000 runs."""
    assert e3_neighbours.measured_loss("published", 4000) > 1.3
    assert e3_neighbours.measured_loss("corrected", 4000) <= 1.0


def test_e8_small_lipschitz_bounds_lose_more_than_claimed() -> None:
    """L = M: the two worst functions are told apart at far more than epsilon = 1."""
    import numpy as np

    shown = [
        e8_any_lipschitz_bound.releases(1.0, f, 1500)
        for f in (e8_any_lipschitz_bound.FIRST, e8_any_lipschitz_bound.SECOND)
    ]
    scores = [
        np.linalg.norm(x - [2.0, -2.0, 0.0], axis=1) - np.linalg.norm(x - [0.0, 2.0, -2.0], axis=1)
        for x in shown
    ]
    assert proved_loss(scores[0], scores[1]) > 2.0


@pytest.mark.parametrize(
    "script",
    [e4_noise_size, e5_regularizer_is_public, e6_exploration_needs_rounds, e7_indices, e9_factor_of_n],
)
def test_numbers_in_the_docs_are_what_the_scripts_print(script, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    """Each decimal number that errata.md states for a script stands in its output."""
    script.main()
    printed = capsys.readouterr().out
    name = script.__name__.rsplit(".", 1)[1]
    section = next(part for part in ERRATA.read_text().split("\n## ") if f"`{name}`" in part)
    shown = section.split("*Shown*")[-1] if "*Shown*" in section else section.split("*Why not*")[-1]
    numbers = {
        number for number in re.findall(r"(?<![\w.^])[+-]?\d+\.\d\d+", shown) if number not in ("0.05",)
    }
    missing = {number for number in numbers if number.lstrip("+") not in printed}
    assert not missing


def test_the_lower_bound_finds_nothing_where_there_is_nothing() -> None:
    """Equal samples prove no loss; disjoint ones prove as much as their number allows."""
    import numpy as np

    rng = np.random.default_rng(0)
    assert proved_loss(rng.normal(size=10_000), rng.normal(size=10_000)) < 0.2
    assert proved_loss(np.ones(10_000), np.zeros(10_000)) > 6
