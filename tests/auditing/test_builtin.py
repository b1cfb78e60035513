"""Everything private in the package passes; and the list is complete."""

import importlib
import inspect
import pathlib
import pkgutil
import sys
from typing import NoReturn

import pytest

import discreet
from discreet import audit, baselines
from discreet.auditing import builtin, builtin_targets
from discreet.auditing.builtin import audit_named, find
from discreet.cli import main
from discreet.errors import DiscreetError, MissingExtra, UnknownName
from discreet.kernel import Discard, Exact, Release
from discreet.learners import Learner
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.learners.session import Session
from discreet.prefix_sums.base import PrefixSum
from discreet.prefix_sums.spherical import SphericalTree
from discreet.randomizers import OneBit

PRIVATE = [find(name) for name in builtin_targets if not find(name).published]
#: All of them together are wrong about a sound mechanism with probability at most 0.05.
CONFIDENCE = 1 - 0.05 / len(PRIVATE)


#: Audited by `make test`: single releases and the learners that are the default. `make slow` has the rest.
DEFAULTS = {"one-bit", "bits", "laplace", "choice", "binary-tree", "bandit", "bandit-local", "full"}
AUDITED = [
    pytest.param(entry, id=entry.name, marks=[] if entry.name in DEFAULTS else pytest.mark.slow)
    for entry in PRIVATE
]


@pytest.mark.parametrize("entry", AUDITED)
def test_it_keeps_its_promise(entry):
    """Seed 3, three items; fewer runs of what runs in Python."""
    target, runs = entry.make(3, 1.0), 10_000
    options = {"view": "released"} if entry.name == "bandit-three-rounds" else entry.options  # "bandit" shows
    report = audit(target, runs=runs, confidence=CONFIDENCE, seed=3, power=False, **options)
    assert report.passed, report


def test_the_loss_comes_near_the_claim_where_it_can():
    """Of single releases nearly all of the claimed loss is proved: the audits are not asleep."""
    for report in audit_named(["one-bit", "laplace", "laplace-gradients"], runs=80_000, seed=1, power=False):
        assert 0.85 < report.lower_bound <= 1


@pytest.mark.parametrize("name", [name for name in builtin_targets if find(name).published])
def test_published_algorithms_are_refuted(name):
    """Errata E1 and E3: noise made for L, where an estimate or a difference is larger."""
    [report] = audit_named([name], n=2, runs=20_000, seed=1)
    assert not report.passed, report


def test_every_private_class_is_listed():
    """What is private and not here would never be audited."""
    targets = [find(name).make(2, 1.0) for name in builtin_targets]
    covered = {type(target) for target in targets}
    learners = [getattr(target, "learner", target) for target in targets]
    released = {type(learner.release) for learner in learners if isinstance(learner, Learner)}
    assert set(Release.__subclasses__()) - {Exact, Discard} <= released
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        importlib.import_module(module.name)
    kinds = {OneBit}
    queue = [Session, PrefixSum]
    while queue:
        kind = queue.pop()
        queue += kind.__subclasses__()
        own = kind.__module__.startswith("discreet.") and not kind.__name__.startswith("_")
        if own and not inspect.isabstract(kind) and kind not in (BanditFeedback, FunctionFeedback):
            kinds.add(kind)
    not_private = {
        SphericalTree,
        baselines.FollowTheApproximateLeader,
        baselines.HazanKale,
        baselines.HazanKaleBandit,
    }
    without_learning = {baselines.FixedSet, baselines.RandomSet, baselines.BestFixedSet}
    any_policy = {discreet.PolicyLearner} if hasattr(discreet, "PolicyLearner") else set()
    assert kinds - covered - not_private - any_policy == without_learning
    assert audit(baselines.RandomSet(2), runs=128, seed=1, power=False).lower_bound == 0


def test_names():
    """A mistyped one is said with the nearest; a module of one's own is found or not."""
    with pytest.raises(UnknownName, match="Did you mean 'one-bit'"):
        find("one-bits")
    with pytest.raises(DiscreetError, match="Cannot find nowhere:Thing"):
        audit_named(["nowhere:Thing"])


def test_what_needs_an_extra_is_left_out_unless_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest is audited; the command says what is missing."""

    def missing(n: int, epsilon: float) -> NoReturn:
        raise MissingExtra("It needs the extra 'other'.", "other")

    entries = [find("one-bit"), find("laplace")._replace(make=missing)]
    monkeypatch.setattr(builtin, "_LISTED", entries)
    monkeypatch.setattr(builtin, "_ENTRIES", {entry.name: entry for entry in entries})
    with pytest.warns(UserWarning, match="laplace was left out"):
        assert [audit.name for audit in builtin.audit_named(runs=2000, seed=1)] == ["one-bit"]
    with pytest.raises(MissingExtra):
        builtin.audit_named(["laplace"], runs=2000)
    with pytest.raises(SystemExit) as end:
        main(["audit", "--runs", "2000", "--seed", "1"])
    out, err = capsys.readouterr()
    assert (end.value.code, "laplace was left out. It needs the extra 'other'." in err) == (0, True)
    assert "one-bit: not refuted" in out
    assert out.splitlines()[-1] == "1 audit left out: pip install 'discreet[other]'"


def test_a_missing_extra_is_found_before_anything_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was audited before would be thrown away."""
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    audited = []
    monkeypatch.setattr(builtin, "audit", lambda target, **_: audited.append(target))
    with pytest.raises(MissingExtra, match=r"discreet\[accounting\]"):
        audit_named(["one-bit", "binary-tree-gaussian"])
    assert audited == []


def test_what_cannot_be_made_is_said_in_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """A name of something else, and a function or a module that fails: with its own words."""
    (tmp_path / "failing_target.py").write_text("def make(): raise ValueError('no such table.')")
    (tmp_path / "failing_module.py").write_text("raise RuntimeError")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, message in (
        ("os:path", "os:path is neither a target nor a function that makes one."),
        ("failing_target:make", "Calling failing_target:make failed: ValueError: no such table."),
        ("failing_module:make", "Importing failing_module failed: RuntimeError."),
    ):
        with pytest.raises(DiscreetError) as refused:
            audit_named([name])
        assert str(refused.value) == message


def test_a_custom_learner_need_not_be_made_by_a_function(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """The module may hold the learner itself."""
    (tmp_path / "own_learner.py").write_text(
        "import discreet\nlearner = discreet.BanditLearner(2, 1.0, (0, 1))"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(builtin, "audit", lambda target, **_: target)
    (found,) = audit_named(["own_learner:learner"])
    assert isinstance(found, discreet.BanditLearner)
