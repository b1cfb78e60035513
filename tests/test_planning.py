"""Plans: what they predict is what simulations show, and what they say is what they hold."""

import dataclasses
import math

import numpy as np
import pytest

import discreet
from discreet import BanditLearner, DiscreetError, FullInformationLearner
from discreet.planning import WITHIN, plan, reference_stream
from discreet.simulation import play


def simulated_rounds(option, n: int, margin: float, seeds: int = 6) -> int:
    """Until when the mean cost on the reference stream stays above -margin, from the mean of several runs."""
    kind = {"BanditLearner": BanditLearner, "FullInformationLearner": FullInformationLearner}[option.learner]
    rounds = math.ceil(2 * WITHIN * option.rounds_to_learn)
    total = np.zeros(rounds)
    for seed in range(seeds):
        learner = kind(n, **option.arguments, seed=seed)
        total += np.cumsum(play(learner, reference_stream(n, rounds, seed=seed)))
    above = np.flatnonzero(total / seeds / np.arange(1, rounds + 1) > -margin)
    return int(above[-1]) + 1 if above.size else 1


@pytest.mark.parametrize(
    ("feedback", "n", "epsilon"),
    [
        ("bandit", 3, 1.0),
        ("bandit", 6, 0.5),
        ("bandit", 10, 2.0),
        ("full information", 4, 0.3),
        ("full information", 10, 1.0),
        ("full information", 24, 3.0),
    ],
)
def test_predicted_rounds_are_within_the_stated_factor(feedback, n: int, epsilon: float) -> None:
    """Seeds 0 to 5, for every option; a prediction ten times as large or small would fail."""
    made = plan(n=n, epsilon=epsilon, rounds=10**6, feedback=feedback)
    for option in made.options:
        simulated = simulated_rounds(option, n, made.margin)
        assert option.rounds_to_learn / WITHIN <= simulated <= option.rounds_to_learn * WITHIN, option
        assert not (10 * option.rounds_to_learn / WITHIN <= simulated <= 10 * option.rounds_to_learn * WITHIN)


@pytest.mark.parametrize("margin", [0.3, 0.4])
def test_larger_margins_are_predicted_too(margin: float) -> None:
    """The margin's own law, for both kinds of feedback."""
    for feedback in ("bandit", "full information"):
        made = plan(n=6, epsilon=1.0, rounds=10**6, feedback=feedback, margin=margin)
        simulated = simulated_rounds(made.best, 6, margin)
        assert made.best.rounds_to_learn / WITHIN <= simulated <= made.best.rounds_to_learn * WITHIN


def test_bounds_and_noise_are_those_of_the_learner() -> None:
    """A plan repeats what the recommended learner itself says."""
    made = plan(n=5, epsilon=0.5, rounds=10_000, cost_range=(0.0, 2.0), rounds_per_person=2)
    for option in made.options:
        learner = BanditLearner(5, **option.arguments)
        assert option.regret_bound == learner.regret_bound(10_000)
        assert option.local is learner.guarantee.local
        assert learner.guarantee.epsilon == 0.5
        assert learner.guarantee.rounds_per_person == 2
        assert option.block == learner.block
        assert option.noise == pytest.approx(math.sqrt(learner.noise_variance))
    assert made.paper_bound > 0


def test_noise_is_what_is_released() -> None:
    """One bit lies 1.08 from the middle of [0, 1] at epsilon 1; a block of 6 has noise sqrt(2) / 6."""
    made = plan(n=4, epsilon=1.0, rounds=1000, cost_range=(0, 1))
    noise = {option.arguments["mode"]: option.noise for option in made.options}
    e = math.e
    assert noise["local"] == pytest.approx((e + 1) / (e - 1) / 2)
    assert noise["central"] == pytest.approx(math.sqrt(2) / 6, rel=1e-5)


def test_costs_scale() -> None:
    """Another range changes the unit and nothing else."""
    small = plan(n=6, epsilon=1.0, rounds=10**5, cost_range=(-1, 1))
    large = plan(n=6, epsilon=1.0, rounds=10**5, cost_range=(0, 200))
    for first, second in zip(small.options, large.options, strict=True):
        assert second.rounds_to_learn == pytest.approx(first.rounds_to_learn)
        assert second.noise == pytest.approx(100 * first.noise)
        assert second.regret_bound == pytest.approx(100 * first.regret_bound)
    assert large.margin == pytest.approx(100 * small.margin)


def test_too_little_epsilon_is_warned_about_with_what_would_do() -> None:
    """The epsilon it names is enough, nine tenths of it is not."""
    made = plan(n=10, epsilon=0.1, rounds=20_000, local=True)
    assert not made.enough
    assert "WARNING" in str(made)
    needed = made.epsilon_needed
    assert needed is not None
    assert plan(n=10, epsilon=needed, rounds=20_000, local=True).enough
    assert not plan(n=10, epsilon=0.9 * needed, rounds=20_000, local=True).enough
    assert plan(n=100, epsilon=1.0, rounds=100).epsilon_needed is None


def test_an_epsilon_that_is_hardly_private_is_called_so() -> None:
    """A promise of exp(8) and more is none; below nothing is added."""
    large = plan(n=50, epsilon=1.0, rounds=1000, feedback="full information")
    assert large.epsilon_needed is not None
    assert large.epsilon_needed > 8
    assert "would be enough, but is hardly private." in str(large)
    small = dataclasses.replace(large, epsilon_needed=7.9)
    assert "An epsilon of about 7.9 would be enough." in str(small)
    assert "fewer items" in str(plan(n=100, epsilon=1.0, rounds=100))


def test_bounds_that_say_nothing_are_not_named() -> None:
    """And rounds that are enough by a hair come with a caution."""
    few, many = (discreet.plan(n=10, epsilon=0.1, rounds=rounds) for rounds in (100_000, 10**12))
    assert few.enough
    assert "CAUTION" in str(few)
    assert "regret at most" not in str(few)
    assert "says nothing" in str(few)
    assert "CAUTION" not in str(many)
    assert str(many).count("regret at most") == len(many.options) + 1
    assert "says nothing" not in str(many)


def test_words_name_the_learner_and_the_data() -> None:
    """What is printed can be typed."""
    made = discreet.plan(n=8, epsilon=1.0, rounds=10**6, cost_range=(0, 1), local=True)
    text = str(made)
    assert "Take BanditLearner(items, epsilon=1.0, cost_range=(0.0, 1.0), mode='local')." in text
    assert "WARNING" not in text
    learner = eval(str(made.best), {"items": 8, "BanditLearner": BanditLearner})
    assert learner.guarantee.local


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "'n' of plan"),
        ({"epsilon": 0}, "'epsilon' of plan"),
        ({"rounds": 0}, "'rounds' of plan"),
        ({"cost_range": (1, 0)}, "'cost_range' of plan"),
        ({"margin": 0.6}, "'margin' of plan"),
        ({"feedback": "some"}, "'feedback' of plan"),
        ({"feedback": "full information", "local": True}, "is local"),
        ({"gradient_bound": 1.0}, "full information"),
    ],
)
def test_bad_arguments_are_refused(change, message: str) -> None:
    """In one line that names the argument."""
    with pytest.raises(DiscreetError, match=message):
        plan(**({"n": 4, "epsilon": 1.0, "rounds": 100} | change))
