"""An infinite epsilon: everything is released exactly, and nobody takes it for private."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import (
    BanditLearner,
    FullInformationLearner,
    Pinned,
    PolicyLearner,
    audit,
    baselines,
    environments,
    load,
    plan,
)
from discreet.errors import InvalidArgument
from discreet.kernel import Exact, ExactChoice, Phase, Released
from discreet.kernel.queries import GRADIENT
from discreet.learners import Session
from discreet.learners.host import Host
from discreet.policies import Uniform
from discreet.privacy import Budget
from discreet.randomness import BitSource
from discreet.set_functions import Modular
from discreet.simulation import regret
from every_learner import Pairs

INFINITE = math.inf
BY_COST = {
    "model": lambda **more: BanditLearner(3, INFINITE, (-1, 1), **more),
    "worst case": lambda **more: BanditLearner(3, INFINITE, (-1, 1), method="worst-case", **more),
    "policy": lambda **more: PolicyLearner(3, Uniform, INFINITE, (-1, 1), **more),
    "items": lambda **more: baselines.ProductSampling(3, INFINITE, (-1, 1), **more),
}
FULL = ("choose", "leader", "blocks")
EVERY = {
    **{
        f"{name} {mode}": (make, {"mode": mode})
        for name, make in BY_COST.items()
        for mode in ("central", "local")
    },
    **{
        method: (lambda **more: FullInformationLearner(3, INFINITE, (-1, 1), **more), {"method": method})
        for method in FULL
    },
}
each = pytest.mark.parametrize("name", EVERY)


def made(name: str) -> Any:
    make, options = EVERY[name]
    return make(**options)


@each
def test_it_is_not_private_and_says_so(name: str) -> None:
    """In its guarantee and its repr. It keeps no secrets, so copies may go on."""
    learner = made(name)
    assert not learner.guarantee.private
    assert learner.guarantee.epsilon == INFINITE
    assert str(learner.guarantee).startswith("NOT PRIVATE: it adds no noise.")
    assert learner.guarantee.composed(3).epsilon == INFINITE
    assert "private=False" in repr(learner)
    assert not learner.keeps_secrets
    assert learner.noise_variance == 0
    assert isinstance(learner.learner.release, Exact)


@each
def test_whoever_needs_privacy_refuses_it(name: str) -> None:
    """An audit has nothing to refute."""
    with pytest.raises(InvalidArgument, match="promises nothing that could be refuted: it adds no noise"):
        audit(made(name))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("bandit", {}),
        ("bandit", {"mode": "local"}),
        ("bandit", {"method": "worst-case"}),
        ("full_information", {}),
    ],
)
def test_no_service_hosts_it(kind: str, options: dict[str, Any]) -> None:
    """However the learner was described."""
    arguments = {"epsilon": INFINITE, "cost_range": [0, 1]} | options
    with pytest.raises(InvalidArgument, match="in a service must be private"):
        Host({"kind": kind, "items": 3, "arguments": arguments})


def test_no_bits_are_made_for_it() -> None:
    """In local mode it is told exact costs. Devices, plans and other algorithms know no such epsilon."""
    learner = BanditLearner(3, INFINITE, (0, 1), mode="local")
    with pytest.raises(InvalidArgument, match="of finite epsilon takes bits"):
        learner.randomizer()
    with pytest.raises(InvalidArgument, match="'released' bit is told to a local BanditLearner of finite"):
        learner.tell(learner.ask(), released=1)
    budget = Budget(epsilon=INFINITE, rounds_per_person=2)
    assert budget.unlimited
    for refused in (
        lambda: budget.per_round,
        lambda: Pinned(INFINITE, (0, 1)),
        lambda: plan(n=3, epsilon=INFINITE, rounds=1000, cost_range=(0, 1)),
        lambda: baselines.NoisyLeader(3, INFINITE, (0, 1)),
        lambda: Budget(rho=INFINITE),
        lambda: BanditLearner(3, -INFINITE, (0, 1)),
    ):
        with pytest.raises(InvalidArgument, match="must be a positive number"):
            refused()


@pytest.mark.parametrize("mode", ["central", "local"])
def test_what_is_released_is_exact(mode: Any) -> None:
    """Costs in eighths are on the grid: every sum is the cost itself."""
    seen, costs = list[float](), [k / 8 for k in range(8)]

    class Remembers(Pairs):
        def learn(self, state: dict[str, Any], released: Released) -> dict[str, Any]:
            seen.extend((released.values[:, 0] / released.rounds).tolist())
            return super().learn(state, released)

    learner = PolicyLearner(3, Remembers(3), INFINITE, (0, 1), mode=mode)
    for cost in costs:
        learner.tell_many((decision, cost) for decision in learner.ask(count=5))  # both slots of a phase
    assert learner.ask().id == 41
    assert [learner.value(units) for units in seen] == pytest.approx(np.repeat(costs, 2), abs=1e-12)


def test_choices_are_exact() -> None:
    """Of a phase of two slots, its best set and how much more the held set cost in each; then a gradient."""
    learner = FullInformationLearner(3, INFINITE, (-1, 1)).learner
    assert isinstance(learner.release, ExactChoice)
    mechanism, rng = learner.mechanism(), np.random.default_rng(0)
    for number in range(3):
        sums = rng.integers(-1000, 1000, size=(2, 8))
        notes = [[0.0, 3.0, 0.0, number, 0.0], [0.0, 5.0, 1.0, number, 0.0]]
        phase = Phase.of_sets(3, [[], []], rounds=1, note=notes)
        released = learner.close(mechanism, phase, sums, BitSource()).values
        assert released[:, 0].tolist() == [sums[0, 3] - sums[0].min(), sums[1, 5] - sums[1].min()]
        assert released[:, 1].tolist() == [-1, sums.sum(axis=0).argmin()]
    gradient = Phase.of_sets(3, [[]], rounds=1, note=[[GRADIENT, 0.0, 0.0, 0.0, 0.0]])
    assert (
        learner.close(mechanism, gradient, sums[:1], BitSource()).values[0].tolist() == sums[0, :3].tolist()
    )


@pytest.mark.parametrize(("method", "most"), [("choose", 0.01), ("leader", 0.01), ("blocks", 0.01)])
def test_with_whole_functions_it_learns_from_every_round(method: Any, most: float) -> None:
    """Seeds 0 to 2, cuts with prices, 2^11 rounds: regret a round, and the stated bound is above it."""
    environment = environments.priced_cuts(6)
    paid = []
    for seed in range(3):
        learner = FullInformationLearner(6, INFINITE, (-1, 1), method=method, seed=seed)
        paid.append(regret(learner, environment.stream(2**11, seed)))
        assert learner.regret_bound(2**11) > paid[-1]
    assert np.mean(paid) / 2**11 < most


@pytest.mark.parametrize(
    "options",
    [
        {"item_total": 1.0},
        {"holdout": ({0}, 0.25)},
        {"holdout": ({0}, 0.25), "mode": "local"},
        {"segments": ["young", "old"]},
        {"at_most": 1, "mode": "local"},
        {"forget": 50.0, "prior": [({0}, 0.5, 3.0)]},
        {"rounds_per_person": 2, "delta": 1e-6, "mode": "local"},
        {"maximize": True, "rounds_per_person": 3},
    ],
    ids=lambda options: " ".join(options),
)
def test_options_work_as_with_noise(options: dict[str, Any], tmp_path: Path) -> None:
    """Also after the items have changed, and after saving: both copies go on, and play the same sets."""
    learner = BanditLearner(3, INFINITE, (-1, 1), seed=1, **options)

    def play(one: Session, rounds: int) -> list[frozenset[Any]]:
        sets = []
        for t in range(rounds):
            segment = {"segment": ("young", "old")[t % 2]} if one.segments else {}
            decision = one.ask(**segment)
            told = {"items": dict.fromkeys(decision.subset, -0.1)} if "item_total" in options else {}
            one.tell(decision, 0.2 - 0.1 * len(decision.subset), **told)
            sets.append(decision.subset)
        return sets

    play(learner, 40)
    learner.change_items(add=[3], retire=[0] if "holdout" not in options else [1])
    play(learner, 40)
    learner.save(tmp_path / "learner")
    loaded = load(tmp_path / "learner")
    assert not loaded.guarantee.private
    assert play(loaded, 40) == play(learner, 40)
    assert learner.guarantee.rounds_per_person == options.get("rounds_per_person", 1)
    if "holdout" in options:
        assert learner.held is not None


def test_a_person_still_counts_as_often_as_was_said() -> None:
    """So that learners with noise and without are compared alike."""
    learner = BanditLearner(3, INFINITE, (-1, 1), rounds_per_person=2)
    assert [learner.ask(person="ann").id > 0 for _ in range(3)] == [True, True, False]


def test_costs_of_functions_are_clipped_as_ever() -> None:
    """The range is part of the problem, not of the noise."""
    learner = FullInformationLearner(2, INFINITE, (-1, 1), method="blocks")
    for _ in range(5):
        learner.tell(learner.ask(), Modular([1e9, -1e9]))
    assert learner.best == {1}
