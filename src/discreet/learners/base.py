"""The bits that users know: `ask` for a set, `tell` what it cost."""

from __future__ import annotations

import contextlib
import inspect
import os
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Generic, Self, overload

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.atomic_files import written_beside
from discreet.checks import FloatArray, IntArray
from discreet.errors import (
    AlreadyTold,
    Expired,
    HorizonReached,
    InvalidArgument,
    InvalidType,
    UnknownDecision,
)
from discreet.learners import pending
from discreet.learners.arguments import counted, notes_arguments, restored_argument
from discreet.learners.core import choose, horizon_of
from discreet.learners.decision import Decision, Item
from discreet.learners.draw import SIZE, Draw, new_draw
from discreet.learners.files import TAKEN
from discreet.learners.restored import check_core
from discreet.privacy.exclusive import Exclusive, overwrite
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray, BitSource, Seed

#: After so many further decisions one that was never told about is closed, unless a learner is told
#: otherwise.
EXPIRE_AFTER = 100_000


class Learner(Exclusive, Generic[Item]):
    """Chooses subsets and learns from their costs.

    Subclasses build a `core` (see `discreet.learners.core`) and say what it guarantees. Their constructors
    take the items first, and are decorated with `keeps_arguments`, so that they can be saved and simulated.

    Args:
        items: The names of the items (see `named_items`).
        core: The compiled parts.
        source: Random bits, the same that the core's noise is made of.
        guarantee: What is promised to each person.
        maximize: Whether feedback is a reward to be made large, not a cost.
        expire_after: A decision that has not been told about when so many more have been asked for
            is learnt from as if its cost were the middle of the range.

    Attributes:
        items: The items' names, in order.
        expire_after: As above.

    Examples:
        >>> from discreet import BanditLearner
        >>> learner = BanditLearner(["tea", "milk"], epsilon=1.0, cost_range=(0, 1))
        >>> isinstance(learner, Learner), learner.items, learner.point
        (True, ('tea', 'milk'), array([0.5, 0.5]))
    """

    #: How many decisions in a row get one drawn set.
    _rounds_per_draw = 1
    #: Whether items can be switched off for a decision.
    _takes_available = True
    _arguments: dict[str, Any]

    def __init__(
        self,
        items: tuple[Item, ...],
        core: Any,
        source: BitSource,
        guarantee: Guarantee,
        *,
        maximize: bool = False,
        expire_after: int = EXPIRE_AFTER,
    ) -> None:
        super().__init__(source)
        self.items = items
        self.expire_after = checks.integer(type(self).__name__, "expire_after", expire_after, 1)
        self._guarantee = guarantee
        self._core = core
        self._sign = -1.0 if maximize else 1.0
        self._pending: dict[int, Draw] = {}
        self._asked = self._struck = 0
        self._drawn: Draw | None = None

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person."""
        return self._guarantee.void(self._not_private_because)

    @property
    def maximize(self) -> bool:
        """Whether it is told rewards, to be made large, and not costs."""
        return self._sign < 0

    @property
    def point(self) -> FloatArray:
        """The released inclusion level of each item, a number in [0, 1]."""
        levels: FloatArray = self._core.x.copy()
        return levels

    @property
    def rounds(self) -> int:
        """How many rounds have been learnt from."""
        return int(self._core.rounds[0])

    @property
    def horizon(self) -> int:
        """How many rounds can be learnt from."""
        return horizon_of(self._core)

    @property
    def pending(self) -> int:
        """How many decisions have not been told about."""
        return len(self._pending)

    @overload
    def ask(self, *, available: Iterable[Hashable] | None = None) -> Decision[Item]: ...
    @overload
    def ask(self, count: int, *, available: Iterable[Hashable] | None = None) -> list[Decision[Item]]: ...
    def ask(
        self, count: int | None = None, *, available: Iterable[Hashable] | None = None
    ) -> Decision[Item] | list[Decision[Item]]:
        """Choose a subset, or a list of `count` of them.

        The first ones are often all items or none: the items whose level reaches a random threshold are
        taken, and at first all have the same level.

        Args:
            count: How many decisions, at most `expire_after`; None for one, not in a list.
            available: The items that can be chosen now, all of them by default. It is a public
                input: it must not depend on anybody's feedback. The set is drawn among these
                items, and what is learnt concerns the choice among them.
        """
        among = self._among(available)
        wanted = checks.integer(
            type(self).__name__, "count", 1 if count is None else count, 0, self.expire_after
        )
        with self._alone():
            decisions = [self._ask(among) for _ in range(wanted)]
        return decisions[0] if count is None else decisions

    @abstractmethod
    def tell(self, decision: Decision | int, feedback: Any, /) -> None:
        """Learn from what a decision cost: one number, or the whole cost function of its round.

        Args:
            decision: What `ask` returned, or its id; in any order, however late, but once.
            feedback: What this kind of learner is told.
        """

    def _among(self, available: Iterable[Hashable] | None) -> IntArray:
        """The numbers of the items that can be chosen."""
        if available is None:
            return np.arange(len(self.items))
        owner = type(self).__name__
        if not self._takes_available:
            raise InvalidArgument(
                f"This {owner} cannot switch items off: its sets are not drawn one by one from single items' "
                "levels. Taking items out of a chosen set afterwards would make it learn the wrong thing."
            )
        if isinstance(available, str | bytes) or not isinstance(available, Iterable):
            raise checks.invalid_argument(owner, "available", "an iterable of items", available)
        wanted = set(available)
        strangers = wanted - set(self.items)
        if strangers:
            raise checks.invalid_argument(
                owner, "available", "items of this learner", sorted(map(str, strangers))
            )
        return np.array([i for i, item in enumerate(self.items) if item in wanted], dtype=np.int64)

    def _ask(self, among: IntArray) -> Decision[Item]:
        self._expire(self._asked + 1 - self.expire_after)
        if self._drawn is None or self._asked % self._rounds_per_draw == 0:
            last = self._drawn
            if last is not None and last.order.size == among.size == len(self.items):
                among = last.order  # all items, in an order that is nearly right
            draw = new_draw(among.copy())
            self._feed(lambda bits, cursor: choose(self._core, draw, bits, cursor))
            self._drawn = draw
        draw = self._drawn
        self._asked += 1
        self._pending[self._asked] = draw
        self.generation += 1
        subset = frozenset(self.items[i] for i in draw.order[: draw.numbers[SIZE]].tolist())
        return Decision(self._asked, subset, self._asked, self.lineage)

    def _expire(self, name: int) -> None:
        """Learn from a decision whose deadline has come as if its cost were the middle of the range."""
        if name not in self._pending:
            return
        if self._struck < self.horizon:
            self._learn(name, self._neutral_step(self._pending[name]))
        else:
            del self._pending[name]

    @abstractmethod
    def _neutral_step(self, draw: Draw) -> Callable[[BitArray, int], int]:
        """The learning step for a value in the middle of the range, by the same mechanism as any other."""

    def _number_of(self, decision: Decision | int) -> int:
        """The id of a decision that is still to be told about.

        It is never quoted: it may be the cost, given in the wrong place.
        """
        name = 0
        if isinstance(decision, Decision):
            name = decision.id
            if decision.lineage != self.lineage:
                raise UnknownDecision("That decision was made by another learner; nothing was changed.")
        elif isinstance(decision, int | np.integer):
            name = int(decision)
        if not 1 <= name <= self._asked:
            raise UnknownDecision("No such decision was asked for. Tell it itself, or by its id.")
        if name not in self._pending:
            if name <= self._asked - self.expire_after:
                raise Expired(
                    f"That decision is closed: told about, or its deadline of {self.expire_after} further "
                    "decisions has passed; nothing was changed."
                )
            raise AlreadyTold("That decision has been told about already; nothing was changed.")
        return name

    def _learn(self, name: int, step: Callable[[BitArray, int], int]) -> None:
        """Strike out a decision and run its learning step, with as many bits as it takes."""
        if self._struck >= self.horizon:
            raise HorizonReached(f"This {type(self).__name__} has taken all its {self.horizon} rounds.")
        # Struck out first: an interruption may lose a round, never count it twice.
        del self._pending[name]
        self._struck += 1
        self.generation += 1
        self._feed(step)

    @contextlib.contextmanager
    def _played_elsewhere(self, rounds: int) -> Iterator[None]:
        """Hold the learner while a compiled loop plays so many whole rounds with its core."""
        with self._alone():
            self._asked += rounds
            self._struck += rounds
            self.generation += rounds
            self._drawn = None
            yield

    def _feed(self, step: Callable[[BitArray, int], int]) -> None:
        """Run a compiled step with as many bits as it takes."""

        def consume(done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
            after = step(bits, cursor)
            return (done, cursor) if after == NEED_MORE_BITS else (1, after)

        self._source.feed(consume, 1)

    def fresh(self, seed: Seed | None) -> Self:
        """A new learner made like this one, before its first round, with a seed of its own.

        It is what simulations run: repeatable, and so not private. None gives one like it in production.
        """
        keywords = {"seed": seed} if "seed" in inspect.signature(type(self)).parameters else {}
        return self._made(self.items, self._kept_arguments(), **keywords)

    @classmethod
    def _made(cls, items: Iterable[Hashable], arguments: dict[str, Any], **others: Any) -> Self:
        """What the constructor makes of items and of arguments as `keeps_arguments` noted them."""
        given = {name: restored_argument(value) for name, value in arguments.items()}
        return cls(counted(items), **given, **others)  # type: ignore[arg-type] # a subclass's

    def _kept_arguments(self) -> dict[str, Any]:
        if not hasattr(self, "_arguments"):
            raise InvalidType(
                f"A {type(self).__name__} is made from data: it is neither saved nor made anew."
            )
        if not notes_arguments(type(self)):
            raise InvalidType(
                f"A {type(self).__name__} cannot be saved or made anew: its constructor is not decorated "
                "with `keeps_arguments`, so nobody could repeat the call."
            )
        return self._arguments

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, atomically; :func:`discreet.load` goes on from it.

        A learner that keeps secrets is handed over: this object cannot go on (`discreet.learners.files`).
        Its file is as secret as the data.
        """
        if str(path).endswith(TAKEN):
            raise InvalidArgument(f"A learner is not saved under a name that ends with {TAKEN!r}.")
        with self._alone(), written_beside(path, self._whole(), secret=True) as put_in_place:
            # Before the file is there: an interruption may lose the learner, never leave two of it.
            self._handed_over = self.keeps_secrets
            try:
                put_in_place()
            except OSError:
                self._handed_over = False
                raise

    def to_bytes(self) -> bytes:
        """The whole learner as :meth:`save` writes it; one that keeps secrets is handed over likewise."""
        with self._alone():
            data = self._whole()
            self._handed_over = self.keeps_secrets
            return data

    @property
    def keeps_secrets(self) -> bool:
        """Whether the state holds more than its guarantee covers, so that only one copy may go on."""
        return self.guarantee.private and not self.guarantee.local and self.guarantee.epsilon != 0

    def _settings(self) -> dict[str, Any]:
        kept = self._kept_arguments()
        if not all(isinstance(item, str | int | np.integer) for item in self.items):
            raise InvalidType(
                "Only a learner whose items are named by strings or whole numbers can be saved."
            )
        return {
            "items": [int(item) if isinstance(item, np.integer) else item for item in self.items],
            "arguments": kept,
            "asked": self._asked,
            "struck": self._struck,
            "bits": self._source.saved(),
            "constants": pending.constants_of(self._core),
        }

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return pending.arrays_of(self._core) | pending.packed(self._pending, self._drawn)

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], source: BitSource) -> Self:
        learner = cls._made(settings["items"], settings["arguments"])
        pending.same_constants(cls.__name__, learner._core, settings["constants"])
        learner._source = source if settings["bits"] is None else BitSource.restored(settings["bits"])
        learner._not_private_because = learner._source.not_private_because
        owner = cls.__name__
        asked = checks.integer(
            owner, "saved number of decisions", settings["asked"], 0, pending.MOST_DECISIONS
        )
        learner._asked = asked
        learner._struck = checks.integer(owner, "saved number of rounds", settings["struck"], 0, asked)
        return learner

    def _load(self, saved: Any) -> None:
        owner = type(self).__name__
        overwrite(owner, pending.arrays_of(self._core), saved)
        check_core(owner, self._core)
        self._pending, self._drawn = pending.unpacked(
            owner, saved, len(self.items), self._asked, self._rounds_per_draw
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(items={len(self.items)}, rounds={self.rounds}, "
            f"private={self.guarantee.private})"
        )
