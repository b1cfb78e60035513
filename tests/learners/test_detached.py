"""Learners whose decisions are kept elsewhere: they learn exactly what the learners themselves would."""

import json
import tracemalloc
from typing import Any

import numpy as np
import pytest
from learner_helpers import learnt
from scipy import stats

from discreet import BanditLearner, FullInformationLearner
from discreet.errors import HorizonReached, InvalidArgument, InvalidType
from discreet.learners import detached_base
from discreet.learners.detached import Detached, DetachedBandit, DetachedFunctions, detached
from discreet.learners.pending import arrays_of
from discreet.randomness import BitSource
from discreet.set_functions import Cut, Modular

N = 4


def settings(kind: str = "bandit", items: Any = N, **arguments: Any) -> dict[str, Any]:
    return {"kind": kind, "items": items, "arguments": {"epsilon": 1.0, "cost_range": [0, 1], **arguments}}


def bandit(seed: int | None = None, **arguments: Any) -> DetachedBandit:
    made = detached(settings(**arguments), source=None if seed is None else BitSource(seed))
    assert isinstance(made, DetachedBandit)
    return made


def functions(seed: int | None = None, **arguments: Any) -> DetachedFunctions:
    made = detached(
        settings("full_information", **arguments), source=None if seed is None else BitSource(seed)
    )
    assert isinstance(made, DetachedFunctions)
    return made


def same_arrays(kept: Detached, learner: Any) -> bool:
    mine, others = arrays_of(kept._core), arrays_of(learner._core)
    return mine.keys() == others.keys() and all(np.array_equal(mine[k], others[k]) for k in mine)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("batch", [1, 7, 100])
def test_folding_many_bits_is_telling_one_by_one(maximize: bool, batch: int) -> None:
    """Bit for bit: the same bits draw the same sets, and folded bits leave the arrays of told ones."""
    kept = bandit(5, maximize=maximize)
    learner = BanditLearner(N, 1.0, (0, 1), maximize=maximize, source=BitSource(5))
    rng = np.random.default_rng(batch)
    for _ in range(300 // batch):
        drawn, asked = kept.draw(batch), learner.ask(batch)
        assert [set(d.members) for d in drawn] == [set(a.subset) for a in asked]
        bits = rng.integers(0, 2, batch).tolist()
        order = rng.permutation(batch).tolist()
        kept.fold([drawn[k].draw for k in order], [bytes([bits[k]]) for k in order])
        for decision, bit in zip(asked, bits, strict=True):
            learner.tell(decision, released=bit)
        assert same_arrays(kept, learner)
    assert kept.summary().mean == learner.mean_cost
    assert kept.summary().rounds == learner.rounds == 300 // batch * batch
    learnt(learner)


def test_items_can_be_switched_off() -> None:
    """A draw among some items folds like the learner's own."""
    kept, learner = bandit(2), BanditLearner(N, 1.0, (0, 1), source=BitSource(2))
    for bit in (0, 1, 1, 0):
        drawn = kept.draw(1, kept.among([1, 3]))[0]
        decision = learner.ask(available=[1, 3])
        assert set(drawn.members) == set(decision.subset)
        kept.fold([drawn.draw], [bytes([bit])])
        learner.tell(decision, released=bit)
    assert same_arrays(kept, learner)


@pytest.mark.parametrize("kind", ["bandit", "full_information"])
def test_many_sets_of_many_items_are_drawn_in_little_memory(kind: str) -> None:
    """At no time is there more than what is returned, and a bounded number of rows."""
    kept = detached(settings(kind, 20_000))
    tracemalloc.start()
    drawn = kept.draw(1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(drawn) == 1000
    assert peak < sum(len(each.draw) for each in drawn) + 64_000_000
    assert len({each.subset for each in drawn}) > 1
    assert all(len(each.subset) == 2500 for each in drawn)


@pytest.mark.parametrize("rows", [1, 3, 100])
def test_sets_do_not_depend_on_how_many_are_drawn_at_once(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither do their draws, nor with items switched off."""
    whole = [bandit(seed=5).draw(50), bandit(seed=5).draw(50, np.array([3, 1]))]
    monkeypatch.setattr(detached_base, "_CELLS", N * rows)
    assert [bandit(seed=5).draw(50), bandit(seed=5).draw(50, np.array([3, 1]))] == whole
    assert all(set(each.members) <= {1, 3} for each in whole[1])


def test_an_encoded_draw_is_small() -> None:
    """It is 24 bytes however many items there are: two items, a probability, a baseline."""
    assert len(bandit(items=1000).draw()[0].draw) == 24


@pytest.mark.parametrize("value", [0.3, -7, 10**400, "0.5", None, float("nan"), b"\xff", object(), [1], {}])
def test_any_value_becomes_a_bit(value: Any) -> None:
    """Nothing is raised, whatever is told."""
    assert bandit().privatised(value) in (b"\0", b"\1")


def test_many_values_get_the_bits_that_each_would() -> None:
    """From the same bits, with values of every kind among them."""
    one, many = bandit(4), bandit(4)
    values = [0.1, None, 5, "x", float("inf"), *np.linspace(-0.2, 1.2, 2000)]
    assert many.privatised_many(values) == [one.privatised(value) for value in values]
    assert many.privatised_many([]) == []
    assert len(many.privatised_many([0.5])) == 1


def test_a_bit_has_the_law_of_the_declared_epsilon() -> None:
    """With rounds_per_person = 2 the bit of the largest value is 1 with exp(1/2) / (1 + exp(1/2)).

    Seed 0, 20,000 bits; false alarm 1e-6 (4.9 standard deviations). The law of the whole epsilon, 0.731
    instead of 0.622, is rejected.
    """
    kept = bandit(0, rounds_per_person=2)
    ones = sum(kept.privatised(1.0)[0] for _ in range(20_000)) / 20_000
    right, wrong = (1 / (1 + np.exp(-loss)) for loss in (0.5, 1.0))
    assert abs(ones - right) < 4.9 * 0.5 / np.sqrt(20_000) < abs(wrong - ones)


def test_a_neutral_bit_is_the_bit_of_the_midpoint() -> None:
    """From the same bits, bit for bit: whoever sees it cannot tell that nobody answered."""
    silent, telling = bandit(8, cost_range=[-3, 5]), bandit(8, cost_range=[-3, 5])
    draw = silent.draw()[0].draw
    telling.draw()
    assert [silent.neutral(draw) for _ in range(500)] == [telling.privatised(1.0) for _ in range(500)]


def test_a_neutral_bit_has_the_law_of_the_midpoint() -> None:
    """Seed 9, 20,000 bits, alpha = 1e-6: the exact probability at the midpoint fits, that of 0.6 does not."""
    kept = bandit(9)
    draw = kept.draw()[0].draw
    ones = sum(kept.neutral(draw)[0] for _ in range(20_000))

    def fits(value: float) -> bool:
        chance = kept.randomizer.probability_of_one(kept.randomizer.grid.of(value))
        return bool(stats.binomtest(ones, 20_000, float(chance)).pvalue > 1e-6)

    assert fits(0.5)
    assert not fits(0.6)


def test_means_of_bits_are_means_of_values() -> None:
    """The estimate from counts equals the mean of the single estimates, for rewards too."""
    kept = bandit(maximize=True)
    single = [kept.randomizer.estimate(bit) for bit in (1, 1, 0, 1)]
    assert kept.mean_of(3, 4) == pytest.approx(np.mean(single))
    assert kept.mean_of(0, 0) is None
    kept.fold([kept.draw()[0].draw for _ in range(4)], [b"\1", b"\1", b"\0", b"\1"])
    assert kept.summary().mean == pytest.approx(np.mean(single))


@pytest.mark.parametrize(
    "arguments",
    [{}, {"maximize": True}, {"method": "tree", "horizon": 64}, {"rounds_per_person": 3}],
    ids=["batched", "maximize", "tree", "people"],
)
def test_folding_functions_is_telling_them(arguments: dict[str, Any]) -> None:
    """With the same bits the arrays are those of FullInformationLearner, block after block."""
    kept = functions(9, **arguments)
    learner = FullInformationLearner(N, 1.0, (0, 1), source=BitSource(9), **arguments)
    rng = np.random.default_rng(1)
    for _ in range(60):
        function = Modular(rng.random(N) / N) if rng.random() < 0.5 else Cut(rng.random((N, N)) / 20)
        drawn, decision = kept.draw()[0], learner.ask()
        assert set(drawn.members) == set(decision.subset)
        kept.fold([drawn.draw], [kept.chain_costs(drawn.draw, function.to_dict())])
        learner.tell(decision, function)
    assert same_arrays(kept, learner)
    assert kept.releases > 0


@pytest.mark.parametrize(
    "function",
    [
        {"kind": "Modular", "weights": [0.1] * (N + 1)},
        {"kind": "Modular"},
        {"kind": "Nothing like it"},
        {"weights": "?"},
        {"kind": "Iwata", "n": 10**9},
        {"kind": ["Iwata"], "n": N},
        {"kind": "Restriction", "kept": [0, 1, 2, 3], "function": {"kind": "Iwata", "n": 10**9}},
        lambda subset: 1 / 0,
        lambda subset: "many",
        Modular([0.5]),
        17.0,
        None,
    ],
)
def test_functions_that_cannot_be_used_count_as_constant(function: Any) -> None:
    """All alike: the payload has the same length and is neutral, and nothing is raised."""
    kept = functions()
    draw = kept.draw()[0].draw
    assert kept.chain_costs(draw, function) == kept.neutral(draw)
    assert len(kept.neutral(draw)) == len(kept.chain_costs(draw, Modular([0.1] * N)))


def test_callables_are_called_with_items() -> None:
    """A Python function sees the items' names, and switched-off ones are in no set that counts."""
    kept = functions(items=["tea", "milk", "rice"])
    draw = kept.draw(1, kept.among(["tea", "rice"]))[0].draw
    costs = np.frombuffer(kept.chain_costs(draw, lambda subset: 9.0 * ("milk" in subset) + len(subset)))
    assert costs.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("kind", ["bandit", "full_information"])
def test_states_go_on_exactly(kind: str) -> None:
    """A state restored in another object, made from the settings as JSON, folds to the same arrays."""
    first = detached(settings(kind), source=BitSource(3))
    drawn = first.draw(20)
    payload = (
        [b"\1"] * 20
        if isinstance(first, DetachedBandit)
        else [first.chain_costs(d.draw, Modular([0.1, 0.2, -0.1, 0])) for d in drawn]  # type: ignore[attr-defined]
    )
    first.fold([d.draw for d in drawn[:10]], payload[:10])
    second = detached(json.loads(json.dumps(first.settings)))
    second.restore(first.state())
    assert second.state() == first.state()
    if kind == "bandit":
        for each in (first, second):
            each.fold([d.draw for d in drawn[10:]], payload[10:])
        assert second.state() == first.state()
    assert second.summary().point == first.summary().point


@pytest.mark.parametrize("kind", ["bandit", "full_information"])
def test_damaged_states_are_refused_and_change_nothing(kind: str) -> None:
    """Cut short, of another size or with impossible numbers: a clear error, and the old state stays."""
    kept = detached(settings(kind))
    before = kept.state()
    other = detached(settings(kind, items=N + 1)).state()
    core = arrays_of(kept._core)
    impossible = before.replace(core["core.x"].tobytes(), np.full(N, 7.0).tobytes())
    for damaged in (before[:-1], b"", b"{}\n", other, impossible):
        with pytest.raises(InvalidArgument, match="state"):
            kept.restore(damaged)
        assert kept.state() == before


@pytest.mark.parametrize("kind", ["bandit", "full_information"])
def test_damaged_draws_are_refused_and_change_nothing(kind: str) -> None:
    """Compiled code must not index by numbers that make no sense."""
    kept = detached(settings(kind))
    before = kept.state()
    draw = kept.draw()[0].draw
    payload = kept.neutral(draw)
    for damaged in (draw[:-1], b"", b"\x7f" * len(draw), draw + draw):
        with pytest.raises(InvalidArgument, match="damaged"):
            kept.fold([draw, damaged], [payload, payload])
    assert kept.state() == before


def test_a_horizon_is_kept() -> None:
    """A tree takes as many rounds as it was made for."""
    kept = functions(method="tree", horizon=3)
    draw = kept.draw()[0].draw
    with pytest.raises(HorizonReached):
        kept.fold([draw] * 4, [kept.neutral(draw)] * 4)
    kept.fold([draw] * 3, [kept.neutral(draw)] * 3)
    assert kept.summary().rounds == kept.horizon == 3


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"kind": "bandit", "items": 3},
        settings("central"),
        settings(mode="central"),
        settings(seed=1),
        settings(colour="red"),
        settings(items=[1.5, 2.5]),
        settings("full_information", method="tree"),
        {"kind": "bandit", "items": 3, "arguments": {}},
        {**settings(), "constants": {"low": 0.5}},
    ],
)
def test_settings_that_cannot_be_used_are_refused(bad: dict[str, Any]) -> None:
    """With a invalid_argument about public arguments."""
    with pytest.raises((InvalidArgument, InvalidType)):
        detached(bad)


def test_secrets_are_declared() -> None:
    """Bits are covered by the guarantee, block sums are not."""
    assert not bandit().keeps_secrets
    assert functions().keeps_secrets
