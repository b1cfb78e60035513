"""Results: how one learner did in one environment, from a trace or from the rows of a sweep."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import polars as pl

from discreet.errors import InvalidArgument
from discreet.intervals import half_width
from discreet.plots.charts import Curve, looks, regret_curve
from discreet.simulation.trace import Trace, is_reference, labels

KEYS = ("environment", "learner", "n", "epsilon", "rounds")  # what tells configurations apart
_OTHERS = ("seed", "round", "cost", "best", "regret", "would_be_private")
_ROUNDING = 1e-6  # a smaller share of the costs that it is a sum or difference of is rounding

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def grouped(things: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Things with the same key together, in the order in which they come."""
    found: dict[K, list[T]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return found


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Result(Curve):
    """The regret per round of one configuration, and what came out in the end, as means per round."""

    environment: str
    learner: str
    n: int
    epsilon: float | None  # None without noise, or where it does not learn
    seeds: int
    private: bool
    cost: float
    best: float

    @property
    def rounds(self) -> int:
        return int(self.x[-1])

    @property
    def regret(self) -> float:
        return significant(float(self.mean[-1]), self.cost, self.best)

    @property
    def interval(self) -> list[float]:
        return [significant(float(end[-1]), self.cost, self.best) for end in (self.low, self.high)]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class TraceResult(Result):
    """The result of a trace, which knows more than the rows of a sweep."""

    trace: Trace

    @property
    def gap(self) -> float:
        """How much larger regret may be, as a share of it, because the best set is not known exactly."""
        more = float((self.trace.regret_upper_bound[:, -1] - self.trace.regret[:, -1]).mean()) / self.rounds
        return more / max(abs(self.regret), 1e-9)


R = TypeVar("R", bound=Result)


def significant(value: float, *terms: float) -> float:
    """A sum or difference of such terms; 0 where it is not more than their rounding."""
    return value if abs(value) > _ROUNDING * max(map(abs, terms)) else 0.0


def family(learner: str) -> str:
    """The name without a finite epsilon.

    Examples:
        >>> family("BanditLearner (local, epsilon=1)"), family("BanditLearner (local, epsilon=inf)")
        ('BanditLearner (local)', 'BanditLearner (local, epsilon=inf)')
    """
    return re.sub(r"(, )?epsilon=(?!inf)[^,)]*", "", learner).replace("(, ", "(").replace(" ()", "")


def with_looks(results: Sequence[R], like: Sequence[Curve] = ()) -> list[R]:
    """The results with a look each, the same as beside these; grey for what does not learn."""
    curves = like or results
    seen = looks((curve.label for curve in curves), [curve.label for curve in curves if curve.reference])
    return [dataclasses.replace(result, look=seen[result.label]) for result in results]


def by_environment(traces: Sequence[Trace]) -> list[list[TraceResult]]:
    """Traces of the same environment together; labels look the same in all groups."""

    def made(trace: Trace) -> str:
        return repr((trace.environment, trace.items, trace.kind, trace.cost_range, dict(trace.parameters)))

    groups = grouped(traces, made).values()
    found = [[_of_trace(*pair) for pair in zip(group, labels(group), strict=True)] for group in groups]
    every = [result for group in found for result in group]
    return [with_looks(group, every) for group in found]


def _in_legends(learner: str, private: bool) -> str:
    return learner if private else f"{learner} (not private)"


def _of_trace(trace: Trace, label: str) -> TraceResult:
    reference, guarantee = is_reference(trace.learner), trace.guarantee
    known = guarantee.epsilon is not None and not reference and 0 < guarantee.epsilon < math.inf
    cost, best = (
        significant(float(total[:, -1].mean() / trace.checkpoints[-1]), *trace.cost_range)
        for total in (trace.cost, trace.best)
    )
    return TraceResult(
        **vars(regret_curve(trace, _in_legends(label, guarantee.private), {}, reference=reference)),
        environment=trace.environment,
        learner=label,
        n=len(trace.items),
        epsilon=guarantee.epsilon if known else None,
        seeds=len(trace.seeds),
        private=guarantee.private,
        cost=cost,
        best=best,
        trace=trace,
    )


def sweep_results(frame: pl.DataFrame) -> tuple[list[Result], list[dict[str, Any]]]:
    """A result for each configuration of a sweep, and a row with its seeds for each that failed, by error."""
    for name in (*KEYS, *_OTHERS):
        if name not in frame.columns:
            raise InvalidArgument(f"The 'frame' of a sweep must have the column {name!r}. It is missing.")
    frame = told_apart(frame)
    if "error" not in frame.columns:
        frame = frame.with_columns(error=None)
    rows = frame.filter(pl.col("error").is_null() & pl.col("regret").is_not_null())
    twice = rows.filter(rows.select(*KEYS, "seed", "round").is_duplicated())
    if twice.height:
        raise InvalidArgument(
            "The 'frame' of a sweep must have one row per configuration, seed and round. Got several of "
            f"{twice['learner'][0]} in {twice['environment'][0]}: give each configuration its own name."
        )
    failed = frame.filter(pl.col("error").is_not_null())
    if rows.is_empty() and failed.is_empty():
        raise InvalidArgument("The 'frame' of a sweep must have at least one row. Got none.")
    failures = failed.group_by([*KEYS, "error"], maintain_order=True).agg("seed").to_dicts()
    return with_looks(_of_rows(_tidied(rows))), failures


def told_apart(frame: pl.DataFrame) -> pl.DataFrame:
    """Environments that share a name, made with different parameters, get these behind it."""
    if "parameters" not in frame.columns:
        return frame
    several = pl.col("parameters").n_unique().over("environment") > 1
    shown = pl.col("parameters").map_elements(_in_brackets, return_dtype=pl.String)
    named = pl.concat_str(pl.col("environment"), shown)
    return frame.with_columns(environment=pl.when(several).then(named).otherwise("environment"))


def _in_brackets(text: str) -> str:
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
        pl.col("n", "rounds", "seed", "round").cast(pl.Int64),
        pl.col("epsilon", "bound").cast(pl.Float64),
        pl.col("would_be_private").fill_null(value=False),
    )
    real = pl.col("epsilon").is_finite() & (pl.col("epsilon") > 0) & ~pl.col("learner").is_in(without)
    rows = rows.with_columns(epsilon=pl.when(real).then("epsilon"))
    return rows.unique(subset=[*KEYS, "seed", "round"], keep="first", maintain_order=True)


def _of_rows(rows: pl.DataFrame) -> list[Result]:
    """Means over the seeds at each checkpoint, configuration by configuration."""
    rows = rows.with_columns(pl.col("regret", "cost", "best", "bound") / pl.col("round"))
    points = rows.group_by(*KEYS, "round", maintain_order=True).agg(
        pl.col("regret", "cost", "best").mean(),
        pl.col("regret").std().fill_null(0.0).alias("spread"),
        pl.col("bound").max(),
        pl.len().alias("seeds"),
        pl.col("would_be_private").all().alias("private"),
    )
    found = []
    for part in points.partition_by(KEYS, maintain_order=True):
        at = part.sort("round")
        mean, width = at["regret"].to_numpy(), half_width(at["spread"].to_numpy(), at["seeds"].to_numpy())
        names = ("environment", "learner", "n", "epsilon", "seeds", "private", "cost", "best")
        facts = at.select(names).row(-1, named=True)
        found.append(
            Result(
                label=_in_legends(facts["learner"], facts["private"]),
                x=at["round"].to_numpy().astype(float),
                mean=mean,
                low=mean - width,
                high=mean + width,
                bound=None if at["bound"].null_count() else at["bound"].to_numpy(),
                reference=is_reference(facts["learner"]),
                **facts,
            )
        )
    return found
