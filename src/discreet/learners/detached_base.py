"""What all learners whose open decisions are kept elsewhere share: draw, fold, state, summary."""

from __future__ import annotations

import dataclasses
import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.errors import DiscreetError, HorizonReached, InvalidArgument
from discreet.learners import pending
from discreet.learners.base import Learner
from discreet.learners.core import choose_many
from discreet.learners.draw import SIZE
from discreet.learners.encoding import arrays_from, arrays_to_bytes
from discreet.learners.restored import check_core
from discreet.privacy.exclusive import overwrite
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import BitArray

#: Sets times items that are drawn at once: arrays of so many numbers, however many sets are wanted.
_CELLS = 1 << 20


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A drawn set, and what must be kept until its feedback comes.

    Attributes:
        subset: A bit for each item, the first item's lowest in the first byte.
        draw: What its feedback will need.
    """

    subset: bytes
    draw: bytes

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of its items."""
        bits = np.unpackbits(np.frombuffer(self.subset, dtype=np.uint8), bitorder="little")
        return tuple(np.flatnonzero(bits).tolist())


@dataclasses.dataclass(frozen=True)
class Summary:
    """What anybody may see of a learner: all of it is covered by the guarantee.

    Attributes:
        point: The inclusion level of each item.
        rounds: How many rounds have been learnt from.
        releases: How often something was released: bits of a bandit, blocks, or rounds of a tree.
        mean: The mean cost (or reward) as far as it was released, or None.
        noise_variance: Of one released number: how much of a mean is still noise.
        guarantee: What is promised to each person.
    """

    point: tuple[float, ...]
    rounds: int
    releases: int
    mean: float | None
    noise_variance: float
    guarantee: Guarantee


class Detached(ABC):
    """A learner without its open decisions. Its methods may be called by several threads.

    Attributes:
        kind: "bandit" or "full_information".
        items: The items' names, in order.
    """

    kind: ClassVar[str]
    _learner: Learner

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._core = learner._core
        self._lock = threading.Lock()
        self._last: IntArray = np.arange(len(learner.items))
        self.items = learner.items
        if not all(isinstance(item, str | int) for item in self.items):
            raise InvalidArgument("The items of a learner that is kept must be strings or whole numbers.")

    @property
    def settings(self) -> dict[str, Any]:
        """All that is needed to make it again, as JSON types; :func:`detached` takes it."""
        return {
            "kind": self.kind,
            "items": list(self.items),
            "arguments": self._learner._kept_arguments(),
            "constants": pending.constants_of(self._core),
        }

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person."""
        return self._learner.guarantee

    @property
    def keeps_secrets(self) -> bool:
        """Whether state and feedback hold more than the guarantee covers, and must be sealed."""
        return self._learner.keeps_secrets

    @property
    def horizon(self) -> int:
        """How many rounds can be learnt from."""
        return self._learner.horizon

    @property
    def rounds(self) -> int:
        """How many rounds have been learnt from."""
        return int(self._core.rounds[0])

    @property
    @abstractmethod
    def releases(self) -> int:
        """How often something was released: a state with fewer must not go on once one with more was seen."""

    def summary(self) -> Summary:
        """What anybody may see."""
        with self._lock:
            return Summary(
                point=tuple(self._core.x.tolist()),
                rounds=int(self._core.rounds[0]),
                releases=self.releases,
                mean=self._mean(),
                noise_variance=float(self._learner.noise_variance),  # type: ignore[attr-defined] # both have it
                guarantee=self.guarantee,
            )

    def among(self, available: Iterable[Hashable] | None) -> IntArray:
        """The numbers of the items that can be chosen; public, and complained about."""
        return self._learner._among(available)

    def draw(self, count: int = 1, among: IntArray | None = None) -> list[Drawn]:
        """Draw so many sets from the present point, in few compiled calls and bounded memory."""
        items = np.arange(len(self.items)) if among is None else among
        rows = max(1, _CELLS // len(self.items))
        return [
            drawn
            for done in range(0, count, rows)
            for drawn in self._drawn_at_once(min(rows, count - done), items)
        ]

    def _drawn_at_once(self, count: int, items: IntArray) -> list[Drawn]:
        numbers = np.zeros((count, 3), dtype=np.int64)
        chances = np.zeros((count, 2))
        with self._lock:
            if items.size == self._last.size:
                items = self._last  # all of them, in an order that is nearly right
            orders = np.tile(items, (count, 1))

            def consume(done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
                return choose_many(self._core, orders, numbers, chances, done, bits, cursor)

            self._learner._source.feed(consume, count)
            if count and items.size == self._last.size:
                self._last = orders[-1].copy()
        encoded = self._encoded(orders, numbers, chances)
        chosen = np.arange(orders.shape[1]) < numbers[:, SIZE, np.newaxis]
        masks = np.zeros((count, len(self.items)), dtype=np.bool_)
        masks[np.nonzero(chosen)[0], orders[chosen]] = True
        packed = np.packbits(masks, axis=1, bitorder="little")
        data, width = packed.tobytes(), packed.shape[1]
        return [Drawn(data[k * width : (k + 1) * width], draw) for k, draw in enumerate(encoded)]

    def state(self) -> bytes:
        """The core's arrays: all that changes. Secret where :attr:`keeps_secrets` is."""
        with self._lock:
            return arrays_to_bytes(pending.arrays_of(self._core))

    def restore(self, state: bytes) -> None:
        """Go on from a state. Which one is the latest is for the caller to know."""
        owner = type(self._learner).__name__
        arrays = arrays_from(owner, state)
        with self._lock:
            present = pending.arrays_of(self._core)
            before = {name: array.copy() for name, array in present.items()}
            try:
                overwrite(owner, present, arrays)
                check_core(owner, self._core)
            except DiscreetError:
                overwrite(owner, present, before)
                raise

    def fold(self, draws: Sequence[bytes], payloads: Sequence[bytes]) -> None:
        """Learn from feedback made ready by this learner, with its draws; all of it or none."""
        if len(draws) != len(payloads):
            raise InvalidArgument("There must be as many draws as pieces of feedback.")
        with self._lock:
            left = self.horizon - int(self._core.rounds[0])
            if len(draws) > left:
                raise HorizonReached(f"This {type(self._learner).__name__} can take {left} more rounds.")
            self._fold(draws, payloads)

    def sound(self, draw: bytes, payload: bytes) -> bool:
        """Whether a draw and its feedback can be learnt from; others were damaged where they were kept."""
        try:
            self._checked([draw], [payload])
        except InvalidArgument:
            return False
        return True

    @abstractmethod
    def neutral(self, draw: bytes) -> bytes:
        """The feedback to learn from when none came in time, through the same mechanism as any other."""

    @abstractmethod
    def _encoded(self, orders: IntArray, numbers: IntArray, chances: FloatArray) -> list[bytes]:
        """The draws in the rows of these arrays, each as bytes."""

    @abstractmethod
    def _checked(self, draws: Sequence[bytes], payloads: Sequence[bytes]) -> Any:
        """Draws and feedback as they are computed with. Compiled code trusts them, so each is checked."""

    @abstractmethod
    def _fold(self, draws: Sequence[bytes], payloads: Sequence[bytes]) -> None: ...

    def _mean(self) -> float | None:
        return None

    def _damaged(self) -> InvalidArgument:
        owner = type(self._learner).__name__
        return InvalidArgument(f"A decision kept for this {owner} is damaged: its draw makes no sense.")
