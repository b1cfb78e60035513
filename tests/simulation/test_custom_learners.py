"""Learners that are not of this package, and policies of a user, in simulations."""

import numpy as np
import pytest
from examples.gallery.own_policy import OneByOne

import discreet
from discreet import environments, simulate
from discreet.errors import InvalidType
from discreet.simulation import play
from discreet.simulation.builtin_learners import Setting, find_learner, template_of


class Alternating:
    """Takes the first item every other round, and counts what it was told."""

    def __init__(self, feedback: str = "cost") -> None:
        self.feedback, self.told, self.rounds = feedback, [], 0

    def ask(self) -> frozenset[int]:
        self.rounds += 1
        return frozenset({0}) if self.rounds % 2 else frozenset()

    def tell(self, decision: frozenset[int], cost: object) -> None:
        self.told.append(cost)


def test_anything_with_ask_and_tell_is_simulated() -> None:
    """It pays what its sets cost; each seed plays a copy, and nothing is said about privacy."""
    learner = Alternating()
    environment = environments.modular(3, gap=0.2)
    trace = simulate(environment, learner, rounds=40, seeds=[4, 5], checkpoints=[40])
    for row, seed in zip(trace.cost, (4, 5), strict=True):
        functions = list(environment.stream(40, seed))
        assert row[-1] == pytest.approx(sum(f([0] if t % 2 == 0 else []) for t, f in enumerate(functions)))
    assert (learner.rounds, trace.learner, trace.guarantee.private) == (0, "Alternating", False)
    assert np.isnan(trace.final_points).all()


def test_it_is_told_functions_if_it_says_so() -> None:
    """By an attribute; otherwise the cost of its set."""
    for feedback, kind in (("function", discreet.set_functions.SetFunction), ("cost", float)):
        learner = Alternating(feedback)
        play(learner, environments.modular(3).stream(5))
        assert all(isinstance(told, kind) for told in learner.told)


def test_what_cannot_be_asked_is_refused() -> None:
    """Also if a function makes it."""
    for learner in (7, lambda seed: 7):
        with pytest.raises(InvalidType, match="'ask' and 'tell'"):
            simulate(environments.modular(3), learner, rounds=10, seeds=1)


def test_a_policy_by_name_runs_in_a_policy_learner() -> None:
    """MODULE:NAME of a class; it is named after the policy."""
    setting = Setting(items=(0, 1, 2), epsilon=1.0, costs=(-1.0, 1.0), rounds=300)
    template = template_of(find_learner("examples.gallery.own_policy:OneByOne"), setting)
    trace = simulate(environments.modular(3), template, rounds=300, seeds=2)
    assert trace.learner == "OneByOne (central, epsilon=1)"
    assert trace.guarantee.private


@pytest.mark.parametrize("mode", ["central", "local"])
def test_plain_policies_play_the_same_in_both_loops(mode: str) -> None:
    """The compiled loop deals, measures and closes as a session does: the same costs for the same seed.

    For so many rounds that random bits run out while the slots of a phase are closed.
    """
    learner = discreet.PolicyLearner(4, OneByOne, 1.0, (-1, 1), mode=mode)
    stream = environments.modular(4, gap=0.1).stream(5000)
    session, paid = learner.fresh(3), []
    for f in stream:
        decision = session.ask()
        paid.append(f(decision.subset))
        session.tell(decision, paid[-1])
    compiled = learner.fresh(3)
    assert play(compiled, stream).tolist() == paid
    assert compiled.point.tolist() == session.point.tolist()


SETTING = Setting(items=("tea", "milk", "gin"), epsilon=1.0, costs=(-1.0, 1.0), rounds=300)


def test_arguments_may_follow_a_name() -> None:
    """They are JSON where they look like it, and part of the name by which results are told apart."""
    found = find_learner('bandit  at_most=1 groups=[["tea", "gin"]] method=model')
    assert found.name == 'bandit at_most=1 groups=[["tea", "gin"]] method=model'
    assert found.build(SETTING).learner.constraints.at_most == 1
    assert found.build(SETTING).learner.constraints.groups == ((0, 2),)
    learner = find_learner("full at_least=2").build(SETTING._replace(items=(0, 1, 2)))
    trace = simulate(environments.modular(3), learner, rounds=60, seeds=1)
    assert trace.learner == "FullInformationLearner (choose, at_least=2, epsilon=1)"
    assert find_learner("full method=blocks").build(SETTING).method == "blocks"
    gamma = find_learner("paper-bandit gamma=0.5").build(SETTING)
    assert gamma.gamma == 0.5


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("bandit at_mots=1", "Did you mean 'at_most'"),
        ("bandit-local mode=central", "'bandit-local' cannot be made like this.*mode"),
        ("greedy at_mots=1", "'greedy' cannot be made like this.*at_mots"),
        ("full-blocks at_most=1", "takes no constraints"),
        ("bandit at_most 1", "no learner called"),
        ("bandit required=[4]", "items of this learner"),
    ],
)
def test_wrong_arguments_are_refused(text: str, problem: str) -> None:
    with pytest.raises(discreet.DiscreetError, match=problem):
        find_learner(text).build(SETTING)


def make_fixed(items: object, member: int = 0) -> Alternating:
    made = Alternating()
    made.name = f"from {member}"
    return made


def test_a_custom_learner_takes_arguments_too() -> None:
    made = find_learner("test_custom_learners:make_fixed member=2").build(SETTING)
    assert made.name == "from 2"
