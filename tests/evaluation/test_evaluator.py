"""`discreet.evaluate`: right on average, intervals that cover, every form of log and policy, warnings."""

import math
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from logs import SETS, World
from scipy import stats

import discreet
from discreet import BanditLearner, DiscreetError, evaluate
from discreet.environments import find
from discreet.evaluation import current_plan
from discreet.evaluation.evaluator import PoorOverlap
from discreet.randomizers import OneBit
from discreet.randomness import BitSource

#: How often a test of coverage may fail although intervals are right.
ALPHA = 1e-6
PLAN = {SETS[5]: 0.7, SETS[2]: 0.3}
REPEATS = 200


def too_few(covered: list[bool], confidence: float) -> bool:
    """Whether so few intervals cover the truth as only a fraction ALPHA of right ones would."""
    return sum(covered) < stats.binom.ppf(ALPHA, len(covered), confidence)


@pytest.mark.parametrize("seed", range(3))
def test_weights_make_any_log_right_on_average(seed: int) -> None:
    """Enumerated: each set in proportion to its probability, with its mean cost; the estimators agree."""
    world = World.drawn(seed)
    copies = np.round(world.shown * 10_000).astype(int)
    codes = np.repeat(np.arange(len(SETS)), copies)
    shown = copies / copies.sum()
    log = {"set": [SETS[k] for k in codes], "probability": shown[codes], "cost": world.mean[codes]}
    found = evaluate(log, PLAN, cost_range=(0, 1))
    for estimate in found.estimates.values():
        assert estimate.value == pytest.approx(world.value(PLAN), abs=2e-4)
    assert found.logged is not None
    assert found.gain is not None
    assert found.logged.value == pytest.approx(float(shown @ world.mean))
    assert found.gain.value == pytest.approx(found.logged.value - world.value(PLAN), abs=2e-4)
    assert found.mean_weight == pytest.approx(1.0)
    assert found.effective_rounds == pytest.approx(
        1 / sum(p**2 / q for p, q in ((0.7, copies[5]), (0.3, copies[2])))
    )


def test_intervals_cover() -> None:
    """As often as they say; intervals of half the width do not: a wrong standard error would be noticed."""
    world, rng, confidence = World.drawn(7, floor=0.06), np.random.default_rng(1), 0.9
    covered: dict[str, list[bool]] = {}
    gain = float(world.shown @ world.mean) - world.value(PLAN)
    for _ in range(REPEATS):
        found = evaluate(world.log(600, rng), PLAN, cost_range=(0, 1), confidence=confidence)
        assert found.gain is not None
        for name, estimate, truth in (
            *((name, estimate, world.value(PLAN)) for name, estimate in found.estimates.items()),
            ("gain", found.gain, gain),
        ):
            off = abs(estimate.value - truth)
            covered.setdefault(name, []).append(estimate.low <= truth <= estimate.high)
            covered.setdefault(f"half {name}", []).append(off <= (estimate.high - estimate.low) / 4)
    for name in ("doubly robust", "inverse propensity", "self-normalised", "gain"):
        assert not too_few(covered[name], confidence), name
    for name in ("doubly robust", "self-normalised", "gain"):
        assert too_few(covered[f"half {name}"], confidence), name


@pytest.mark.filterwarnings("ignore::discreet.evaluation.evaluator.PoorOverlap")
def test_the_bernstein_interval_covers_when_choices_follow_the_costs() -> None:
    """In a log that learns; with probabilities that are wrong it does not cover."""
    world, rng = World.drawn(11), np.random.default_rng(2)
    right, wrong = [], []
    for _ in range(100):
        log = world.adaptive_log(400, rng)
        tenth = np.array(log["probability"]) / 10
        for covered, given in ((right, log), (wrong, log | {"probability": tenth})):
            found = evaluate(given, PLAN, cost_range=(0, 1)).estimates["inverse propensity"]
            covered.append(found.low <= world.value(PLAN) <= found.high)
    assert not too_few(right, 0.95)
    assert too_few(wrong, 0.95)


def test_released_bits_are_unbiased_and_cost_nothing_more() -> None:
    """The guarantee is that of the bits; intervals cover the mean of the costs that nobody has seen."""
    world, rng = World.drawn(5, floor=0.06), np.random.default_rng(3)
    bit = OneBit(2.0, (0.0, 1.0), source=BitSource(9))
    covered, values = [], []
    for _ in range(60):
        log = world.log(500, rng)
        log["released"] = [bit.release(cost) for cost in log.pop("cost")]
        found = evaluate(log, PLAN, randomizer=bit)
        covered.append(found.low <= world.value(PLAN) <= found.high)
        values.append(found.value)
    assert not too_few(covered, 0.95)
    assert np.mean(values) == pytest.approx(world.value(PLAN), abs=4.9 * np.std(values) / math.sqrt(60))
    assert found.guarantee == bit.guarantee
    assert found.guarantee.epsilon == 2.0
    with pytest.raises(DiscreetError, match="needs their 'randomizer'"):
        evaluate(log, PLAN)
    with pytest.raises(DiscreetError, match="must hold bits of this randomizer"):
        evaluate(log, PLAN, randomizer=OneBit(1.0, (0.0, 1.0)))


def test_a_model_of_items_and_pairs_needs_few_rounds() -> None:
    """Where costs are additive without noise, the doubly robust estimate is right to the ridge."""
    rng, prices = np.random.default_rng(4), np.array([0.3, -0.2, 0.5])
    codes = rng.integers(8, size=3000)
    costs = [sum(prices[i] for i in SETS[k]) for k in codes]
    found = evaluate({"set": [SETS[k] for k in codes], "probability": [1 / 8] * 3000, "cost": costs}, PLAN)
    robust, plain = found.estimates["doubly robust"], found.estimates["inverse propensity"]
    assert found.value == pytest.approx(0.7 * 0.8 + 0.3 * -0.2, abs=1e-3)
    assert robust.high - robust.low < 0.02 * (plain.high - plain.low)


ITEMS = ("tea", "milk")
ROWS = [(["tea"], 0.5, 0.25), ([], 0.25, 0.5), (["milk", "tea"], 0.25, 1.0), (["tea"], 0.5, 0.0)] * 30
COLUMNS = {name: [row[k] for row in ROWS] for k, name in enumerate(("set", "probability", "cost"))}
TEXT = ["tea", "{}", "tea+milk", "tea"] * 30


@pytest.mark.parametrize(
    "log",
    [
        ROWS,
        COLUMNS,
        polars.DataFrame(COLUMNS),
        pandas.DataFrame(COLUMNS),
        polars.DataFrame(COLUMNS | {"set": TEXT, "day": 3}),
        [dict(zip(COLUMNS, row, strict=True)) for row in ROWS],
        [(discreet.Decision(1, frozenset(row[0]), 1, row[1], "x"), row[2]) for row in ROWS],
    ],
    ids=["rows", "columns", "polars", "pandas", "text", "mappings", "decisions"],
)
def test_every_form_of_log(log: Any) -> None:
    """Says the same."""
    found, expected = evaluate(log, ["tea"]), evaluate(ROWS, {("tea",): 1.0})
    assert found == expected
    assert (found.rounds, found.estimates["self-normalised"].value) == (120, 0.125)


def test_columns_of_other_names() -> None:
    """And rewards, which turn the gain around."""
    frame = polars.DataFrame(COLUMNS).rename({"set": "shown", "cost": "euros"})
    costs = evaluate(frame, ["tea"], columns={"set": "shown", "cost": "euros"})
    rewards = evaluate(frame, ["tea"], columns={"set": "shown", "reward": "euros"})
    assert costs.gain is not None
    assert rewards.gain is not None
    assert (costs.maximize, rewards.maximize) == (False, True)
    assert rewards.value == costs.value
    assert rewards.gain.value == -costs.gain.value
    assert (costs.pays, rewards.pays) == (True, False)


def test_policies_may_depend_on_what_was_known() -> None:
    """A fixed set is cut to what is available; a function is asked once for each context."""
    log = {
        "set": ["tea", "milk", "tea", "milk"] * 50,
        "probability": [0.5] * 200,
        "cost": [0.0, 1.0, 1.0, 0.0] * 50,
        "segment": ["young", "young", "old", "old"] * 50,
        "available": [["tea", "milk"]] * 200,
    }
    asked = []

    def best(segment: str) -> list[str]:
        asked.append(segment)
        return ["tea"] if segment == "young" else ["milk"]

    assert evaluate(log, best).value == pytest.approx(0.0, abs=0.02)
    assert asked == ["young", "old"]
    assert evaluate(log, lambda available: {("tea",): 0.5, ("milk",): 0.5}).value == pytest.approx(
        0.5, abs=0.02
    )
    less = log | {"available": [["tea"], ["milk"]] * 100, "segment": ["x"] * 200, "probability": [1.0] * 200}
    assert evaluate(less, ["tea", "milk"]).mean_weight == 1.0
    with pytest.raises(DiscreetError, match="shows an item that is not available"):
        evaluate(less, lambda segment: ["tea"])
    with pytest.raises(DiscreetError, match="Row 2 of the log shows an item that was not available"):
        evaluate(log | {"available": [["tea"]] * 200}, best)


def test_the_log_of_a_learner() -> None:
    """Its best set and its present mixture, from its own decisions; rounds are worth their number."""
    stream = find("modular", n=3, gap=0.5).stream(4000, seed=1)
    learner = BanditLearner(3, 5.0, (-1, 1), seed=2)
    log = []
    for function in stream:
        decision = learner.ask()
        cost = function(decision.subset)
        learner.tell(decision, cost)
        log.append((decision, cost))
    plan = current_plan(learner)
    assert sum(plan.values()) == pytest.approx(1.0)
    assert plan[decision.subset] == pytest.approx(decision.probability)
    found = evaluate(log, learner, cost_range=(-1, 1))
    assert found == evaluate(log, learner.best, items=range(3), cost_range=(-1, 1))
    exact = stream.total(learner.best) / 4000
    assert abs(found.value - exact) < 0.1
    assert found.estimates["inverse propensity"].low <= exact <= found.estimates["inverse propensity"].high
    assert evaluate(log, plan, items=range(3)).unseen < 0.01
    with pytest.raises(DiscreetError, match="no open phase"):
        current_plan(BanditLearner(3, 1.0, (-1, 1)))


@pytest.mark.parametrize(
    ("change", "policy", "message"),
    [
        ({"probability": [1 / 120] * 120}, ["tea"], "mean weight is 60 instead of 1"),
        ({}, {("tea",): 0.5, ("milk",): 0.5}, "50% of the policy's choices are never shown"),
        ({"set": ["milk"] * 119 + ["tea"]}, ["tea"], "worth only 1 rounds"),
    ],
)
def test_poor_overlap_is_warned_of(change: dict[str, Any], policy: Any, message: str) -> None:
    """In the result as well."""
    with pytest.warns(PoorOverlap, match=message):
        found = evaluate(COLUMNS | change, policy, items=ITEMS)
    assert message in str(found)
    assert "WARNING" in str(found)


@pytest.mark.parametrize(
    ("log", "policy", "message"),
    [
        (ROWS, ["milk"], "No round of the log shows a set of this policy"),
        (ROWS, ["jam"], "shows 'jam', which is no item of the log"),
        (ROWS, "tea", "The 'policy' of evaluate must be .* Got str"),
        (ROWS, {"tea": 1.0}, "keys of a policy must be sets"),
        (ROWS, {("tea",): 0.5}, "must add up to 1"),
        (ROWS, lambda hour: ["tea"], "may take 'available' and 'segment'. This one needs 'hour'"),
        (ROWS, lambda: 1 / 0, "Calling the policy failed: ZeroDivisionError"),
        ([], ["tea"], "must have 'set', 'probability', and one of"),
        (COLUMNS | {"reward": COLUMNS["cost"]}, ["tea"], "and one of 'cost', 'reward' and 'released'"),
        (COLUMNS | {"cost": [1.0]}, ["tea"], "columns of a log must have the same length"),
        (COLUMNS | {"probability": [0.0] * 120}, ["tea"], r"must lie in \(0, 1\]"),
        (COLUMNS | {"cost": ["secret 17"] * 120}, ["tea"], "an array of finite numbers"),
        ([(["tea"], 0.5)], ["tea"], "rows of a log must be"),
        ([{"set": []}, {"cost": 1}], ["tea"], "must all have the same entries"),
        (3, ["tea"], "'log' of evaluate must be"),
    ],
)
def test_what_is_wrong_is_named(log: Any, policy: Any, message: str) -> None:
    """In one line, without a cost."""
    with pytest.raises(DiscreetError, match=message) as caught:
        evaluate(log, policy)
    assert "\n" not in str(caught.value)
    assert "17" not in str(caught.value)


def test_columns_that_are_not_there() -> None:
    """The names that there are, are listed."""
    with pytest.raises(DiscreetError, match=r"has no column 'euros'\. It has: set, probability, cost"):
        evaluate(COLUMNS, ["tea"], columns={"cost": "euros"})
    with pytest.raises(DiscreetError, match=r"has no column 'sets'.* Did you mean 'set'"):
        evaluate(COLUMNS, ["tea"], columns={"sets": "set"})
    with pytest.raises(DiscreetError, match="between 0 and 1"):
        evaluate(COLUMNS, ["tea"], confidence=95)


def test_the_result_as_text_and_as_a_frame() -> None:
    """Raw numbers say that they are not private, on every page."""
    found = evaluate(ROWS, ["tea"], cost_range=(0, 1))
    for text in (str(found), found._repr_html_()):
        assert "NOT PRIVATE" in text
        assert "Student" in text
    assert not found.guarantee.private
    for library in ("polars", "pandas"):
        frame = found.to_frame(library)  # type: ignore[arg-type]
        assert list(frame["estimator"]) == [*found.estimates, "logged", "gain"]
        assert next(iter(frame["value"])) == found.value
