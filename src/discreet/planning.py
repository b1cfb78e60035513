"""What to expect before the first round: noise, regret bounds, and how long learning takes.

A learner has learned when it has gained half of the effect (see `plan`), over all rounds so far. When that is
follows laws whose form is derived; their constants are fitted to simulations (`python -m benchmarks plan`
does it again, and checks them on other streams). Bounds are proved and pessimistic.
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

#: Predictions are within this factor of simulations where most of the items matter (5.0 was the largest of
#: about 600 cases). Where few items matter, learning is much faster.
WITHIN = 6.0
#: The constants of `predicted_rounds`.
BANDIT, FULL_INFORMATION = (0.62, 0.89, 1.7, 0.2), (6.0, 0.005, 1.0)
#: If no effect is given, the range divided by these is shown, and the first is assumed.
SHARES = (4, 10, 40)
#: Beyond this epsilon a guarantee means little: what is released may be thousands of times as likely.
HARDLY_PRIVATE = 8.0


@dataclasses.dataclass(frozen=True)
class Option:
    """One learner that could be used."""

    learner: str  # the name of its class in `discreet`
    arguments: dict[str, Any]  # what to call it with, besides the items
    local: bool  # whether each cost is randomised separately
    noise: float  # standard deviation, in costs, of a released mean (bandit), or entry of a sum
    block: int  # for how many rounds a set or a point is held (at first)
    regret_bound: float  # of expected regret over all rounds
    rounds_to_learn: float  # predicted, until half of the effect is gained

    def __str__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.learner}(items, {listed})"


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to expect; `print(plan)` shows it as text. What was given is as in `plan`.

    Attributes:
        options: The learners that fit, the recommended one first.
        by_effect: Effects of a quarter, a tenth and a fortieth of the range, each with the rounds it needs.
        paper_bound: The least regret bound of the paper's algorithm, corrected, for these numbers.
        epsilon_needed: The least epsilon that is predicted to be enough; None if none up to 100 is.

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
        """The recommended learner."""
        return self.options[0]

    @property
    def enough(self) -> bool | None:
        """Whether the rounds are enough to learn the effect; None where predictions cannot tell."""
        judged = self._judged(self.best.rounds_to_learn)
        if judged == "not enough":
            return False
        return True if judged == "enough" and self.effect is not None else None

    def __str__(self) -> str:
        low, high = self.cost_range
        effect = f"an effect of {self.by_effect[0][0]:.3g} (assumed)"
        if self.effect is not None:
            effect = f"an effect of {self.effect:.3g}"
        given = f"{self.n} items, {self.feedback}, epsilon = {rounded_up(self.epsilon)}"
        lines = [f"{given}, {self.rounds:,} rounds, costs in [{low:g}, {high:g}].", f"Take {self.best}."]
        trivial = (high - low) * self.rounds  # a bound above the width of the range says nothing
        for option in self.options:
            where = "each cost randomised separately" if option.local else "exact sums kept in memory"
            more = " or more" if option.learner == "FullInformationLearner" else ""
            held = "" if option.block == 1 else f", blocks of {option.block} rounds{more}"
            regret = option.regret_bound
            bound = f"; regret at most {regret / self.rounds:.3g} per round" if regret < trivial else ""
            lines.append(
                f"- {option}: {where}{held}; noise of {option.noise:.3g} (in costs) on each release; "
                f"learns {effect} in about {two_digits(option.rounds_to_learn)} rounds{bound}."
            )
        if self.paper_bound < trivial:
            rate = self.paper_bound / self.rounds
            lines.append(f"The paper's algorithm, corrected and tuned: regret at most {rate:.3g} per round.")
        if any(option.regret_bound >= trivial for option in self.options):
            lines.append("Where no bound is given, the proved one says nothing for so few rounds.")
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
            needed = self.epsilon_needed
            advice = "No epsilon up to 100 would be enough: offer fewer items or wait for more rounds."
            if needed is not None:
                caveat = ", but is hardly private" if needed > HARDLY_PRIVATE else ""
                advice = f"An epsilon of about {needed:.2g} is predicted to be enough{caveat}."
            few = f"WARNING: {self.rounds:,} rounds are not enough for {effect}."
            return [f"{few} It will hardly beat a fixed or random choice. {advice}"]
        if self.effect is not None:
            return [f"{self.rounds:,} rounds are {self._judged(self.best.rounds_to_learn)} for {effect}."]
        table = [
            f"- {size:.3g} (1/{part} of the range): about {two_digits(needed)} rounds, {self._judged(needed)}"
            for part, (size, needed) in zip(SHARES, self.by_effect, strict=True)
        ]
        return ["CAUTION: no effect was given, and most depends on it. Plan again with yours:", *table]

    def _judged(self, needed: float) -> str:
        if needed > self.rounds:
            return "not enough"
        return "enough" if needed * WITHIN <= self.rounds else "perhaps enough"


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

    With `local` only learners that randomise each cost fit. The `effect` is how much better the best set is
    than the best of the empty, the full and random ones, in costs per round: a guess, a goal, or what public
    data show. Without it little can be said, and a quarter of the range is assumed.

    Examples:
        >>> made = plan(n=8, epsilon=1.0, rounds=1_000_000, cost_range=(0, 1), effect=0.2)
        >>> made.best.arguments["mode"], made.enough
        ('central', True)
    """
    n, rounds = checks.integer("plan", "n", n, 1), checks.integer("plan", "rounds", rounds, 1)
    epsilon = checks.positive_number("plan", "epsilon", epsilon)
    low, high = cost_interval("plan", cost_range, maximize=False)
    half = 0.5 * high - 0.5 * low
    if effect is not None and checks.positive_number("plan", "effect", effect) > high - low:
        wanted = f"at most {high - low:g}, the width of the range"
        raise checks.invalid_argument("plan", "effect", wanted, effect)
    effects = [(high - low) / share for share in SHARES]
    assumed = effects[0] if effect is None else float(effect)
    checks.one_of("plan", "feedback", feedback, ("bandit", "full information"))
    if feedback == "full information" and local:
        raise InvalidArgument("No learner for full information is local: gradients are summed, then noised.")
    if feedback == "bandit" and gradient_bound is not None:
        raise InvalidArgument("A 'gradient_bound' is for full information.")
    arguments: dict[str, Any] = {"epsilon": epsilon, "cost_range": (low, high)}
    if rounds_per_person != 1:
        arguments["rounds_per_person"] = rounds_per_person
    if gradient_bound is not None:
        arguments["gradient_bound"] = gradient_bound
    modes: list[dict[str, str]] = [{"method": "blocks"}]
    if feedback == "bandit":
        modes = [{"mode": "local"}] if local else [{"mode": "local"}, {"mode": "central"}]
    options = [_option(n, rounds, half, assumed, arguments | mode) for mode in modes]
    options.sort(key=lambda option: option.rounds_to_learn)
    best = _made(n, options[0].arguments)
    return Plan(
        n=n,
        epsilon=epsilon,
        rounds=rounds,
        cost_range=(low, high),
        feedback=feedback,
        effect=None if effect is None else assumed,
        options=tuple(options),
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
    where E is large. In central mode v hardly changes, and an update takes 5.7 / epsilon rounds.

    *Full information.* At first the step is about v^(-1/2), and levels have moved far after n v^(1/2) / E
    rounds. Later it falls with the released energy, in blocks of about 64 n^(1/2) / epsilon rounds: that
    takes n (n^(1/2) epsilon v + 1) / E^2 rounds; the 1 is the gradients' own energy.
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


def _option(n: int, rounds: int, half: float, effect: float, arguments: dict[str, Any]) -> Option:
    learner = _made(n, arguments)
    return Option(
        learner=type(learner).__name__,
        arguments=arguments,
        local=learner.guarantee.local,
        noise=learner.noise_variance**0.5,
        block=learner.block if isinstance(learner, BanditLearner) else learner.block_length,
        regret_bound=learner.regret_bound(rounds),
        rounds_to_learn=predicted_rounds(learner, half, effect),
    )


def _made(n: int, arguments: dict[str, Any]) -> BanditLearner[Any] | FullInformationLearner[Any]:
    return BanditLearner(n, **arguments) if "mode" in arguments else FullInformationLearner(n, **arguments)


def _paper_bound(n: int, rounds: int, half: float, epsilon: float, feedback: Feedback) -> float:
    if feedback == "bandit":
        H, gamma = bounds.bandit_submod_pftal_tuning(n, rounds, half, epsilon)
        return bounds.bandit_submod_pftal(n, rounds, half, epsilon, H, gamma)
    return bounds.submod_pftal(n, rounds, half, epsilon, bounds.submod_pftal_tuning(n, rounds, half, epsilon))


def _epsilon_needed(option: Option, n: int, rounds: int, half: float, effect: float) -> float | None:
    """By bisection; the predicted number of rounds falls with epsilon."""

    def enough(epsilon: float) -> bool:
        learner = _made(n, option.arguments | {"epsilon": epsilon})
        return predicted_rounds(learner, half, effect) <= rounds

    low, high = 1e-4, 100.0
    if not enough(high):
        return None
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def two_digits(rounds: float) -> str:
    """A predicted number of rounds, with no more digits than are known."""
    return f"{float(f'{rounds:.2g}'):,.0f}"
