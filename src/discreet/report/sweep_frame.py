"""The rows of a sweep: which configurations there are, their final numbers, their curves, what failed."""

from __future__ import annotations

import dataclasses
import json
import math
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from discreet.checks import FloatArray
from discreet.errors import InvalidArgument
from discreet.report.numbers import difference
from discreet.simulation.curves import Curve
from discreet.simulation.intervals import half_width
from discreet.simulation.labels import family, is_reference
from discreet.simulation.looks import Look, looks

#: What tells configurations apart.
KEYS = ("environment", "learner", "n", "epsilon", "rounds")
_OTHERS = ("seed", "round", "cost", "best", "regret", "would_be_private")
_TYPES = {"n": pl.Int64, "epsilon": pl.Float64, "rounds": pl.Int64, "seed": pl.Int64, "round": pl.Int64}


@dataclasses.dataclass(frozen=True)
class Final:
    """The last numbers of one configuration, a round; the interval is None where there is one seed."""

    environment: str
    learner: str
    n: int
    epsilon: float | None
    rounds: int
    seeds: int
    regret: float
    low: float
    high: float
    cost: float
    best: float
    bound: float | None
    would_be_private: bool


class SweepFrame:
    """A frame with a row per configuration, seed and checkpoint.

    Learners without an epsilon of their own (null, infinite, or choices that do not learn) count once for
    all epsilons.

    Args:
        frame: Columns environment, learner, n, epsilon, rounds, seed, round, cost, best, regret,
            would_be_private; bound, error and parameters (of the environment, as JSON) where known. Rows with
            an error have no numbers.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        missing = [name for name in (*KEYS, *_OTHERS) if name not in frame.columns]
        if missing:
            raise InvalidArgument(
                f"The 'frame' of a sweep must have the column {missing[0]!r}. It is missing."
            )
        frame = told_apart(frame)
        failed = pl.col("error").is_not_null() if "error" in frame.columns else pl.lit(value=False)
        self.failed = frame.filter(failed)
        played = frame.filter(~failed & pl.col("regret").is_not_null())
        twice = played.filter(played.select(*KEYS, "seed", "round").is_duplicated())
        if twice.height:
            learner, environment = twice["learner"][0], twice["environment"][0]
            raise InvalidArgument(
                "The 'frame' of a sweep must have one row per configuration, seed and round. Got several "
                f"of {learner} in {environment}: configurations need names of their own."
            )
        self._rows = _tidied(played)
        if self._rows.is_empty() and self.failed.is_empty():
            raise InvalidArgument("The 'frame' of a sweep must have at least one row. Got none.")

    @cached_property
    def parameters(self) -> list[dict[str, Any]]:
        """Of the environments, where they are known."""
        if "parameters" not in self._rows.columns:
            return []
        return [json.loads(given) for given in self._rows["parameters"].unique(maintain_order=True)]

    @cached_property
    def learners(self) -> list[str]:
        """In the order in which they appear."""
        return self._rows["learner"].unique(maintain_order=True).to_list()

    @cached_property
    def looks(self) -> dict[str, Look]:
        """How each learner looks in all charts."""
        return looks(self.learners, [name for name in self.learners if is_reference(name)])

    @cached_property
    def finals(self) -> list[Final]:
        """One for each configuration, in the order of the frame."""
        by_seed = [*KEYS, "seed"]
        last = self._rows.filter(pl.col("round") == pl.col("round").max().over(by_seed))
        gathered = last.group_by(KEYS, maintain_order=True).agg(
            pl.len().alias("seeds"),
            (pl.col("regret") / pl.col("round")).mean().alias("mean"),
            (pl.col("regret") / pl.col("round")).std().alias("spread"),
            (pl.col("cost") / pl.col("round")).mean().alias("cost"),
            (pl.col("best") / pl.col("round")).mean().alias("best"),
            (pl.col("bound") / pl.col("round")).max().alias("bound"),
            pl.col("would_be_private").all(),
        )
        found = []
        for row in gathered.to_dicts():
            mean, width = row.pop("mean"), float(half_width(row.pop("spread") or 0.0, row["seeds"]))
            ends = (mean, mean - width, mean + width)
            regret, low, high = (difference(end, row["cost"], row["best"]) for end in ends)
            found.append(Final(**row, regret=regret, low=low, high=high))
        return found

    def legend(self, learner: str) -> str:
        """The name of a learner in legends, which says so where it is not private."""
        private = all(final.would_be_private for final in self.finals if final.learner == learner)
        return learner if private else f"{learner} (not private)"

    def curve(self, final: Final) -> Curve:
        """Regret a round at the checkpoints of a configuration."""
        rows = self._rows.filter(
            pl.all_horizontal(pl.col(key).eq_missing(getattr(final, key)) for key in KEYS)
        )
        rate = pl.col("regret") / pl.col("round")
        points = (
            rows.group_by("round")
            .agg(
                rate.mean().alias("mean"),
                rate.std().alias("spread"),
                pl.len().alias("count"),
                (pl.col("bound") / pl.col("round")).max().alias("bound"),
            )
            .sort("round")
        )
        mean = _array(points["mean"])
        width = half_width(_array(points["spread"]), _array(points["count"]))
        bound = None if points["bound"].null_count() else _array(points["bound"])
        return Curve(
            self.legend(final.learner),
            _array(points["round"]),
            mean,
            mean - width,
            mean + width,
            self.looks[final.learner],
            bound,
            is_reference(final.learner),
        )


def told_apart(frame: pl.DataFrame) -> pl.DataFrame:
    """Environments that share a name, made with different parameters, get these behind it."""
    if "parameters" not in frame.columns:
        return frame
    several = pl.col("parameters").n_unique().over("environment") > 1
    shown = pl.col("parameters").map_elements(_in_words, return_dtype=pl.String)
    named = pl.concat_str(pl.col("environment"), shown)
    return frame.with_columns(environment=pl.when(several).then(named).otherwise("environment"))


def _in_words(parameters: str) -> str:
    given: dict[str, object] = json.loads(parameters)
    return f" ({', '.join(f'{name}={value}' for name, value in given.items())})" if given else ""


def _tidied(rows: pl.DataFrame) -> pl.DataFrame:
    """The same types whoever made the frame; no epsilon for what has none."""
    if "bound" not in rows.columns:
        rows = rows.with_columns(bound=pl.lit(None, dtype=pl.Float64))
    names = {name: family(name) for name in rows["learner"].unique().to_list()}
    without = [name for name in names.values() if is_reference(name)]
    epsilon = pl.col("epsilon").cast(pl.Float64)
    real = epsilon.is_finite() & (epsilon > 0) & ~pl.col("learner").is_in(without)
    return (
        rows.with_columns(
            pl.col("learner").replace(names),
            *(pl.col(name).cast(kind) for name, kind in _TYPES.items()),
            pl.col("bound").cast(pl.Float64),
            pl.col("would_be_private").fill_null(value=False),
        )
        .with_columns(pl.when(real).then(epsilon).alias("epsilon"))
        .unique(subset=[*KEYS, "seed", "round"], keep="first", maintain_order=True)
    )


def _array(column: pl.Series) -> FloatArray:
    return column.cast(pl.Float64).fill_null(math.nan).to_numpy().astype(np.float64)
