"""An audit that cannot fail is no audit: everything here is broken, and must be found by the default attacks.

Seeds are fixed where noise decides. The honest counterparts are in `test_builtin.py`.
"""

from fractions import Fraction

import pytest
from broken import (
    BOUND,
    LEARNERS,
    MECHANISMS,
    SOURCES,
    TOO_LITTLE_NOISE,
    weak_tree,
)

from discreet import BanditLearner, audit
from discreet.errors import DiscreetError
from discreet.learners.session import Session
from discreet.prefix_sums import BinaryTree
from discreet.privacy import Budget
from discreet.randomizers import OneBit
from discreet.randomness import BitSource

#: Runs that are enough where 100,000 are not; the default is a million (40,000 for what runs in Python).
ENOUGH = {"binary tree": 800_000, "gaussian tree": 400_000}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOO_LITTLE_NOISE)
def test_noise_too_small_by_a_factor_of_1_3(name: str) -> None:
    """Seed 1, in every release that ships, also inside trees."""
    target = TOO_LITTLE_NOISE[name]()
    options = {"view": "released"} if isinstance(target, Session) else {}
    options |= {"gaussian tree": {"delta": 0.01}}.get(name, {})
    report = audit(target, seed=1, runs=ENOUGH.get(name, 100_000), **options)
    assert not report.passed, report


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms(name: str) -> None:
    """Seed 1: clipping, skipping, parity, noise used twice, a query that exceeds its bound."""
    target = MECHANISMS[name]()
    options = {"view": "released"} if isinstance(target, Session) else {}
    report = audit(target, seed=1, runs=2_000 if isinstance(target, BinaryTree) else 10_000, **options)
    assert not report.passed, report


#: Of broken learners `make test` has the first few, `make slow` all others.
SOME = list(LEARNERS)[:6]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SOME else pytest.mark.slow) for name in LEARNERS]
)
def test_learners(name: str) -> None:
    """All that a learner can show beside its noise; the report says in which round."""
    report = audit(LEARNERS[name](), view="shown")
    assert not report.passed, report


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("kind", [OneBit, BanditLearner, BinaryTree])
def test_sources_of_bits(name: str, kind: type) -> None:
    """The object's own is tested, before anything is run that might not end; not where a seed replaces it."""
    arguments = {
        BanditLearner: (2, 1.0, (0, 1)),
        BinaryTree: (2, 8, BOUND, Budget(epsilon=1.0)),
    }.get(kind, (1.0,))
    target = kind(*arguments, source=SOURCES[name]())
    report = audit(target)
    assert not report.passed
    assert (report.score, report.runs) == ("bits", 0)


def test_a_seeded_audit_says_that_it_did_not_test_the_source() -> None:
    """And one without a seed says that it did."""
    target = OneBit(1.0, source=SOURCES["constant"]())
    assert "not tested" in audit(target, runs=2000, seed=1, power=False).source
    assert audit(OneBit(1.0), runs=2000, power=False).source == "from its own source"


def test_void_claims_are_refused() -> None:
    """A seed, no noise, and the paper as printed promise nothing; a claim made elsewhere can be refuted."""
    with pytest.raises(DiscreetError, match="promises nothing"):
        audit(BanditLearner(2, 1.0, (0, 1), seed=1))
    with pytest.raises(DiscreetError, match="promises nothing"):
        audit(OneBit(1.0, source=BitSource(1)))
    learner = BanditLearner(2, 4.0, (0, 1))
    assert not audit(learner, claim=2.0, view="released", runs=20_000, seed=1).passed


def test_changes_that_a_copy_would_not_have_are_refused() -> None:
    """Rather than auditing something else."""

    class Own(BinaryTree):
        """A class of the user's."""

    with pytest.raises(DiscreetError, match="changed after it was made"):
        audit(weak_tree(Own(2, 8, BOUND, Budget(epsilon=1.0))), runs=200)
    patched = BinaryTree(2, 8, BOUND, Budget(epsilon=1.0))
    patched.add = lambda value: value
    with pytest.raises(DiscreetError, match="method of its own, 'add'"):
        audit(patched, runs=200)


def test_the_stated_power_is_there() -> None:
    """Seeds 3 and 4: what is said to be found is found in another audit of that size, and 1.02 is not."""
    honest, weak, nearly = (BinaryTree(2, 2, BOUND, Budget(epsilon=1.0)) for _ in range(3))
    report = audit(honest, runs=200_000, seed=3)
    assert report.passed
    assert report.finds_factor in (1.05, 1.1, 1.15)
    assert f"too small by a factor of {report.finds_factor:g}" in str(report)
    assert not audit(weak_tree(weak, Fraction(report.finds_factor)), runs=200_000, seed=4).passed
    assert audit(weak_tree(nearly, Fraction(51, 50)), runs=20_000, seed=4).passed
