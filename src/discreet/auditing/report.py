"""What an audit found, in words and as data."""

import dataclasses
import json
import math
from typing import Any

from discreet.frames import Library, make_frame
from discreet.html import as_html
from discreet.privacy.guarantee import rounded_up


@dataclasses.dataclass(frozen=True, kw_only=True)
class Audit:
    """A lower bound on the privacy loss of something, and how it was found.

    Attributes:
        claimed: The epsilon that it claims, together with `delta`.
        lower_bound: Its epsilon is at least this, with probability `confidence`.
        event: What showed it, on the `pair` of inputs that were told apart.
        hits: How often that event happened under the neighbour that makes it more likely.
        false_alarms: How often under the other.
        trials: Out of how many runs under each, none of which was used to choose the event.
        score: "likelihood" (exact), or how it was learned.
        pairs: How many were compared.
        finds_factor: Such an audit finds noise that is too small by this factor more often than not, by
            simulation; infinity if no factor that was tried would be found; None if that was not simulated.
        source: Whether the bits came from the object's own source.

    Examples:
        >>> from discreet import audit
        >>> from discreet.randomizers import OneBit
        >>> found = audit(OneBit(epsilon=1.0), runs=10_000, seed=1)
        >>> found.lower_bound < found.claimed, found.passed
        (True, True)
    """

    name: str
    claimed: float
    delta: float
    lower_bound: float
    confidence: float
    event: str
    pair: str
    hits: int
    false_alarms: int
    trials: int
    runs: int
    score: str
    pairs: int
    finds_factor: float | None
    source: str
    neighbours: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the claim was not refuted. That is not a proof of it."""
        return self.lower_bound <= self.claimed

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON; what is infinite is None."""
        found = dataclasses.asdict(self) | {"passed": self.passed}
        return {name: None if value == math.inf else value for name, value in found.items()}

    def to_json(self) -> str:
        """The same as one JSON document."""
        return json.dumps(self.to_dict(), indent=2)

    def to_frame(self, library: Library | None = None) -> Any:
        """The same in one row, as a frame of polars or pandas; join several with their `concat`."""
        return make_frame({name: [value] for name, value in self.to_dict().items()}, library)

    def _repr_html_(self) -> str:
        return as_html(self._verdict, self._rows())

    def __str__(self) -> str:
        lines = (f"  {name:12} {text}".replace("\n", "\n" + 15 * " ") for name, text in self._rows().items())
        return "\n".join([self._verdict, *lines])

    @property
    def _verdict(self) -> str:
        return f"{self.name}: {'not refuted' if self.passed else 'VIOLATED'}"

    def _rows(self) -> dict[str, str]:
        claim = f"epsilon = {rounded_up(self.claimed)}"
        if self.delta:
            claim += f", delta = {rounded_up(self.delta)}"
        return {
            "claimed": f"{claim} ({self.neighbours})",
            "measured": f"epsilon >= {self.lower_bound:.4f} with {100 * self.confidence:g}% confidence",
            "inputs": f"{self.pair} ({self.pairs} compared)",
            "shown by": f"{self.event}:\n{self.hits:,} of {self.trials:,} runs against {self.false_alarms:,}",
            "runs": f"{self.runs:,} in {self.seconds:.1f} s, score: {self.score}",
            "bits": self.source,
            "power": self.power,
        }

    @property
    def power(self) -> str:
        """What the audit would have found, in words."""
        if self.finds_factor is None:
            return "not simulated"
        if math.isinf(self.finds_factor):
            return "none: much smaller noise would not have been found either; take more runs"
        return f"would have found noise too small by a factor of {self.finds_factor:g}"
