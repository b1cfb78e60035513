"""What is promised to whom: a frozen record that a privacy officer can read."""

import dataclasses
import decimal
import enum
import math

from ..arguments import invalid_argument
from ..errors import InvalidArgument
from ..imports import require_extra

_RENYI_ORDERS = tuple(1 + 2 ** (j / 8) for j in range(-64, 97))


class Neighbours(enum.Enum):
    """Which two histories must be hard to tell apart: they agree in all rounds but one.

    The inputs of later rounds may depend on everything that was released before.
    """

    REPLACE_ONE_ROUND = "replace one round"
    ZERO_OUT_ONE_ROUND = "zero out one round"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A differential privacy guarantee for one person.

    Attributes:
        epsilon: Bound on the log-likelihood ratio, or None if only `rho` is stated.
        delta: The probability that the bound may fail; 0 for pure privacy.
        rho: The zero-concentrated loss, where the noise is Gaussian.
        rounds_per_person: In how many rounds one person's data may appear.
        local: Whether each value is randomised on its own; otherwise a trusted party keeps exact sums.
        horizon: The number of rounds covered, or None for any number.
        absence_hidden: Whether it is hidden who has reported.
        private: Whether the promise holds in this configuration; if not, there is a reason.
    """

    epsilon: float | None = None
    delta: float = 0.0
    rho: float | None = None
    neighbours: Neighbours = Neighbours.REPLACE_ONE_ROUND
    rounds_per_person: int = 1
    local: bool = False
    horizon: int | None = None
    absence_hidden: bool = False
    private: bool = True
    reason: str = ""
    proof: str = ""

    def __post_init__(self) -> None:
        if self.epsilon is None and self.rho is None:
            raise InvalidArgument("A Guarantee must state 'epsilon' or 'rho'. Got neither.")
        if self.private == bool(self.reason):
            raise InvalidArgument("A Guarantee gives a 'reason' exactly where 'private' is False.")

    def at_delta(self, delta: float) -> "Guarantee":
        """The (epsilon, delta) guarantee that follows from `rho` (needs the extra ``accounting``)."""
        if self.rho is None:
            raise InvalidArgument("Only a guarantee with 'rho' can be stated for another delta.")
        if not isinstance(delta, float) or not 0 < delta < 1:
            raise invalid_argument("at_delta", "delta", "a number strictly between 0 and 1", delta)
        require_extra("accounting", "Converting rho into (epsilon, delta) needs", "dp_accounting")
        from dp_accounting import ZCDpEvent, rdp

        accountant = rdp.RdpAccountant(_RENYI_ORDERS)
        accountant.compose(ZCDpEvent(self.rho))
        return dataclasses.replace(self, epsilon=float(accountant.get_epsilon(delta)), delta=delta)

    def void(self, reason: str) -> "Guarantee":
        """The same figures, marked as not holding; an empty reason changes nothing."""
        return dataclasses.replace(self, private=False, reason=reason) if reason else self

    def __str__(self) -> str:
        if not self.private:
            figures = f"{self._figures()}, neighbours: {self.neighbours.value}"
            return f"NOT PRIVATE: {self.reason}. The figures it would have otherwise: {figures}."
        sentences = [self._promise(), self._who_is_trusted(), self._extent()]
        return " ".join([*sentences, f"Proof: {self.proof}."] if self.proof else sentences)

    def _figures(self) -> str:
        parts = []
        if self.epsilon is not None:
            parts.append(f"epsilon = {rounded_up(self.epsilon)}, delta = {rounded_up(self.delta)}")
        if self.rho is not None:
            parts.append(f"rho = {rounded_up(self.rho)} (zero-concentrated)")
        return ", ".join(parts)

    def _promise(self) -> str:
        replaced = self.neighbours is Neighbours.REPLACE_ONE_ROUND
        change = "had been anything else" if replaced else "had been the neutral value instead"
        rounds = "one round" if self.rounds_per_person == 1 else f"up to {self.rounds_per_person} rounds"
        text = f"Differentially private with {self._figures()}, for a person whose data appear in {rounds}: "
        if self.epsilon is None:
            return text + f"what is released would be almost as likely if those data {change}."
        text += f"anything released is {self._factor()} as if those data {change}"
        return text + (f", up to an added probability of {rounded_up(self.delta)}." if self.delta else ".")

    def _factor(self) -> str:
        """The largest likelihood ratio as text; a percentage where it is close to one."""
        assert self.epsilon is not None
        if self.epsilon == 0:
            return "exactly as likely"
        if self.epsilon < 0.1:
            return f"at most {rounded_up(100 * math.expm1(self.epsilon) * (1 + 1e-14), 3)}% more likely"
        small = self.epsilon < 700
        ratio = rounded_up(math.exp(self.epsilon) * (1 + 1e-14), 3) if small else "exp(epsilon)"
        return f"at most {ratio} times as likely"

    def _who_is_trusted(self) -> str:
        if self.local:
            return (
                "Each value is randomised on its own before it is stored: only the machine that does so sees "
                "it, and whoever keeps or reads the results needs no trust."
            )
        if self.epsilon == 0:
            return "Nobody's data are used."
        return "Exact sums are kept in memory: who runs the program is trusted, who reads its output is not."

    def _extent(self) -> str:
        rounds = "any number of rounds" if self.horizon is None else f"{self.horizon} rounds"
        absence = "Who has reported is public: do not let that depend on the value."
        if self.epsilon == 0 or self.absence_hidden:
            absence = "Whether they reported anything is hidden like the value."
        return (
            f"It holds for {rounds}, whatever the inputs, even if they are chosen in view of earlier output. "
            f"It does not hide that somebody took part, or when. {absence}"
        )


def rounded_up(number: float, digits: int = 6) -> str:
    """A nonnegative number in at most so many digits, never less than its own shortest decimal form."""
    if number == 0 or math.isinf(number):
        return f"{number:g}"
    context = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING)
    return f"{float(context.create_decimal(repr(float(number)))):.{digits}g}"
