"""The rows of a sweep: which configurations there are, how they ended, and what failed."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from discreet.errors import InvalidArgument
from discreet.intervals import half_width
from discreet.report.results import Result, family, is_reference, legend, with_looks

#: What tells configurations apart.
KEYS = ("environment", "learner", "n", "epsilon", "rounds")
_OTHERS = ("seed", "round", "cost", "best", "regret", "would_be_private")
_TYPES = {"n": pl.Int64, "epsilon": pl.Float64, "rounds": pl.Int64, "seed": pl.Int64, "round": pl.Int64}


class SweepFrame:
    """A frame as `write_sweep_report` takes it, with a row per configuration, seed and checkpoint.

    Learners without an epsilon (null, infinite, or choices that do not learn) count once for all epsilons.

    Attributes:
        results: One for each configuration, in the order of the frame.
        failed: The rows with an error.
        failures: The same without repetition: a row per configuration and error, with its seeds.
        parameters: Those of the environments, where they are known.
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
        rows = frame.filter(~failed & pl.col("regret").is_not_null())
        twice = rows.filter(rows.select(*KEYS, "seed", "round").is_duplicated())
        if twice.height:
            raise InvalidArgument(
                "The 'frame' of a sweep must have one row per configuration, seed and round. Got several of "
                f"{twice['learner'][0]} in {twice['environment'][0]}: give each configuration its own name."
            )
        if rows.is_empty() and self.failed.is_empty():
            raise InvalidArgument("The 'frame' of a sweep must have at least one row. Got none.")
        self.parameters: list[dict[str, Any]] = []
        if "parameters" in rows.columns:
            self.parameters += map(json.loads, rows["parameters"].unique(maintain_order=True))
        gathered = self.failed.group_by([*KEYS, "error"], maintain_order=True) if self.failed.height else None
        self.failures = [] if gathered is None else gathered.agg("seed").to_dicts()
        self.results = with_looks(_results(_tidied(rows)))


def told_apart(frame: pl.DataFrame) -> pl.DataFrame:
    """Environments that share a name, made with different parameters, get these behind it."""
    if "parameters" not in frame.columns:
        return frame
    several = pl.col("parameters").n_unique().over("environment") > 1
    shown = pl.col("parameters").map_elements(_parameters, return_dtype=pl.String)
    named = pl.concat_str(pl.col("environment"), shown)
    return frame.with_columns(environment=pl.when(several).then(named).otherwise("environment"))


def _parameters(text: str) -> str:
    given: dict[str, object] = json.loads(text)
    return f" ({', '.join(f'{name}={value}' for name, value in given.items())})" if given else ""


def _tidied(rows: pl.DataFrame) -> pl.DataFrame:
    """The same types whoever made the frame; no epsilon for what has none."""
    if "bound" not in rows.columns:
        rows = rows.with_columns(bound=None)
    names = {name: family(name) for name in rows["learner"].unique().to_list()}
    without = [name for name in names.values() if is_reference(name)]
    rows = rows.with_columns(
        pl.col("learner").replace(names),
        *(pl.col(name).cast(kind) for name, kind in _TYPES.items()),
        pl.col("bound").cast(pl.Float64),
        pl.col("would_be_private").fill_null(value=False),
    )
    real = pl.col("epsilon").is_finite() & (pl.col("epsilon") > 0) & ~pl.col("learner").is_in(without)
    rows = rows.with_columns(epsilon=pl.when(real).then("epsilon"))
    return rows.unique(subset=[*KEYS, "seed", "round"], keep="first", maintain_order=True)


def _results(rows: pl.DataFrame) -> list[Result]:
    """Means over the seeds at each checkpoint, configuration by configuration."""
    share = {name: pl.col(name) / pl.col("round") for name in ("regret", "cost", "best", "bound")}
    points = rows.group_by(*KEYS, "round", maintain_order=True).agg(
        share["regret"].mean(),
        share["regret"].std().fill_null(0.0).alias("spread"),
        share["cost"].mean(),
        share["best"].mean(),
        share["bound"].max(),
        pl.len().alias("seeds"),
        pl.col("would_be_private").all().alias("private"),
    )
    found = []
    for part in points.partition_by(KEYS, maintain_order=True):
        at = part.sort("round")
        mean, width = at["regret"].to_numpy(), half_width(at["spread"].to_numpy(), at["seeds"].to_numpy())
        last = at.select("environment", "learner", "n", "epsilon", "seeds", "private", "cost", "best")
        learner, private = at["learner"][-1], at["private"][-1]
        found.append(
            Result(
                label=legend(learner, private),
                x=at["round"].to_numpy().astype(float),
                mean=mean,
                low=mean - width,
                high=mean + width,
                bound=None if at["bound"].null_count() else at["bound"].to_numpy(),
                reference=is_reference(learner),
                **last.row(-1, named=True),
            )
        )
    return found
