"""What to expect before the first round: noise, regret bounds, and how long learning takes.

A learner has learned when it has gained half of the effect (see `plan`), over all rounds so far. When that is
follows laws whose form is derived; their constants are fitted to simulations (`python -m benchmarks plan`
does it again, and checks them on other streams). Bounds are proved and pessimistic.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal

from discreet import bounds, checks
from discreet.errors import InvalidArgument
from discreet.frames import Library, make_frame
from discreet.html import as_html
from discreet.kernel.choice import Choice
from discreet.learners import BanditLearner, FullInformationLearner, bandit, full_information
from discreet.learners.arguments import cost_interval
from discreet.privacy.guarantee import rounded_up

Feedback = Literal["bandit", "full information"]
Made = BanditLearner[Any] | FullInformationLearner[Any]

#: Predictions are within this factor of simulations where single items or pairs tell something.
WITHIN = 6.0
#: The constants of `predicted_rounds`, by the name of a law.
LAWS: dict[str, tuple[float, ...]] = {
    "model, central": (1.1, 27.0),
    "model, local": (5.5,),
    "worst-case": (0.62, 0.89, 1.7, 0.2),
    "choose": (2.2, 1.0),
    "leader": (1.1, 0.53),
}
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
    noise: float  # standard deviation of the noise on what `released` names, in costs
    released: str
    regret_bound: float | None  # of expected regret over all rounds; None for the model, which has none
    rounds_to_learn: float  # predicted, until half of the effect is gained
    rounds_per_person: int
    epsilon_per_round: float

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
            where = "each cost randomised separately" if option.local else "exact sums kept until released"
            lines.append(
                f"- {option}: {where}; noise of {option.noise:.3g} (in costs) on {option.released}; "
                f"learns {effect} in about {two_digits(option.rounds_to_learn)} rounds; "
                f"{self._bound(option.regret_bound, trivial)}."
            )
        if self.paper_bound < trivial:
            rate = self.paper_bound / self.rounds
            lines.append(f"The paper's algorithm, corrected and tuned: regret at most {rate:.3g} per round.")
        lines += self._verdict(effect)
        lines.append(
            "The effect is how much better the best set is than the best of the empty, the full and random "
            "ones, in costs. To learn it means to gain half of it, over all rounds, those of learning "
            f"included. Numbers of rounds are predicted within a factor of {WITHIN:g} where most items "
            "matter, alone or in pairs. Far fewer are needed where few matter; far more may be needed where "
            "items help only in larger groups. Bounds hold for every stream of submodular costs, and usual "
            "streams stay far below them."
        )
        return "\n".join(lines)

    def to_frame(self, library: Library | None = None) -> Any:
        """A row per learner that fits, as a frame of polars or pandas."""
        rows = [dataclasses.asdict(option) | {"arguments": str(option)} for option in self.options]
        return make_frame({name: [row[name] for row in rows] for name in rows[0]}, library)

    def _repr_html_(self) -> str:
        rows = {str(option): f"about {two_digits(option.rounds_to_learn)} rounds" for option in self.options}
        effect = "an effect" if self.effect is None else f"an effect of {self.effect:.3g}"
        title = f"Plan for {self.n} items and {self.rounds:,} rounds: until {effect} is learned"
        return as_html(title, rows, " ".join(self._verdict(effect)))

    def _bound(self, regret: float | None, trivial: float) -> str:
        if regret is None:
            return "no proved bound"
        if regret >= trivial:
            return "its proved bound says nothing for so few rounds"
        return f"regret at most {regret / self.rounds:.3g} per round"

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
    delta: float = 0.0,
    effect: float | None = None,
) -> Plan:
    """What to expect of n items, epsilon and so many rounds, and which learner to take.

    With `local` only learners that randomise each cost fit. The `effect` is how much better the best set is
    than the best of the empty, the full and random ones, in costs per round: a guess, a goal, or what public
    data show. Without it little can be said, and a quarter of the range is assumed.

    One person may appear in `rounds_per_person` rounds. A `delta` is for local bandits.

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
    if feedback == "full information" and delta:
        raise InvalidArgument("A 'delta' is for local bandits, and full information is summed.")
    arguments: dict[str, Any] = {"epsilon": epsilon, "cost_range": (low, high)}
    rounds_per_person = checks.integer("plan", "rounds_per_person", rounds_per_person, 1)
    if rounds_per_person > 1:
        arguments["rounds_per_person"] = rounds_per_person
    kinds: list[dict[str, str]] = [{"method": full_information.default_method(n)}]
    if feedback == "bandit":
        modes = ["local"] if local else ["central", "local"]
        kinds = [{"mode": mode, "method": bandit.default_method(n)} for mode in modes]

    def needed(learner: Made) -> float:
        return predicted_rounds(learner, half, assumed)

    def option(kind: dict[str, Any]) -> Option:
        given = arguments | kind
        if delta and rounds_per_person > 1 and kind.get("mode") == "local":
            given["delta"] = delta
        return _option(n, rounds, given, needed)

    options = sorted(map(option, kinds), key=lambda each: each.rounds_to_learn)
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
        paper_bound=_paper_bound(n, rounds, half, epsilon / options[0].rounds_per_person, feedback),
        epsilon_needed=_epsilon_needed(options[0], n, rounds, needed),
    )


def predicted_rounds(
    learner: Made,
    half: float,
    effect: float,
    constants: Sequence[float] | None = None,
) -> float:
    """How many rounds it takes to gain half of an effect; `half` is half the width of the range of costs.

    In halves of the range, let E be the effect and s the standard deviation of the noise (`released_noise`).

    *Model.* An item's part of the effect is E / n. Every set that is played tells something of every item:
    with noise of variance s^2 on every cost, t rounds show an item's part with a variance of s^2 / t, so a
    local learner takes s^2 (n / E)^2 rounds. In central mode costs vary by themselves, by at most 1: that
    takes (n / E)^2 rounds. And n sets, each for so many rounds that its sum stands out from the noise, take
    n s / E rounds.

    *Choose.* The largest noise on the totals of 2^n sets is about n s, which t rounds outweigh when t E is
    larger; chance outweighs the effect for n / E^2 rounds. *Leader*: an item's sum is t E / n, its noise s,
    and chance makes it (t / n)^(1/2), so both terms are the same.

    *Worst case.* With a variance v of a released number, after t updates the step is about (v t^2)^(-1/3),
    and an item's gradient is E / n: levels have moved far after n^3 v / E^3 rounds. Exploration takes a part
    n (v / t)^(1/3) of the rounds, which matters where E is large. In central mode v hardly changes, and an
    update takes 5.7 / epsilon rounds.
    """
    n, inverse = len(learner.items), half / effect
    noise, law = released_noise(learner) / half, law_of(learner)
    given = constants or LAWS[law]
    if law == "model, local":
        return float(given[0] * (noise * n * inverse) ** 2)
    if law == "model, central":
        chance, summed = given
        return float(n * inverse * (chance * n * inverse + summed * noise))
    if law in ("choose", "leader"):
        summed, chance = given
        return float(n * inverse * (summed * noise + chance * inverse))
    signal, exploration, blocks, least = given
    root = n * (signal * inverse + exploration)
    epsilon = (learner.guarantee.epsilon or 0.0) / learner.guarantee.rounds_per_person
    local = learner.guarantee.local
    return float(root * root * root * (noise * noise if local else blocks / epsilon + least))


def law_of(learner: Made) -> str:
    """The name of the law that predicts for a learner."""
    method: str = learner.method
    if isinstance(learner, BanditLearner) and method == "model":
        return f"model, {learner.mode}"
    if method not in LAWS:
        raise InvalidArgument(f"Nothing is predicted for method={method!r}.")
    return method


def released_noise(learner: Made) -> float:
    """The standard deviation of the noise on what a learner first releases, in costs."""
    release, query = learner.learner.release, learner.learner.query
    if isinstance(release, Choice):
        return float(release.scale * query.bound.step)
    return float(learner.noise_variance**0.5)


def _released(learner: Made) -> str:
    if learner.guarantee.local:
        return "each cost"
    named = {"model": "the sum of a set's costs", "choose": "the total of each set"}
    if isinstance(learner, BanditLearner):
        named["worst-case"] = f"the mean of {learner.block} costs"
    return named.get(learner.method, "the sum of each item")


def _option(n: int, rounds: int, arguments: dict[str, Any], needed: Callable[[Made], float]) -> Option:
    learner = _made(n, arguments)
    release: Any = learner.learner.release
    return Option(
        learner=type(learner).__name__,
        arguments=arguments,
        local=learner.guarantee.local,
        noise=released_noise(learner),
        released=_released(learner),
        regret_bound=learner.regret_bound(rounds) if learner.method != "model" else None,
        rounds_to_learn=needed(learner),
        rounds_per_person=learner.guarantee.rounds_per_person,
        epsilon_per_round=float(release.budget.per_round),
    )


def _made(n: int, arguments: dict[str, Any]) -> Made:
    return BanditLearner(n, **arguments) if "mode" in arguments else FullInformationLearner(n, **arguments)


def _paper_bound(n: int, rounds: int, half: float, epsilon: float, feedback: Feedback) -> float:
    if feedback == "bandit":
        H, gamma = bounds.bandit_submod_pftal_tuning(n, rounds, half, epsilon)
        return bounds.bandit_submod_pftal(n, rounds, half, epsilon, H, gamma)
    return bounds.submod_pftal(n, rounds, half, epsilon, bounds.submod_pftal_tuning(n, rounds, half, epsilon))


def _epsilon_needed(option: Option, n: int, rounds: int, needed: Callable[[Made], float]) -> float | None:
    """By bisection; the predicted number of rounds falls with epsilon."""

    def enough(epsilon: float) -> bool:
        return needed(_made(n, option.arguments | {"epsilon": epsilon})) <= rounds

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
