"""An audit that cannot fail is no audit: everything here is broken, and must be found by default settings.

Seeds are fixed where noise decides. The honest counterparts are in `test_builtin.py`.
"""

import pytest
from broken import (
    BOUND,
    LEARNERS,
    MECHANISMS,
    SOURCES,
    TOO_LITTLE_NOISE,
    OnlyCounts,
    weak_tree,
)

from discreet import BanditLearner, audit
from discreet.errors import DiscreetError
from discreet.prefix_sums import BinaryTree, Epochs
from discreet.privacy import Budget, noise
from discreet.randomizers import OneBit
from discreet.randomness import BitSource

#: Those that take longest, or are like another one.
SLOW = {
    "epochs",
    "full information on a tree",
    "large costs stay open",
    "raw history in the saved file, central",
    "sums are printed",
    "the cost is returned",
}


def each(cases):
    """The names of cases, some of which are slow."""
    return [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in cases]


@pytest.mark.parametrize("name", each(TOO_LITTLE_NOISE))
def test_noise_too_small_by_a_factor_of_1_3(name: str) -> None:
    """In every release that ships, also inside trees."""
    options = {"delta": 0.01} if name == "gaussian tree" else {}
    report = audit(TOO_LITTLE_NOISE[name](), seed=1, **options)
    assert not report.passed, report


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms(name: str) -> None:
    """Clipping, skipping, parity, noise used twice."""
    report = audit(MECHANISMS[name](), seed=1)
    assert not report.passed, report


@pytest.mark.parametrize("name", each(LEARNERS))
def test_learners(name: str) -> None:
    """All that a learner can show beside its noise; the report says in which round."""
    report = audit(LEARNERS[name]())
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


def test_a_custom_tell_that_does_no_harm() -> None:
    """The same attack on a learner that behaves finds nothing, and sees its bits."""
    report = audit(OnlyCounts(2, 1.0, (0, 1)), view="shown", seed=9)
    assert report.passed, report


def test_changes_that_a_copy_would_not_have_are_refused() -> None:
    """Rather than auditing something else."""
    sums = Epochs(1, BOUND, Budget(epsilon=1.0))
    sums._whole_epoch = sums.steps._replace(law=noise.laplace(sums.steps.law.scale / 100))
    with pytest.raises(DiscreetError, match="changed after it was made"):
        audit(sums, runs=200)
    patched = BinaryTree(2, 8, BOUND, Budget(epsilon=1.0))
    patched.add = lambda value: value
    with pytest.raises(DiscreetError, match="method of its own, 'add'"):
        audit(patched, runs=200)


@pytest.mark.slow
def test_the_stated_power_is_there() -> None:
    """Seed 3: what is said to be found is found, in other audits of the same size."""
    honest = audit(BinaryTree(2, 8, BOUND, Budget(epsilon=1.0)), seed=3)
    assert honest.passed
    assert honest.finds_factor in (1.1, 1.15, 1.2, 1.3)
    assert f"too small by a factor of {honest.finds_factor:g}" in str(honest)
    assert not audit(weak_tree(BinaryTree(2, 8, BOUND, Budget(epsilon=1.0))), seed=4).passed
