"""What to expect before the first person is asked: noise, regret bounds, and how long learning takes.

Bounds are proved (`docs/guarantees.md#regret`) and pessimistic. How long learning takes depends most of all
on the **effect**: how much better the best set is than the best of the usual ones (the empty set, the full
one, random ones), in costs per round. A learner has **learnt** when half of the effect is gained: when the
mean cost of all rounds so far, those of learning included, is below that of the best usual one by half of it.

`predicted_rounds` says when that is, by one law for each learner. The shapes of the laws are derived; their
constants are fitted to simulations. `python -m benchmarks plan` fits them again, and checks them on other
streams.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

from discreet import bounds, checks
from discreet.errors import InvalidArgument
from discreet.learners import BanditLearner, FullInformationLearner
from discreet.learners.arguments import cost_interval
from discreet.privacy.guarantee import rounded_up

Feedback = Literal["bandit", "full information"]

#: Predicted numbers of rounds are within this factor of simulated ones, where most of the items matter: 5.0
#: was the largest in about 600 cases. Where few items matter, learning is much faster.
WITHIN = 6.0
#: The constants of `predicted_rounds`.
BANDIT, FULL_INFORMATION = (0.62, 0.89, 1.7, 0.2), (6.0, 0.005, 1.0)
#: What effects are shown for if none is given, as parts of the range. The first is then assumed.
SHARES = (4, 10, 40)
#: Beyond this epsilon a promise says little: what is released may be thousands of times as likely.
HARDLY_PRIVATE = 8.0


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
        rounds_to_learn: Predicted rounds until half of the effect is gained.
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
        effect: How much better the best set is than the best of the empty, the full and random ones, in
            costs; None if it was not given. A quarter of the range is then assumed.
        options: The learners that fit, the one to take first.
        by_effect: Pairs of an effect and the rounds that the first option needs for it: for a quarter, a
            tenth and a fortieth of the range.
        paper_bound: The least regret bound of the paper's algorithm, corrected, for these numbers.
        epsilon_needed: The least epsilon for which the first option is predicted to learn within the rounds;
            None if none up to 100 is enough.

    Examples:
        >>> made = plan(n=4, epsilon=1.0, rounds=100_000, effect=0.4)
        >>> made.best.learner, made.enough, made.epsilon_needed < 1.0
        ('BanditLearner', True, True)
    """

    n: int
    epsilon: float
    rounds: int
    cost_range: tuple[float, float]
    feedback: Feedback
    effect: float | None
    options: tuple[Option, ...]
    by_effect: tuple[tuple[float, float], ...]
    paper_bound: float
    epsilon_needed: float | None

    @property
    def best(self) -> Option:
        """The learner to take."""
        return self.options[0]

    @property
    def enough(self) -> bool | None:
        """Whether the rounds are enough to learn; None where that is not known.

        It is known to be so only beyond the factor by which predictions may be wrong, and only for a given
        effect. Without one it is False where not even a quarter of the range would do.
        """
        if self.best.rounds_to_learn > self.rounds:
            return False
        sure = self.effect is not None and _judged(self.best.rounds_to_learn, self.rounds) == "enough"
        return True if sure else None

    def __str__(self) -> str:
        width = self.cost_range[1] - self.cost_range[0]
        given = (
            f"{self.n} items, {self.feedback}, epsilon = {rounded_up(self.epsilon)}, {self.rounds:,} rounds"
        )
        effect = (
            f"an effect of {self.by_effect[0][0]:.3g} (assumed)"
            if self.effect is None
            else f"an effect of {self.effect:.3g}"
        )
        lines = [f"{given}, costs in [{self.cost_range[0]:g}, {self.cost_range[1]:g}].", f"Take {self.best}."]
        for option in self.options:
            where = "each cost randomised by itself" if option.local else "exact sums kept in memory"
            more = " or more" if option.learner == "FullInformationLearner" else ""
            held = "" if option.block == 1 else f", blocks of {option.block} rounds{more}"
            lines.append(
                f"- {option}: {where}{held}; noise of {option.noise:.3g} (in costs) on each release; "
                f"learns {effect} in about {two_digits(option.rounds_to_learn)} rounds"
                f"{_bound(option.regret_bound, self.rounds, width)}."
            )
        if self.paper_bound < width * self.rounds:
            rate = self.paper_bound / self.rounds
            lines.append(f"The paper's algorithm, corrected and tuned: regret at most {rate:.3g} a round.")
        if any(option.regret_bound >= width * self.rounds for option in self.options):
            lines.append("Where no bound is named, the proved one says nothing for so few rounds.")
        lines += self._verdict(effect)
        lines.append(
            "The effect is how much better the best set is than the best of the empty, the full and random "
            "ones, in costs. To learn it means to gain half of it, over all rounds, those of learning "
            f"included. Numbers of rounds are predicted within a factor of {WITHIN:g} where most items "
            "matter; far fewer are needed where few do. Bounds hold for every stream, and usual streams stay "
            "far below them."
        )
        return "\n".join(lines)

    def _verdict(self, effect: str) -> list[str]:
        if self.enough is False:
            few = f"WARNING: {self.rounds:,} rounds are not enough for {effect}."
            return [
                f"{few} It will hardly beat a fixed or random choice. {_help_by_epsilon(self.epsilon_needed)}"
            ]
        if self.effect is not None:
            judged = _judged(self.best.rounds_to_learn, self.rounds)
            return [f"{self.rounds:,} rounds are {judged} for {effect}."]
        table = [
            f"- {size:.3g} (1/{share} of the range): about {two_digits(needed)} rounds, "
            f"{_judged(needed, self.rounds)}"
            for share, (size, needed) in zip(SHARES, self.by_effect, strict=True)
        ]
        return ["CAUTION: no effect was given, and most depends on it. Plan again with yours:", *table]


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
    effect: float | None = None,
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
        effect: How much better the best set is than the best of the empty, the full and random ones, in
            costs per round: a guess, a goal, or what public data show. Half of it needs about eight times as
            many rounds (bandit) or up to four times (full information), so without it little can be said.

    Examples:
        >>> made = plan(n=8, epsilon=1.0, rounds=1_000_000, cost_range=(0, 1), effect=0.2)
        >>> made.best.arguments["mode"], made.enough
        ('central', True)
        >>> plan(n=8, epsilon=1.0, rounds=1_000_000, cost_range=(0, 1), effect=0.01).enough
        False
        >>> print(plan(n=8, epsilon=1.0, rounds=1_000_000, cost_range=(0, 1)).enough)  # it depends
        None
    """
    n, rounds = checks.integer("plan", "n", n, 1), checks.integer("plan", "rounds", rounds, 1)
    epsilon = checks.positive_number("plan", "epsilon", epsilon)
    low, high = cost_interval("plan", cost_range, maximize=False)
    half = 0.5 * high - 0.5 * low
    if effect is not None and checks.positive_number("plan", "effect", effect) > high - low:
        raise checks.invalid_argument(
            "plan", "effect", f"at most {high - low:g}, the width of the range", effect
        )
    effects = [(high - low) / share for share in SHARES]
    assumed = effects[0] if effect is None else float(effect)
    if feedback not in ("bandit", "full information"):
        raise checks.invalid_argument("plan", "feedback", "'bandit' or 'full information'", feedback)
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
            _options(n, rounds, half, assumed, feedback, local, common),
            key=lambda option: option.rounds_to_learn,
        )
    )
    best = _made(options[0].learner, n, options[0].arguments)
    return Plan(
        n=n,
        epsilon=epsilon,
        rounds=rounds,
        cost_range=(low, high),
        feedback=feedback,
        effect=None if effect is None else assumed,
        options=options,
        by_effect=tuple((size, predicted_rounds(best, half, size)) for size in effects),
        paper_bound=_paper_bound(n, rounds, half, epsilon / rounds_per_person, feedback),
        epsilon_needed=_epsilon_needed(options[0], n, rounds, half, assumed),
    )


def predicted_rounds(
    learner: BanditLearner[Any] | FullInformationLearner[Any],
    half: float,
    effect: float,
    constants: Sequence[float] | None = None,
) -> float:
    """How many rounds it takes to gain half of an effect; `half` is half the width of the range of costs.

    In halves of the range, let E be the effect and v the variance of a released number.

    *Bandit.* After t updates the step is about (v t^2)^(-1/3), and an item's gradient is E / n: levels have
    moved far after n^3 v / E^3 rounds. Exploration takes a part n (v / t)^(1/3) of the rounds, which matters
    where E is large. Bounds on the regret fall in the same way, so the law is the same where items help only
    together. Where only k of the items matter, their gradients are E / k, and it takes about k^3 / n^3 of
    these rounds. In central mode v hardly changes, and an update takes 5.7 / epsilon rounds, at least two.

    *Full information.* At first the step is about v^(-1/2), and levels have moved far after n v^(1/2) / E
    rounds. Later it falls like one over the square root of the released energy, in blocks of about
    64 n^(1/2) / epsilon rounds: that takes n (n^(1/2) epsilon v + 1) / E^2 rounds, up to constants. (The 1
    is the gradients' own energy.)
    """
    n, inverse = len(learner.items), half / effect
    epsilon = (learner.guarantee.epsilon or 0.0) / learner.guarantee.rounds_per_person
    variance = learner.noise_variance / half**2
    if isinstance(learner, BanditLearner):
        signal, exploration, blocks, least = constants or BANDIT
        root = n * (signal * inverse + exploration)
        return float(root * root * root * (variance if learner.mode == "local" else blocks / epsilon + least))
    growing, noise, energy = constants or FULL_INFORMATION
    late = noise * n**0.5 * epsilon * variance + energy
    return float(n * inverse * (growing * variance**0.5 + late * inverse))


def _options(
    n: int, rounds: int, half: float, effect: float, feedback: Feedback, local: bool, common: dict[str, Any]
) -> list[Option]:
    if feedback == "full information":
        return [_option("FullInformationLearner", n, rounds, half, effect, common)]
    modes = ["local"] if local else ["local", "central"]
    return [_option("BanditLearner", n, rounds, half, effect, common | {"mode": mode}) for mode in modes]


def _option(name: str, n: int, rounds: int, half: float, effect: float, arguments: dict[str, Any]) -> Option:
    learner = _made(name, n, arguments)
    return Option(
        learner=name,
        arguments=arguments,
        local=learner.guarantee.local,
        noise=learner.noise_variance**0.5,
        block=learner.block if isinstance(learner, BanditLearner) else learner.block_length,
        regret_bound=learner.regret_bound(rounds),
        rounds_to_learn=predicted_rounds(learner, half, effect),
    )


def _made(name: str, n: int, arguments: dict[str, Any]) -> BanditLearner[Any] | FullInformationLearner[Any]:
    if name == "BanditLearner":
        return BanditLearner(n, **arguments)
    return FullInformationLearner(n, **arguments)


def _paper_bound(n: int, rounds: int, half: float, epsilon: float, feedback: Feedback) -> float:
    if feedback == "bandit":
        H, gamma = bounds.bandit_submod_pftal_tuning(n, rounds, half, epsilon)
        return bounds.bandit_submod_pftal(n, rounds, half, epsilon, H, gamma)
    return bounds.submod_pftal(n, rounds, half, epsilon, bounds.submod_pftal_tuning(n, rounds, half, epsilon))


def _epsilon_needed(option: Option, n: int, rounds: int, half: float, effect: float) -> float | None:
    """By bisection; the predicted number of rounds falls with epsilon."""

    def enough(epsilon: float) -> bool:
        learner = _made(option.learner, n, option.arguments | {"epsilon": epsilon})
        return predicted_rounds(learner, half, effect) <= rounds

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
    return f"An epsilon of about {needed:.2g} is predicted to be enough{caveat}."


def _judged(needed: float, rounds: int) -> str:
    if needed > rounds:
        return "not enough"
    return "enough" if needed * WITHIN <= rounds else "perhaps enough"


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
