"""BanditLearner: each cost is made private by itself, and all the rest is post-processing."""

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.bounds.dual_averaging import bandit_dual_averaging, bandit_tuning, start_range
from discreet.errors import InvalidArgument
from discreet.learners.arguments import cost_interval, first_point, keeps_arguments, named_items
from discreet.learners.bandit_core import (
    RELEASED,
    UPDATES,
    BanditCore,
    learn_released,
    new_bandit_core,
    step_of,
)
from discreet.learners.base import EXPIRE_AFTER
from discreet.learners.decision import Decision, Item
from discreet.learners.draw import TOLD, Draw
from discreet.learners.feedback import BanditFeedback
from discreet.learners.scalar_release import AsBit, with_laplace
from discreet.privacy.budget import Budget
from discreet.privacy.grid import DEFAULT_UNITS
from discreet.privacy.noise import variance
from discreet.randomizers.blocks import LONGEST_BLOCK, Blocks, best_length
from discreet.randomizers.one_bit import OneBit
from discreet.randomness import BitArray, BitSource, Seed, as_source

Mode = Literal["local", "central"]

#: What the tuning of least bound is multiplied by: a larger bound, and about half the regret on the stream of
#: `benchmarks/bench_regret.py`. See `docs/guarantees.md#regret`.
EXPLORATION, STEP = 0.4, 3.0
#: Central blocks are this many times as long as `Blocks` would have them: the baseline takes most of the
#: costs' own second moment away, which pays for longer blocks.
LONGER_BLOCKS = 2
#: Stands for a cost that was left out: a mistake in a program, and no value.
NOTHING: Any = object()


class BanditLearner(BanditFeedback[Item]):
    """Choose subsets, be told what the chosen one cost, keep every cost private.

    Args:
        items: The number of items, or their names in a fixed order: a list or a tuple, not a set.
        epsilon: What one person may lose, in all their rounds.
        cost_range: The range of costs (of rewards, where they are maximised), declared beforehand. Others
            are clipped.
        mode: "local": every cost becomes one random bit on arrival, and nothing else of it is kept.
            "central": a set is played for a block of rounds, and the mean of its costs is released with
            noise; less regret, the more so the smaller epsilon, but exact sums are kept while a block is
            open.
        block: Rounds in a block, in central mode; about 5.7 / epsilon by default.
        maximize: Whether large values are good. Regret bounds need supermodular rewards: complements.
        rounds_per_person: In how many rounds one person may appear; each gets epsilon divided by it.
        start: The first point: n levels in [0, 1], or a set of items.
        exploration: Multiplies the exploration of least regret bound.
        step: Multiplies the step of least regret bound.
        expire_after: A decision that was not told about when so many more have been made counts as the middle
            of the range. (Where costs are missing more often for some sets than for others, that is a bias.)
        seed: Makes a run repeatable and not private.
        source: Random bits, instead of a seed.

    Formal guarantees:
        Neighbours: streams that differ in one cost function (with `rounds_per_person` = k, in k). *Local*:
        the cost of the chosen set is clipped, put on an integer grid and turned into one bit whose
        likelihood ratios are at most exp(epsilon / k) exactly; decisions, point, mean cost and saved files
        are computed from bits. *Central*: a cost enters one block sum, which it moves by at most the width
        of the range; the noise is discrete Laplace of scale width * k / epsilon; a block that does not fill
        is never released. Proof: `docs/guarantees.md#bandit-loop`. Regret: `bounds.bandit_dual_averaging`.

    Examples:
        >>> learner = BanditLearner(["tea", "milk", "sugar"], epsilon=1.0, cost_range=(0, 1), maximize=True)
        >>> decision = learner.ask()
        >>> learner.tell(decision, 0.7)
        >>> learner.guarantee.local, learner.rounds
        (True, 1)

        A client can make the bit itself, so that nobody else ever sees the number:

        >>> bit = learner.randomizer().release(0.7)
        >>> learner.tell(learner.ask(), released=bit)
    """

    _core: BanditCore

    @keeps_arguments
    def __init__(
        self,
        items: int | Iterable[Item],
        epsilon: float | Fraction,
        cost_range: tuple[float, float],
        *,
        mode: Mode = "local",
        block: int | None = None,
        maximize: bool = False,
        rounds_per_person: int = 1,
        start: npt.ArrayLike | Iterable[Hashable] | None = None,
        exploration: float = EXPLORATION,
        step: float = STEP,
        expire_after: int = EXPIRE_AFTER,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "BanditLearner"
        names = named_items(owner, items)
        low, high = cost_interval(owner, cost_range, maximize)
        bits = as_source(source, seed, owner=owner)
        budget = Budget.of(owner, epsilon, rounds_per_person)
        if mode not in ("local", "central"):
            raise checks.invalid_argument(owner, "mode", "'local' or 'central'", mode)
        self._randomizer: OneBit | None = None
        if mode == "local":
            if block is not None:
                raise InvalidArgument(
                    "A 'block' needs mode='central': local learners release every cost by itself."
                )
            randomizer = OneBit(budget.per_round, (-high, -low) if maximize else (low, high))
            self._randomizer = randomizer
            kind: Any = AsBit(randomizer.slope, round(randomizer.magnitude))
            length = 1
            noise = moment = randomizer.second_moment
        else:
            length = min(LONGER_BLOCKS * best_length(budget.per_round), LONGEST_BLOCK)
            if block is not None:
                length = checks.integer(owner, "block", block, 1, LONGEST_BLOCK)
            blocks = Blocks(budget.per_round, (low, high), length=length, source=bits)
            kind = with_laplace(blocks.law)
            noise = variance(blocks.law) / (length * DEFAULT_UNITS) ** 2
            moment = 1 + noise
        a, b = bandit_tuning(len(names), moment)
        core = new_bandit_core(
            kind=kind,
            low=low,
            high=high,
            units=DEFAULT_UNITS,
            length=length,
            exploration=a * checks.positive_number(owner, "exploration", exploration),
            step=b * checks.positive_number(owner, "step", step),
            prior=moment,
            start=first_point(owner, "start", start, names),
        )
        super().__init__(
            names,
            core,
            bits,
            budget.guarantee(bits, proof="bandit-loop", local=mode == "local"),
            maximize=maximize,
            expire_after=expire_after,
        )
        self.mode: Mode = mode
        self._second_moment = moment
        self._half = 0.5 * high - 0.5 * low
        self.noise_variance = noise * self._half**2
        self._rounds_per_draw = length
        self._takes_available = length == 1

    @property
    def block(self) -> int:
        """For how many rounds a set is held; 1 in local mode."""
        return self._core.length

    @property
    def step(self) -> float:
        """The step now: levels are start - step * (sum of all gradient estimates, in costs). It falls.

        The argument of this name multiplies it.
        """
        return step_of(self._core) / self._half

    @property
    def mean_cost(self) -> float | None:
        """The mean of all costs (or rewards) so far, from what was released of them; None before any was."""
        core = self._core
        updates, released = core.rounds[UPDATES], core.rounds[RELEASED]
        if updates == 0:
            return None
        mean = released / (updates * core.length) / core.units
        return float(self._sign * (core.low + self._half + mean * self._half))

    def regret_bound(self, rounds: int) -> float:
        """The expected regret over so many rounds is at most this; proved in `docs/guarantees.md#regret`.

        It holds for submodular costs in the declared range that an adversary fixed beforehand, each told
        before the next set is drawn.
        """
        core = self._core
        return bandit_dual_averaging(
            len(self.items),
            rounds,
            self._half,
            self._second_moment + 3,  # what a baseline on the wrong side can add
            core.exploration,
            core.step,
            block=core.length,
            start_range=start_range(core.start),
        )

    def tell(self, decision: Decision | int, cost: Any = NOTHING, *, released: int | None = None) -> None:
        """Learn from the cost of a decision.

        Args:
            decision: What `ask` returned, or its id; in any order, however late, but once.
            cost: A private number. Outside the declared range it is clipped; what is no
                finite number counts as the middle of the range. Nothing is raised for any value.
            released: In local mode, instead of a cost: the bit that :meth:`randomizer` made of it. If it
                carries another epsilon or range (see `randomizers.Bit`), it is refused.
        """
        if released is None:
            if cost is NOTHING:
                raise TypeError("tell() needs a 'cost', or in local mode a 'released' bit.")
            super().tell(decision, cost)
            return
        if self._randomizer is None or not (cost is NOTHING or cost is None):
            raise InvalidArgument("A 'released' bit is told to a local BanditLearner, instead of a cost.")
        whole = isinstance(released, int | np.integer) and not isinstance(released, bool)
        if not whole or released not in (0, 1):  # not quoted: it may be the cost, given in the wrong place
            raise InvalidArgument("The 'released' bit told to BanditLearner must be 0 or 1.")
        if not self._randomizer.fits(released):
            made_by = getattr(released, "randomizer", "")
            raise InvalidArgument(
                f"The 'released' bit was made by {made_by}, and this learner takes those of "
                f"{self._randomizer!r}: make bits with its `randomizer()`."
            )
        if self.guarantee.private and not getattr(released, "private", True):
            raise InvalidArgument("The 'released' bit was made with a seed, and this learner is private.")
        with self._alone():
            name = self._number_of(decision)
            self._learn(name, self._bit_step(self._pending[name], int(released)))

    def randomizer(self, source: BitSource | None = None) -> OneBit:
        """What makes bits for this local learner, on the person's own device.

        It has the declared range, and the share of epsilon that one round has where a person may appear in
        several. A value, cost or reward, is released as it would be told.

        Args:
            source: Random bits; straight from the operating system by default.

        Examples:
            >>> learner = BanditLearner(3, epsilon=1.0, cost_range=(0, 1), rounds_per_person=5)
            >>> learner.randomizer()
            OneBit(epsilon=0.2, cost_range=(0.0, 1.0))
        """
        if self._randomizer is None:
            raise InvalidArgument("Only a local BanditLearner takes bits: this one is told costs.")
        grid = self._randomizer.grid
        return OneBit(self._randomizer.epsilon, (grid.low, grid.high), source=source)

    def _bit_step(self, draw: Draw, bit: int) -> Callable[[BitArray, int], int]:
        number = self._core.kind.magnitude * (1 if (bit == 1) == (self._sign > 0) else -1)

        def step(bits: BitArray, cursor: int) -> int:
            # Counted first: an interruption may lose a round, never count it twice.
            self._core.rounds[0] += 1
            draw.numbers[TOLD] = 1
            learn_released(self._core, draw, number)
            return cursor

        return step
