"""From a budget to a noise law, and to the guarantee that it gives."""

import dataclasses
import math
from fractions import Fraction
from typing import Any

from discreet.checks import integer
from discreet.errors import InvalidArgument, InvalidType
from discreet.privacy import noise
from discreet.privacy.composition import checked_delta, loss_of_each
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.rational import float_above, privacy_loss, square_root_above
from discreet.privacy.sensitivity import VectorBound


@dataclasses.dataclass(frozen=True)
class Budget:
    """What one person may lose, all their rounds together: k `rounds_per_person` at most.

    It is either `epsilon`, pure loss (Laplace noise; each round gets epsilon / k), or `rho`,
    zero-concentrated loss (Gaussian noise; rho / k^2). `neighbours` is the relation between histories.
    An `epsilon` of infinity is no limit: there is no noise for it, only an exact release.
    With a `delta` the loss of a round is the largest whose composition is (epsilon, delta): only where each
    round is a release of its own, not where several may be in one sum (`law`).
    """

    epsilon: float | Fraction | None = None
    rho: float | Fraction | None = None
    neighbours: Neighbours = Neighbours.REPLACE_ONE_ROUND
    rounds_per_person: int = 1
    delta: float = 0.0

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            got = "neither" if self.epsilon is None else "both"
            raise InvalidArgument(f"A Budget must have either 'epsilon' or 'rho'. Got {got}.")
        # Python's own integers: those of numpy would wrap around in the square below.
        rounds = integer("Budget", "rounds_per_person", self.rounds_per_person, least=1)
        object.__setattr__(self, "rounds_per_person", rounds)
        if not isinstance(self.neighbours, Neighbours):
            raise InvalidType("The 'neighbours' of Budget must be a Neighbours.")
        object.__setattr__(self, "delta", checked_delta("Budget", self.delta, rounds))
        if self.delta and self.epsilon is None:
            raise InvalidArgument("A Budget of 'rho' has no 'delta': its guarantee can be stated for any.")
        if not self.unlimited:
            _ = self.per_round

    @classmethod
    def of(
        cls,
        owner: str,
        epsilon: float | Fraction,
        rounds_per_person: int = 1,
        delta: float = 0.0,
        *,
        may_be_unlimited: bool = False,
    ) -> "Budget":
        """A budget from arguments of `owner`, in whose name they are refused."""
        rounds = integer(owner, "rounds_per_person", rounds_per_person, least=1)
        if not (may_be_unlimited and _infinite(epsilon)):
            _part(owner, "epsilon", epsilon, rounds)
        return cls(epsilon=epsilon, rounds_per_person=rounds, delta=checked_delta(owner, delta, rounds))

    @property
    def unlimited(self) -> bool:
        """Whether epsilon is infinite, so that nothing is promised."""
        return _infinite(self.epsilon)

    @property
    def per_round(self) -> Fraction:
        """The loss of one round, epsilon or rho, exactly. Without a limit it is refused: no noise has it."""
        if self.epsilon is not None:
            part = _part("Budget", "epsilon", self.epsilon, self.rounds_per_person)
            if self.delta:
                part = loss_of_each(Fraction(self.epsilon), self.delta, self.rounds_per_person)
            return part
        assert self.rho is not None
        return _part("Budget", "rho", self.rho, self.rounds_per_person**2)

    def law(self, bound: VectorBound, nodes: int = 1) -> noise.Law:
        """The noise for each of `nodes` sums that one round's vector enters, which is within the bound."""
        self.require_pure()
        if self.epsilon is not None:
            return noise.laplace(nodes * bound.l1_distance(self.neighbours) / self.per_round)
        square = nodes * bound.squared_l2_distance(self.neighbours) / (2 * self.per_round)
        return noise.gaussian(square_root_above(square))

    def require_pure(self) -> None:
        """Refuse a delta where several rounds of one person may be in one sum: there it would not hold."""
        if self.delta:
            raise InvalidArgument(
                "A 'delta' needs mode='local', where each round is a release of its own. One person's rounds "
                "that fall into the same sum are one release, with the losses of all of them added up: a "
                "'delta' would gain nothing there."
            )

    @property
    def one_round(self) -> "Budget":
        """What one round may lose, as a budget."""
        loss = self.per_round
        pure = self.epsilon is not None
        return Budget(loss if pure else None, None if pure else loss, self.neighbours)

    def guarantee(self, *, proof: str, horizon: int | None = None, local: bool = False) -> Guarantee:
        """The promise that noise of `law` keeps."""
        pure = self.epsilon is not None
        total = self.per_round * self.rounds_per_person ** (1 if pure else 2)
        if self.epsilon is not None and self.delta:
            total, proof = Fraction(self.epsilon), "with-a-delta"
        loss = float_above(total)
        return Guarantee(
            epsilon=loss if pure else None,
            delta=self.delta,
            rho=None if pure else loss,
            neighbours=self.neighbours,
            rounds_per_person=self.rounds_per_person,
            local=local,
            horizon=horizon,
            proof=f"docs/guarantees.md#{proof}",
        )

    def saved(self) -> dict[str, Any]:
        """The budget as plain JSON values; `restored` undoes it."""
        return {
            "epsilon": None if self.epsilon is None else str(Fraction(self.epsilon)),
            "rho": None if self.rho is None else str(Fraction(self.rho)),
            "neighbours": self.neighbours.value,
            "rounds_per_person": self.rounds_per_person,
            "delta": self.delta,
        }

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> "Budget":
        epsilon, rho = (None if saved[name] is None else Fraction(saved[name]) for name in ("epsilon", "rho"))
        neighbours = Neighbours(saved["neighbours"])
        return cls(epsilon, rho, neighbours, saved["rounds_per_person"], saved["delta"])


def _infinite(epsilon: object) -> bool:
    return isinstance(epsilon, float) and epsilon == math.inf


def _part(owner: str, name: str, loss: float | Fraction, parts: int) -> Fraction:
    """One of so many equal parts of a loss; the whole and the part are checked."""
    return privacy_loss(owner, name, privacy_loss(owner, name, loss) / parts)
