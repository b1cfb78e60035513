"""What an evaluation found."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from discreet.formatting import counted
from discreet.frames import Library, make_frame
from discreet.html import as_html
from discreet.privacy.guarantee import Guarantee

#: What is said of numbers that promise nothing.
RAW = "NOT PRIVATE: this is computed from raw costs, so treat it like them."


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A number, an interval that holds it with the stated confidence, and what the interval rests on.

    Examples:
        >>> print(Estimate(0.25, 0.2, 0.3, "Student's t"))
        0.25 (0.2 to 0.3; Student's t)
    """

    value: float
    low: float
    high: float
    interval: str

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g}; {self.interval})"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The mean cost (or reward) per round that a policy would have had in the rounds of a log.

    Attributes:
        estimates: By the name of the estimator. `value`, `low` and `high` are those of the first.
        logged: The mean of what was told; None where only a private answer was asked for.
        gain: How much better than that the policy would have been, per round.
        effective_rounds: How many rounds of the policy itself would tell as much, (sum w)^2 / sum w^2.
        mean_weight: The mean of w, the policy's probability of the shown set over that of the log. It is
            about 1 where the log shows all that the policy shows.
        unseen: The share of the policy's choices that the log never shows.
        warnings: Why not to trust the numbers.
        guarantee: What is promised to the people in the log; numbers from raw costs promise nothing.

    Examples:
        >>> from discreet import evaluate
        >>> found = evaluate([(["tea"], 0.5, 0.2), ([], 0.5, 0.9)] * 100, ["tea"])
        >>> found.rounds, found.effective_rounds, found.mean_weight, found.unseen
        (200, 100.0, 1.0, 0.0)
    """

    estimates: Mapping[str, Estimate]
    rounds: int
    confidence: float
    maximize: bool
    guarantee: Guarantee
    effective_rounds: float
    mean_weight: float
    largest_weight: float
    unseen: float
    logged: Estimate | None = None
    gain: Estimate | None = None
    warnings: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The mean cost, or reward."""
        return self._first.value

    @property
    def low(self) -> float:
        return self._first.low

    @property
    def high(self) -> float:
        return self._first.high

    @property
    def _first(self) -> Estimate:
        return next(iter(self.estimates.values()))

    @property
    def pays(self) -> bool | None:
        """Whether the policy is better than what was done; None where the interval leaves that open."""
        if self.gain is None or self.gain.low <= 0 <= self.gain.high:
            return None
        return self.gain.low > 0

    def to_frame(self, library: Library | None = None) -> Any:
        """A row per estimator, as a frame of polars or pandas."""
        listed = {**self.estimates, "logged": self.logged, "gain": self.gain}
        rows = [{"estimator": name} | dataclasses.asdict(one) for name, one in listed.items() if one]
        return make_frame({name: [row[name] for row in rows] for name in rows[0]}, library)

    def _rows(self) -> dict[str, str]:
        kind = "reward" if self.maximize else "cost"
        rows = {f"mean {kind}, {name}": str(one) for name, one in self.estimates.items()}
        if self.logged is not None and self.gain is not None:
            rows |= {f"mean {kind} in the log": str(self.logged), "gain per round": str(self.gain)}
        weights = f"mean {self.mean_weight:.3g}, largest {self.largest_weight:.3g}"
        evidence = f"{counted(self.rounds, 'round')}, worth {self.effective_rounds:,.0f}"
        rows["evidence"] = f"{evidence}; weights: {weights}"
        rows |= {f"WARNING {k}": text for k, text in enumerate(self.warnings, 1)}
        return rows | {"privacy": str(self.guarantee) if math.isfinite(self.guarantee.epsilon or 0) else RAW}

    def __str__(self) -> str:
        return "\n".join([*(f"{name}: {text}" for name, text in self._rows().items()), self._note])

    @property
    def _note(self) -> str:
        sure = math.floor(1000 * self.confidence + 0.5) / 10
        return f"Intervals hold with {sure:g}% confidence, each by itself."

    def _repr_html_(self) -> str:
        return as_html("Evaluation", self._rows(), self._note)
