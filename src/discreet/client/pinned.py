"""Randomising on the client: what it pins, and the bits it has made."""

from __future__ import annotations

import collections
import dataclasses
import threading
from collections.abc import Mapping
from typing import Any

from .. import arguments
from ..errors import InvalidArgument, MissingExtra
from ..privacy.rational import float_above, privacy_loss
from ..randomizers import Bit, OneBit
from .errors import ServiceError
from .records import Learner

#: Bits that are remembered, so that telling again sends the same one.
REMEMBERED = 100_000


class PinnedMismatch(ServiceError, InvalidArgument):
    """The service declares other settings for a learner than the client pins. Nothing was sent."""


@dataclasses.dataclass(frozen=True)
class Pinned:
    """What the client insists on, whatever a server says.

    Args:
        epsilon: The privacy loss of one person, over all their rounds.
        cost_range: The declared range; others are clipped.
        rounds_per_person: In how many rounds one person may appear.
        delta: The probability with which that may fail, for a larger loss per round.

    Formal guarantees:
        One bit per cost leaves the process, with a loss of epsilon / rounds_per_person, as `OneBit` makes it:
        neither the server nor the network needs to be trusted. The bound of epsilon for one person holds if
        at most rounds_per_person of their costs are told: each bit that leaves is a release, even one that
        the service does not count. Proof: `docs/guarantees.md#one-bit`; with a delta `#with-a-delta`.

    Examples:
        >>> Pinned(epsilon=1.0, cost_range=(0, 1), rounds_per_person=4).randomizer()
        OneBit(epsilon=0.25, cost_range=(0.0, 1.0))
    """

    epsilon: float
    cost_range: tuple[float, float]
    rounds_per_person: int = 1
    delta: float = 0.0

    def __post_init__(self) -> None:
        self.randomizer()

    def randomizer(self) -> OneBit:
        """For one round."""
        rounds = arguments.integer("Pinned", "rounds_per_person", self.rounds_per_person, least=1)
        loss = privacy_loss("Pinned", "epsilon", self.epsilon)
        low, high = self.cost_range
        if self.delta == 0:
            return OneBit(loss / rounds, (low, high))
        try:
            from ..privacy.composition import checked_delta, loss_of_each
        except ModuleNotFoundError:  # the distribution `discreet-client` has no arrays
            raise MissingExtra(
                "Pinned with a 'delta' needs the whole library: pip install 'discreet[client]', "
                "and import it from discreet.client.",
                "client",
            ) from None
        delta = checked_delta("Pinned", self.delta, rounds)
        return OneBit(loss_of_each(loss, delta, rounds), (low, high))

    def check(self, learner: Learner) -> None:
        """Refuse a learner with other settings."""
        low, high = self.cost_range
        wanted = {
            "feedback": "bandit",
            "mode": "local",
            "epsilon": float_above(privacy_loss("Pinned", "epsilon", self.epsilon)),
            "cost_range": (float(low), float(high)),
            "rounds_per_person": self.rounds_per_person,
            "delta": self.delta,
        }
        different = [name for name, theirs in learner.declared.items() if wanted[name] != theirs]
        if different:
            raise PinnedMismatch(
                "pinned_mismatch",
                f"The service declares another {' and another '.join(different)} for the learner "
                f"{learner.name!r} than this client pins. Nothing was sent.",
            )


class Bits:
    """The bit of each decision: made once, sent as often as necessary. Threads may share it.

    A second bit for the same decision would be a second release. So the first value counts, as it does for
    the service, as long as the bit is remembered.

    Args:
        pinned: For all learners, or by name; others are refused.
        most: Bits that are remembered.
    """

    def __init__(self, pinned: Pinned | Mapping[str, Pinned], most: int = REMEMBERED) -> None:
        self._pinned = pinned
        self._randomizers: dict[str, OneBit] = {}
        self._made: collections.OrderedDict[tuple[str, str], int] = collections.OrderedDict()
        self._most, self._lock = most, threading.Lock()

    def pinned(self, learner: str) -> Pinned:
        """What is pinned for a learner."""
        if isinstance(self._pinned, Pinned):
            return self._pinned
        if learner not in self._pinned:
            raise InvalidArgument(
                f"This client randomises, and nothing is pinned for the learner {learner!r}."
            )
        return self._pinned[learner]

    def require_fitting(self, learner: str, bit: int) -> None:
        """Refuse a bit that was made elsewhere with another epsilon or range, where it carries them."""
        if isinstance(bit, Bit) and not self._randomizer(learner).fits(bit):
            raise InvalidArgument("The 'released' bit was made with another epsilon or range than is pinned.")

    def bit(self, learner: str, decision_id: str, cost: Any) -> int:
        """The bit of a decision's cost: of the first cost that was given for it."""
        with self._lock:
            randomizer = self._randomizer(learner)
            made = self._made.get((learner, decision_id))
            if made is None:
                made = self._made[learner, decision_id] = int(randomizer.release(cost))
                if len(self._made) > self._most:
                    self._made.popitem(last=False)
            return made

    def _randomizer(self, learner: str) -> OneBit:
        made = self._randomizers.get(learner)
        if made is None:
            made = self._randomizers[learner] = self.pinned(learner).randomizer()
        return made
