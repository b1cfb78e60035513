"""Plans: what they predict is what simulations show, and what they say is what they hold."""

import collections
import csv
import functools
import gzip
import math

import numpy as np
import pytest
from benchmarks.bench_plan import Make, groups, modular, simulated_rounds, usual_and_effect
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import BanditLearner, DiscreetError
from discreet.environments import Customers, CustomerStream
from discreet.planning import WITHIN, Option, plan
from discreet.simulation import play
from real_data import data_file

#: Both kinds of feedback. A plan for a bandit has an option for each mode.
KINDS = {"bandit": {}, "full information": {"feedback": "full information"}}


def simulated(option: Option, n: int, make: Make, usual: float, effect: float) -> float:
    """Seeds 0 to 7. It takes longer than learning until it is sure that they have learned."""
    made = functools.partial(getattr(discreet, option.learner), n, **option.arguments)
    return simulated_rounds(made, make, usual, effect, 32 * option.rounds_to_learn + 1024, range(8))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n"), [("bandit", 5), ("full information", 5), ("full information", 20)])
@pytest.mark.seconds
def test_predicted_rounds_are_within_the_stated_factor(kind: str, n: int) -> None:
    """Modular streams, epsilon 4, three effects, every option.

    A prediction that is the same for all effects is rejected: it could not be so near to all three.
    """
    rounds = collections.defaultdict[str, list[float]](list)
    for effect in (0.8, 0.2, 0.03):
        for option in plan(n=n, epsilon=4.0, rounds=1, effect=effect, **KINDS[kind]).options:
            rounds[str(option)].append(simulated(option, n, modular(n, effect), 0.0, effect))
            needed = option.rounds_to_learn
            assert needed / WITHIN <= rounds[str(option)][-1] <= needed * WITHIN, option
    assert len(rounds) == (2 if kind == "bandit" else 1)
    for first, _, last in rounds.values():
        assert last > WITHIN**2 * first


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.seconds
def test_items_that_help_only_in_groups_are_predicted_too(kind: str) -> None:
    """Groups of four of eight items. The laws were not fitted to such streams."""
    make = groups(8, 4)
    usual, effect = usual_and_effect(make, 8)
    assert 0.15 < effect / 2 < 0.25
    for option in plan(n=8, epsilon=2.0, rounds=1, effect=effect, **KINDS[kind]).options:
        rounds = simulated(option, 8, make, usual, effect)
        assert option.rounds_to_learn / WITHIN <= rounds <= option.rounds_to_learn * WITHIN, option


@given(
    kind=st.sampled_from(sorted(KINDS)),
    n=st.integers(1, 100).filter(lambda n: n not in (16, 64)),  # beyond these there is another method
    epsilon=st.floats(0.05, 8.0),
    effect=st.floats(1e-4, 0.5),
    more=st.floats(1.01, 4.0),
)
@settings(max_examples=20, deadline=None)
@pytest.mark.seconds
def test_more_is_needed_for_less(kind: str, n: int, epsilon: float, effect: float, more: float) -> None:
    """More rounds for a smaller effect, for a smaller epsilon, and for more items, with every option."""

    def needed(**change: float) -> dict[str, float]:
        made = plan(**({"n": n, "epsilon": epsilon, "rounds": 10, "effect": effect} | KINDS[kind] | change))
        return {option.arguments.get("mode", ""): option.rounds_to_learn for option in made.options}

    now = needed()
    for change in ({"effect": effect * more}, {"epsilon": epsilon * more}):
        less = needed(**change)
        assert all(less[mode] < now[mode] for mode in now)
    greater = needed(n=n + 1)
    assert all(greater[mode] > now[mode] for mode in now)


def test_a_delta_is_for_local_bandits() -> None:
    """Where people have several rounds."""
    made = plan(n=4, epsilon=1.0, rounds=10**6, effect=0.5, rounds_per_person=50, delta=1e-6)
    by_mode = {option.arguments["mode"]: option for option in made.options}
    assert by_mode["local"].arguments["delta"] == 1e-6
    assert "delta" not in by_mode["central"].arguments
    assert by_mode["local"].epsilon_per_round > 1.5 * by_mode["central"].epsilon_per_round


def test_without_an_effect_nothing_is_called_enough() -> None:
    """12 items, costs in [-60, 9.7]: a quarter of the range could be learned, a fortieth could not."""
    made = plan(n=12, epsilon=1.0, rounds=8_000, cost_range=(-60.0, 9.7))
    assert made.effect is None
    assert made.enough is None
    effects, needed = zip(*made.by_effect, strict=True)
    assert effects == pytest.approx((69.7 / 4, 69.7 / 10, 69.7 / 40))
    assert needed[0] == made.best.rounds_to_learn
    assert needed[0] < 8_000 < needed[1] < needed[2]
    assert "CAUTION: no effect was given" in str(made)
    assert str(made).count("rounds, perhaps enough") == 1
    assert str(made).count("rounds, not enough") == 2
    assert plan(n=12, epsilon=1.0, rounds=10**12).enough is None
    assert str(plan(n=12, epsilon=1.0, rounds=10**12)).count("rounds, enough") == 3
    for effect, rounds in made.by_effect:
        again = plan(n=12, epsilon=1.0, rounds=8_000, cost_range=(-60.0, 9.7), effect=effect)
        assert again.best.rounds_to_learn == rounds
        assert again.enough is (None if rounds <= 8_000 else False)  # "perhaps enough"


def test_a_small_part_of_a_wide_range_is_not_learned() -> None:
    """Effects below a hundredth of the range, with 12 items: not enough, and no epsilon would help."""
    made = plan(n=12, epsilon=1.0, rounds=119_578, cost_range=(-60.0, 9.7), effect=0.64)
    assert made.enough is False
    assert made.epsilon_needed is None
    assert "WARNING: 119,578 rounds are not enough for an effect of 0.64." in str(made)
    assert plan(n=12, epsilon=1.0, rounds=400_000, cost_range=(-60.0, 9.7), effect=0.64).enough is False
    assert not plan(n=12, epsilon=1.0, rounds=100).enough  # not even for a quarter of the range
    assert "not enough for an effect of 0.5 (assumed)" in str(plan(n=12, epsilon=1.0, rounds=100))


def test_what_a_shop_sold_is_not_learned_as_predicted() -> None:
    """Seed 0: the 12 items on most of 20,728 real invoices, sales of up to 60 pounds, shown for 9.70.

    The best set is better than showing all by 0.64 pounds, 1% of the range. The learner gains nothing of
    that: showing everything would have been better.
    """
    low, high, rounds = -60.0, 9.7, 119_578
    with gzip.open(data_file("online_retail.csv.gz"), "rt", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if float(line["Quantity"]) > 0]
    counts = collections.Counter(
        item for _, item in {(line["InvoiceNo"], line["StockCode"]) for line in lines}
    )
    place = {item: k for k, (item, _) in enumerate(counts.most_common(12))}
    sold: dict[str, dict[int, float]] = {line["InvoiceNo"]: {} for line in lines}
    for line in lines:
        if line["StockCode"] in place:
            wishes, item = sold[line["InvoiceNo"]], place[line["StockCode"]]
            wishes[item] = wishes.get(item, 0.0) + float(line["Quantity"]) * float(line["UnitPrice"])
    capped = [
        {item: value * min(1.0, -low / max(sum(wishes.values()), 1.0)) for item, value in wishes.items()}
        for wishes in sold.values()
    ]
    people = Customers(np.full(12, high / 12), [[item] for item in range(12)], capped)

    def make(rounds: int, seed: int) -> CustomerStream:
        return CustomerStream(people, np.random.default_rng(seed).integers(len(people), size=rounds))

    usual, effect = usual_and_effect(make, 12)
    assert 0.5 < effect < 0.8
    made = plan(n=12, epsilon=1.0, rounds=rounds, cost_range=(low, high), effect=effect)
    assert made.enough is False
    assert made.best.rounds_to_learn > 2 * rounds
    learner = BanditLearner(12, **made.best.arguments, seed=0)
    assert play(learner, make(rounds, 0)).mean() > usual


def test_what_a_plan_repeats_is_what_the_learner_says() -> None:
    """Its guarantee and its noise; that of the model has no bound."""
    made = plan(n=5, epsilon=0.5, rounds=10_000, cost_range=(0.0, 2.0), rounds_per_person=2)
    for option in made.options:
        learner = BanditLearner(5, **option.arguments)
        assert option.regret_bound is None
        assert option.local is learner.guarantee.local
        assert learner.guarantee.epsilon == 0.5
        assert learner.guarantee.rounds_per_person == 2
        assert option.noise == pytest.approx(math.sqrt(learner.noise_variance))
    assert made.paper_bound > 0
    assert str(made).count("no proved bound") == len(made.options)


def test_noise_is_what_is_released() -> None:
    """In [0, 1] at epsilon 1: a bit lies 1.08 from the middle, the noise on a sum of costs is sqrt(2).

    In the worst case a sum is that of 6 costs. To choose, four fifths of epsilon are for noise of scale 2.
    """
    noise = {
        (option.arguments.get("mode"), option.arguments["method"]): option.noise
        for n in (4, 65)
        for kind in KINDS.values()
        for option in plan(n=n, epsilon=1.0, rounds=1000, cost_range=(0, 1), **kind).options
    }
    e = math.e
    assert noise["local", "model"] == noise["local", "worst-case"] == pytest.approx((e + 1) / (e - 1) / 2)
    assert noise["central", "model"] == pytest.approx(math.sqrt(2), rel=1e-5)
    assert noise["central", "worst-case"] == pytest.approx(math.sqrt(2) / 6, rel=1e-5)
    assert noise[None, "choose"] == pytest.approx(2.5, rel=1e-5)
    assert noise[None, "leader"] == pytest.approx(4 * math.sqrt(2), rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [6, 65])
def test_costs_scale(kind: str, n: int) -> None:
    """Another range changes the unit and nothing else."""
    small = plan(n=n, epsilon=1.0, rounds=10**5, cost_range=(-1, 1), effect=0.1, **KINDS[kind])
    large = plan(n=n, epsilon=1.0, rounds=10**5, cost_range=(0, 200), effect=10, **KINDS[kind])
    for first, second in zip(small.options, large.options, strict=True):
        assert second.rounds_to_learn == pytest.approx(first.rounds_to_learn)
        assert second.noise == pytest.approx(100 * first.noise)
        assert second.regret_bound == (first.regret_bound and pytest.approx(100 * first.regret_bound))


def test_too_little_epsilon_is_warned_about_with_what_would_do() -> None:
    """The epsilon it names is perhaps enough, nine tenths of it is not."""
    given = {"n": 10, "rounds": 50_000, "local": True, "effect": 0.5}
    made = plan(epsilon=0.1, **given)
    assert not made.enough
    assert "WARNING" in str(made)
    needed = made.epsilon_needed
    assert needed is not None
    assert plan(epsilon=needed, **given).enough is None
    assert plan(epsilon=0.9 * needed, **given).enough is False
    assert plan(n=100, epsilon=1.0, rounds=100).epsilon_needed is None


def test_bounds_that_say_nothing_are_not_named() -> None:
    """And rounds that are enough by less than the factor of uncertainty are perhaps enough."""
    given = {"n": 10, "epsilon": 0.1, "effect": 0.5, "feedback": "full information"}
    few, many = (discreet.plan(rounds=r, **given) for r in (5_000, 10**12))
    assert (few.enough, many.enough) == (None, True)
    assert "5,000 rounds are perhaps enough for an effect of 0.5." in str(few)
    assert "regret at most" not in str(few)
    assert "says nothing" in str(few)
    assert "1,000,000,000,000 rounds are enough for an effect of 0.5." in str(many)
    assert str(many).count("regret at most") == len(many.options) + 1
    assert "says nothing" not in str(many)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "'n' of plan"),
        ({"epsilon": 0}, "'epsilon' of plan"),
        ({"rounds": 0}, "'rounds' of plan"),
        ({"cost_range": (1, 0)}, "'cost_range' of plan"),
        ({"effect": 0}, "'effect' of plan"),
        ({"effect": 2.1}, "'effect' of plan must be at most 2"),
        ({"effect": math.nan}, "'effect' of plan"),
        ({"feedback": "some"}, "'feedback' of plan"),
        ({"feedback": "full information", "local": True}, "is local"),
    ],
)
def test_bad_arguments_are_refused(change, message: str) -> None:
    """In one line that names the argument."""
    with pytest.raises(DiscreetError, match=message):
        plan(**({"n": 4, "epsilon": 1.0, "rounds": 100} | change))
