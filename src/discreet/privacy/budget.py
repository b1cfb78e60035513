"""From a budget to a noise law, and to the guarantee that it gives."""

import dataclasses
from fractions import Fraction
from typing import Any

from discreet.checks import integer
from discreet.errors import InvalidArgument, InvalidType
from discreet.privacy import noise
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.rational import float_above, privacy_loss, square_root_above
from discreet.privacy.sensitivity import VectorBound


@dataclasses.dataclass(frozen=True)
class Budget:
    """What one person may lose, all their rounds together: k `rounds_per_person` at most.

    It is either `epsilon`, pure loss (Laplace noise; each round gets epsilon / k), or `rho`,
    zero-concentrated loss (Gaussian noise; rho / k^2). `neighbours` is the relation between histories.
    """

    epsilon: float | Fraction | None = None
    rho: float | Fraction | None = None
    neighbours: Neighbours = Neighbours.REPLACE_ONE_ROUND
    rounds_per_person: int = 1

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            got = "neither" if self.epsilon is None else "both"
            raise InvalidArgument(f"A Budget must have either 'epsilon' or 'rho'. Got {got}.")
        # Python's own integers: those of numpy would wrap around in the square below.
        rounds = integer("Budget", "rounds_per_person", self.rounds_per_person, least=1)
        object.__setattr__(self, "rounds_per_person", rounds)
        if not isinstance(self.neighbours, Neighbours):
            raise InvalidType("The 'neighbours' of Budget must be a Neighbours.")
        _ = self.per_round

    @classmethod
    def of(cls, owner: str, epsilon: float | Fraction, rounds_per_person: int = 1) -> "Budget":
        """A budget from two arguments of `owner`, in whose name they are refused."""
        rounds = integer(owner, "rounds_per_person", rounds_per_person, least=1)
        _part(owner, "epsilon", epsilon, rounds)
        return cls(epsilon=epsilon, rounds_per_person=rounds)

    @property
    def per_round(self) -> Fraction:
        """The loss of one round, epsilon or rho, exactly."""
        if self.epsilon is not None:
            return _part("Budget", "epsilon", self.epsilon, self.rounds_per_person)
        assert self.rho is not None
        return _part("Budget", "rho", self.rho, self.rounds_per_person**2)

    def law(self, bound: VectorBound, nodes: int = 1) -> noise.Law:
        """The noise for each of `nodes` sums that one round's vector enters, which is within the bound."""
        if self.epsilon is not None:
            return noise.laplace(nodes * bound.l1_distance(self.neighbours) / self.per_round)
        square = nodes * bound.squared_l2_distance(self.neighbours) / (2 * self.per_round)
        return noise.gaussian(square_root_above(square))

    def guarantee(self, *, proof: str, horizon: int | None = None, local: bool = False) -> Guarantee:
        """The promise that noise of `law` keeps."""
        pure = self.epsilon is not None
        loss = float_above(self.per_round * self.rounds_per_person ** (1 if pure else 2))
        return Guarantee(
            epsilon=loss if pure else None,
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
        }

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> "Budget":
        epsilon, rho = (None if saved[name] is None else Fraction(saved[name]) for name in ("epsilon", "rho"))
        return cls(epsilon, rho, Neighbours(saved["neighbours"]), saved["rounds_per_person"])


def _part(owner: str, name: str, loss: float | Fraction, parts: int) -> Fraction:
    """One of so many equal parts of a loss; the whole and the part are checked."""
    return privacy_loss(owner, name, privacy_loss(owner, name, loss) / parts)
