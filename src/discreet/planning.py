"""What to expect before the first person is asked: noise, regret bounds, and how long learning takes.

Bounds are proved (`docs/guarantees.md#regret`) and pessimistic. How long learning takes on an ordinary
stream is predicted by scaling laws that were fitted to simulations of the **reference stream**: every round
concerns one item, picked at random, and costs +1 or -1 (in halves of the range) according to whether it is
in the set; the sign favours the best set, which takes every other item, by a quarter of the range. The
empty set, the full one and random ones all cost the middle of the range there. `tests/test_planning.py`
simulates it and checks the predictions.
"""

import dataclasses
from typing import Any, Literal

from discreet import bounds, checks
from discreet.environments import ItemSigns
from discreet.errors import InvalidArgument
from discreet.learners import BanditLearner, FullInformationLearner
from discreet.learners.arguments import cost_interval
from discreet.learners.base import Learner
from discreet.privacy.guarantee import rounded_up

Feedback = Literal["bandit", "full information"]

#: Predicted numbers of rounds are within this factor of simulated ones, for 3 items or more and margins
#: from an eighth of the range. (Smaller margins are reached earlier, often by luck.)
WITHIN = 4.0
#: Beyond this epsilon a promise says little: what is released may be thousands of times as likely.
HARDLY_PRIVATE = 8.0
#: How much better the best set of the reference stream is than the middle, in halves of the range.
REFERENCE_GAP = 0.5


@dataclasses.dataclass(frozen=True)
class Option:
    """One learner that could be used.

    Attributes:
        learner: The name of its class in `discreet`.
        arguments: What to call it with, besides the items.
        local: Whether each value is randomised by itself.
        noise: The standard deviation, in costs, of what one release adds: to a cost or the mean of a block
            of them (bandit), to each coordinate of a block's sum or of a prefix sum (full information).
        block: For how many rounds a set or a point is held (at first).
        regret_bound: Expected regret over all rounds is at most this.
        rounds_to_learn: Predicted rounds until its mean cost on the reference stream is below that of the
            empty, the full and a random set by the margin.
    """

    learner: str
    arguments: dict[str, Any]
    local: bool
    noise: float
    block: int
    regret_bound: float
    rounds_to_learn: float

    def __str__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.learner}(items, {listed})"


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to expect, as data; ``print(plan)`` says it in words.

    Attributes:
        n: Items.
        epsilon: Privacy loss.
        rounds: Rounds.
        cost_range: The range of costs.
        feedback: What is seen after each round.
        margin: How much better than the empty, full and random sets counts as learnt, in costs.
        options: The learners that fit, the one to take first.
        paper_bound: The least regret bound of the paper's algorithm, corrected, for these numbers.
        epsilon_needed: The least epsilon for which the first option learns within the rounds; None if none
            up to 100 is enough.

    Examples:
        >>> made = plan(n=4, epsilon=1.0, rounds=100_000)
        >>> made.best.learner, made.enough, made.epsilon_needed < 1.0
        ('BanditLearner', True, True)
    """

    n: int
    epsilon: float
    rounds: int
    cost_range: tuple[float, float]
    feedback: Feedback
    margin: float
    options: tuple[Option, ...]
    paper_bound: float
    epsilon_needed: float | None

    @property
    def best(self) -> Option:
        """The learner to take."""
        return self.options[0]

    @property
    def enough(self) -> bool:
        """Whether the rounds are predicted to be enough to learn on the reference stream."""
        return self.best.rounds_to_learn <= self.rounds

    def __str__(self) -> str:
        width = self.cost_range[1] - self.cost_range[0]
        given = (
            f"{self.n} items, {self.feedback}, epsilon = {rounded_up(self.epsilon)}, {self.rounds:,} rounds"
        )
        lines = [f"{given}, costs in [{self.cost_range[0]:g}, {self.cost_range[1]:g}].", f"Take {self.best}."]
        for option in self.options:
            where = "each cost randomised by itself" if option.local else "exact sums kept in memory"
            more = " or more" if option.learner == "FullInformationLearner" else ""
            held = "" if option.block == 1 else f", blocks of {option.block} rounds{more}"
            lines.append(
                f"- {option}: {where}{held}; noise of {option.noise:.3g} (in costs) on each release; "
                f"learns in about {two_digits(option.rounds_to_learn)} rounds"
                f"{_bound(option.regret_bound, self.rounds, width)}."
            )
        if self.paper_bound < width * self.rounds:
            rate = self.paper_bound / self.rounds
            lines.append(f"The paper's algorithm, corrected and tuned: regret at most {rate:.3g} a round.")
        if any(option.regret_bound >= width * self.rounds for option in self.options):
            lines.append("Where no bound is named, the proved one says nothing for so few rounds.")
        if not self.enough:
            lines.append(
                "WARNING: that is more rounds than there are. It will hardly beat a fixed or random choice. "
                + _help_by_epsilon(self.epsilon_needed)
            )
        elif self.best.rounds_to_learn * WITHIN > self.rounds:
            lines.append("CAUTION: as predictions go, the rounds may not be enough.")
        lines.append(
            f"To learn means: a mean cost {self.margin:.3g} below that of the empty, the full and a random "
            f"set, on a stream whose best set is {REFERENCE_GAP * width / 2:.3g} below them. Numbers of "
            f"rounds are predicted within a factor of {WITHIN:g}. Bounds hold for every stream, and usual "
            "streams stay far below them."
        )
        return "\n".join(lines)


def plan(
    *,
    n: int,
    epsilon: float,
    rounds: int,
    cost_range: tuple[float, float] = (-1.0, 1.0),
    feedback: Feedback = "bandit",
    local: bool = False,
    rounds_per_person: int = 1,
    gradient_bound: float | None = None,
    margin: float | None = None,
) -> Plan:
    """What to expect of n items, epsilon and so many rounds, and which learner to take.

    Args:
        n: Items.
        epsilon: What one person may lose.
        rounds: Rounds that will be played.
        cost_range: The range of costs.
        feedback: "bandit" (the cost of the chosen set is seen) or "full information" (the whole function).
        local: Whether exact sums must not be kept, so that only learners that randomise each cost fit.
        rounds_per_person: In how many rounds one person may appear.
        gradient_bound: For full information: a declared bound on gradients.
        margin: How much better than the empty, full and random sets counts as learnt, in costs; less than a
            quarter of the range, which is what can be reached on the reference stream. An eighth by
            default.

    Examples:
        >>> made = plan(n=8, epsilon=1.0, rounds=1_000_000, cost_range=(0, 1))
        >>> made.best.arguments["mode"], made.enough
        ('central', True)
        >>> plan(n=8, epsilon=0.01, rounds=1_000).enough
        False
    """
    n, rounds = checks.integer("plan", "n", n, 1), checks.integer("plan", "rounds", rounds, 1)
    epsilon = checks.positive_number("plan", "epsilon", epsilon)
    low, high = cost_interval("plan", cost_range, maximize=False)
    half = 0.5 * high - 0.5 * low
    wanted = 0.25 * half if margin is None else checks.positive_number("plan", "margin", margin)
    if wanted >= REFERENCE_GAP * half:
        most = f"below {REFERENCE_GAP * half:g}, a quarter of the range"
        raise checks.complaint("plan", "margin", most, margin)
    if feedback not in ("bandit", "full information"):
        raise checks.complaint("plan", "feedback", "'bandit' or 'full information'", feedback)
    if feedback == "full information" and local:
        raise InvalidArgument("No learner for full information is local: gradients are summed, then noised.")
    common = {"epsilon": epsilon, "cost_range": (low, high)} | (
        {"rounds_per_person": rounds_per_person} if rounds_per_person != 1 else {}
    )
    if gradient_bound is not None:
        if feedback == "bandit":
            raise InvalidArgument("A 'gradient_bound' is for full information.")
        common["gradient_bound"] = gradient_bound
    options = tuple(
        sorted(
            _options(n, rounds, half, wanted / half, feedback, local, common),
            key=lambda option: option.rounds_to_learn,
        )
    )
    return Plan(
        n=n,
        epsilon=epsilon,
        rounds=rounds,
        cost_range=(low, high),
        feedback=feedback,
        margin=wanted,
        options=options,
        paper_bound=_paper_bound(n, rounds, half, epsilon / rounds_per_person, feedback),
        epsilon_needed=_epsilon_needed(options[0], n, rounds, half, wanted / half),
    )


def reference_stream(n: int, rounds: int, seed: int = 0) -> ItemSigns:
    """The stream, with costs in [-1, 1], on which learning is predicted."""
    return ItemSigns(n, rounds, REFERENCE_GAP, seed=seed)


def _options(
    n: int, rounds: int, half: float, margin: float, feedback: Feedback, local: bool, common: dict[str, Any]
) -> list[Option]:
    if feedback == "full information":
        return [_option("FullInformationLearner", n, rounds, half, margin, common)]
    modes = ["local"] if local else ["local", "central"]
    return [_option("BanditLearner", n, rounds, half, margin, common | {"mode": mode}) for mode in modes]


def _option(name: str, n: int, rounds: int, half: float, margin: float, arguments: dict[str, Any]) -> Option:
    learner = _made(name, n, arguments)
    if isinstance(learner, BanditLearner):
        noise, block = learner.noise_variance**0.5, learner.block
    else:
        assert isinstance(learner, FullInformationLearner)
        noise, block = learner.noise_variance**0.5, learner.block_length
    return Option(
        learner=name,
        arguments=arguments,
        local=learner.guarantee.local,
        noise=noise,
        block=block,
        regret_bound=learner.regret_bound(rounds),
        rounds_to_learn=_rounds_to_learn(learner, n, half, margin),
    )


def _made(name: str, n: int, arguments: dict[str, Any]) -> Learner:
    if name == "BanditLearner":
        return BanditLearner(n, **arguments)
    return FullInformationLearner(n, **arguments)


def _rounds_to_learn(learner: Learner, n: int, half: float, margin: float) -> float:
    """The fitted laws; `half` makes noise a number in halves of the range.

    Bandit: the variance of an estimate grows like n^2 and the signal of one item falls like 1/n. Full
    information: n noisy coordinates, each with 1/n of the signal, in blocks that grow. The less regret may
    be left, the longer it takes.
    """
    left = (REFERENCE_GAP - margin) / 0.25
    if isinstance(learner, BanditLearner):
        # What the noise and the costs themselves add to the variance, per round.
        variance = (1.0 if learner.block == 1 else 1.5) + learner.block * learner.noise_variance / half**2
        return float(5.3 * n**3 * variance / left**2.2)
    assert isinstance(learner, FullInformationLearner)
    deviation = learner.noise_variance**0.5 / half
    return float(n * (15 + 10 * deviation) / left**1.2)


def _paper_bound(n: int, rounds: int, half: float, epsilon: float, feedback: Feedback) -> float:
    if feedback == "bandit":
        H, gamma = bounds.bandit_submod_pftal_tuning(n, rounds, half, epsilon)
        return bounds.bandit_submod_pftal(n, rounds, half, epsilon, H, gamma)
    return bounds.submod_pftal(n, rounds, half, epsilon, bounds.submod_pftal_tuning(n, rounds, half, epsilon))


def _epsilon_needed(option: Option, n: int, rounds: int, half: float, margin: float) -> float | None:
    """By bisection; the predicted number of rounds falls with epsilon."""

    def enough(epsilon: float) -> bool:
        learner = _made(option.learner, n, option.arguments | {"epsilon": epsilon})
        return _rounds_to_learn(learner, n, half, margin) <= rounds

    low, high = 1e-4, 100.0
    if not enough(high):
        return None
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _help_by_epsilon(needed: float | None) -> str:
    if needed is None:
        return "No epsilon up to 100 would be enough: offer fewer items or wait for more rounds."
    caveat = ", but is hardly private" if needed > HARDLY_PRIVATE else ""
    return f"An epsilon of about {needed:.2g} would be enough{caveat}."


def two_digits(rounds: float) -> str:
    """A predicted number of rounds, no more exactly than it is known.

    Examples:
        >>> two_digits(6432.1)
        '6,400'
    """
    return f"{float(f'{rounds:.2g}'):,.0f}"


def _bound(regret: float, rounds: int, width: float) -> str:
    """A bound in words; one above the width of the range says nothing, and is not named."""
    return f"; regret at most {regret / rounds:.3g} a round" if regret < width * rounds else ""
