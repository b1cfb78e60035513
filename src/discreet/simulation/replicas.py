"""Learners in environments: many seeds side by side, with regret at checkpoints.

Memory does not grow with the rounds, except for what a stream itself keeps of each.
"""

from __future__ import annotations

import copy
import inspect
import math
import os
import threading
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.environments import Environment, EnvironmentLike, Stream, as_environment
from discreet.errors import HorizonReached, InvalidArgument, InvalidType
from discreet.learners.arguments import cost_interval, restored_argument
from discreet.learners.bandit import PolicyLearner
from discreet.learners.session import Session
from discreet.policies import Fixed
from discreet.privacy.guarantee import Guarantee
from discreet.simulation.loop import Run, best_fixed_set
from discreet.simulation.progress import Bar, progress_bar
from discreet.simulation.trace import Trace

#: Rounds played between two looks at the clock and at Ctrl-C.
CHUNK = 1 << 16
#: Checkpoints on the default grid, which is even on a logarithmic scale.
CHECKPOINTS = 40

#: Makes a learner from a seed: a session, or any object with `ask` and `tell`.
LearnerMaker = Callable[[int], Any]

#: What is said of learners that say nothing themselves.
UNKNOWN = Guarantee(epsilon=math.inf).void("it says nothing about privacy")


class Replica(NamedTuple):
    """What one seed leaves: in costs, or in rewards where the learner maximises."""

    cost: FloatArray
    best: FloatArray
    lower: FloatArray
    best_set: FloatArray
    final_point: FloatArray
    points: FloatArray
    sets: FloatArray


def simulate(
    environment: EnvironmentLike,
    learner: Any,
    rounds: int | None = None,
    seeds: int | Iterable[int] = 8,
    *,
    checkpoints: int | Iterable[int] = CHECKPOINTS,
    keep: Iterable[str] = (),
    workers: int | None = None,
    progress: bool = False,
) -> Trace:
    """Play a learner against an environment, once for each seed, and measure regret.

    Args:
        environment: An environment or its name ("modular", or MODULE:NAME for your own); a stream; an
            iterable of set functions, or of Python functions of a frozenset of the learner's items (at most
            12); or a table of costs. :func:`discreet.environments.as_environment` describes them all.
        learner: A learner, which stays as it is: each seed plays one that is made like it, and seeded. Or any
            object with ``ask()``, which gives a set or something with a `subset`, and ``tell(decision,
            cost)``: each seed plays a copy. Or a function of a seed that makes either. If it maximises, the
            numbers of a stream or of functions are rewards; named environments have costs, and are refused.
        rounds: How many; all of a stream by default. Needed for a generator, of which no more are taken.
        seeds: How many seeds (0, 1, ...), or which.
        checkpoints: How many rounds to note regret at, evenly on a logarithmic scale, or which.
        keep: "points" and "sets" to keep the point and the chosen set at each checkpoint as well.
        workers: Seeds played at the same time; one per core by default. Numbers do not depend on it.
        progress: Whether to show a bar.

    Returns:
        Regret curves. After Ctrl-C those of the seeds that were finished. There is a warning where costs may
        be outside the learner's range: they are clipped, as nothing would say outside of a simulation.

    Examples:
        >>> from discreet import BanditLearner, environments
        >>> trace = simulate(environments.modular(4), BanditLearner(4, 1.0, (-1, 1)), rounds=1000, seeds=2)
        >>> trace.cost.shape, trace.checkpoints[-1]
        ((2, 35), np.int64(1000))
    """
    maker = as_maker(learner)
    chosen = _seeds(seeds)
    first = maker(chosen[0])
    recipe = as_environment(
        environment, items=getattr(first, "items", None), rounds=rounds, rewards=_maximizes(first)
    )
    length = checks.integer("simulate", "rounds", recipe.most_rounds if rounds is None else rounds, 1)
    marks = _checkpoints(checkpoints, length)
    kept = _kept(keep)
    stop = threading.Event()

    def one(seed: int, bar: Bar) -> Replica:
        return replica(recipe.stream(length, seed), maker(seed), marks, kept, bar, stop)

    horizon = getattr(first, "horizon", length)
    if horizon < length:
        raise HorizonReached(f"This learner can take {horizon} rounds, not {length}.")
    _warn_of_clipping(recipe, first)
    done, interrupted = _all(one, chosen, workers, stop, progress, length, f"{_name(first)} in {recipe.name}")
    if not done:
        raise KeyboardInterrupt  # not one seed was finished
    finished = [seed for seed in chosen if seed in done]
    stacked = Replica(*(np.stack(parts) for parts in zip(*(done[seed] for seed in finished), strict=True)))
    return Trace(
        environment=recipe.name,
        learner=_name(first),
        items=recipe.items,
        cost_range=recipe.cost_range,
        seeds=tuple(finished),
        checkpoints=marks,
        cost=stacked.cost,
        best=stacked.best,
        best_lower_bound=stacked.lower,
        final_points=stacked.final_point,
        best_sets=stacked.best_set,
        guarantee=promise_of(learner, first),
        bound=bounds_at(first, marks),
        points=stacked.points if "points" in kept else None,
        sets=stacked.sets if "sets" in kept else None,
        interrupted=interrupted,
        about=recipe.about,
        parameters=dict(recipe.parameters),
        arguments=_arguments(first),
        maximize=_maximizes(first),
    )


def _warn_of_clipping(environment: Environment, learner: Any) -> None:
    declared = _arguments(learner).get("cost_range")
    if declared is None:
        return
    low, high = cost_interval(_name(learner), declared, maximize=False)  # as it was declared
    least, most = environment.cost_range
    if least < low or most > high:
        numbers = "Rewards" if environment.rewards else "Costs"
        warnings.warn(
            f"{numbers} of {environment.name} may lie in [{least:g}, {most:g}], and the {_name(learner)} was "
            f"made for [{low:g}, {high:g}]: it learns from clipped ones. Give it the right 'cost_range'.",
            stacklevel=3,
        )


def replica(
    stream: Stream,
    learner: Any,
    marks: IntArray,
    kept: frozenset[str] = frozenset(),
    bar: Bar | None = None,
    stop: threading.Event | None = None,
) -> Replica:
    """One seed: play to each checkpoint, then find the best fixed set up to each."""
    run = Run(learner, stream)
    cost = np.empty(marks.size)
    points = np.empty((marks.size if "points" in kept else 0, stream.n))
    sets = np.zeros((marks.size if "sets" in kept else 0, stream.n))
    total = 0.0
    for k, mark in enumerate(marks):
        while run.rounds < mark:
            _go_on(stop)
            step = min(CHUNK, int(mark) - run.rounds)
            total += float(run.play(step).sum())
            if bar is not None:
                bar.advance(step)
        cost[k] = total
        if "points" in kept:
            points[k] = _point(learner, stream.n)
        if "sets" in kept:
            sets[k, list(run.subset)] = 1.0
    minima = []
    for mark in marks:
        _go_on(stop)
        minima.append(best_fixed_set(stream.total_until(int(mark)), run.sign < 0))
    best_set = np.zeros(stream.n)
    best_set[list(minima[-1].set)] = 1.0
    best = run.sign * np.array([minimum.value for minimum in minima])
    proved = [-math.inf if minimum.assumes_submodular else minimum.lower_bound for minimum in minima]
    return Replica(cost, best, run.sign * np.array(proved), best_set, _point(learner, stream.n), points, sets)


class Stopped(Exception):
    """A replica was told to stop."""


def _go_on(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise Stopped


def _all(
    one: Callable[[int, Bar], Replica],
    seeds: list[int],
    workers: int | None,
    stop: threading.Event,
    progress: bool,
    rounds: int,
    title: str,
) -> tuple[dict[int, Replica], bool]:
    """Run all seeds in threads, which compiled loops let run side by side; on Ctrl-C keep what is done."""
    count = min(len(seeds), os.cpu_count() or 1) if workers is None else workers
    checks.integer("simulate", "workers", count, 1)
    done: dict[int, Replica] = {}
    interrupted = False
    with progress_bar(title, rounds * len(seeds), shown=progress) as bar, ThreadPoolExecutor(count) as pool:
        pending: dict[int, Future[Replica]] = {}
        try:
            for seed in seeds:
                pending[seed] = pool.submit(one, seed, bar)
            for seed, future in pending.items():
                # Not for long at once: where polars is loaded, waiting goes on after a signal, Ctrl-C unseen.
                while wait([future], 0.1).not_done:
                    pass
                done[seed] = future.result()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stop.set()  # whatever it was: the pool waits for all its threads
            for future in pending.values():
                future.cancel()
        if interrupted:
            for seed, future in pending.items():
                if not future.cancelled() and future.exception() is None:
                    done[seed] = future.result()
    return done, interrupted


def as_maker(learner: Any) -> LearnerMaker:
    """A function from seeds to learners."""
    if isinstance(learner, Session):
        made = learner
        return lambda seed: made.fresh([seed, 1])
    if _asks_and_tells(learner) and not isinstance(learner, type):
        return lambda seed: copy.deepcopy(learner)
    if callable(learner):
        return _checked(learner)
    raise InvalidType(
        "The 'learner' of simulate must have 'ask' and 'tell', or be a function of a seed that makes such an "
        f"object. Got {type(learner).__name__} instead."
    )


def _checked(maker: LearnerMaker) -> LearnerMaker:
    def made(seed: int) -> Any:
        learner = maker(seed)
        if not _asks_and_tells(learner):
            raise InvalidType(
                "The 'learner' of simulate made an object without 'ask' and 'tell': "
                f"{type(learner).__name__}."
            )
        return learner

    return made


def _asks_and_tells(learner: Any) -> bool:
    return callable(getattr(learner, "ask", None)) and callable(getattr(learner, "tell", None))


def _maximizes(learner: Any) -> bool:
    return bool(getattr(learner, "maximize", False))


def _point(learner: Any, n: int) -> FloatArray:
    """The learner's inclusion levels; not numbers where it has none."""
    return np.array(getattr(learner, "point", np.full(n, np.nan)), dtype=np.float64)


def log_grid(rounds: int, count: int) -> IntArray:
    """At most `count` whole numbers from 1 to `rounds`, evenly on a logarithmic scale; the last is there.

    Examples:
        >>> log_grid(1000, 4).tolist()
        [1, 10, 100, 1000]
    """
    spaced = np.unique(np.rint(np.geomspace(1, rounds, max(count, 1))).astype(np.int64))
    return spaced if count > 1 else np.array([rounds], dtype=np.int64)


def _seeds(seeds: int | Iterable[int]) -> list[int]:
    if isinstance(seeds, Iterable):
        listed = [checks.integer("simulate", "seeds", seed, 0) for seed in seeds]
    else:
        listed = list(range(checks.integer("simulate", "seeds", seeds, 1)))
    if not listed or len(set(listed)) < len(listed):
        raise checks.invalid_argument("simulate", "seeds", "at least one, all different", listed)
    return listed


def _checkpoints(checkpoints: int | Iterable[int], rounds: int) -> IntArray:
    if not isinstance(checkpoints, Iterable):
        return log_grid(rounds, checks.integer("simulate", "checkpoints", checkpoints, 1))
    marks = np.array(
        sorted({checks.integer("simulate", "checkpoints", mark, 1, rounds) for mark in checkpoints})
    )
    if marks.size == 0:
        raise InvalidArgument("The 'checkpoints' of simulate must be at least one. Got none.")
    return marks.astype(np.int64)


def _kept(keep: Iterable[str]) -> frozenset[str]:
    wanted = frozenset([keep] if isinstance(keep, str) else keep)
    if wanted - {"points", "sets"}:
        raise checks.invalid_argument("simulate", "keep", "any of 'points', 'sets'", sorted(wanted))
    return wanted


def _name(learner: Any) -> str:
    """The class and the arguments that tell learners apart in a table, given or not."""
    if not isinstance(learner, Session):
        return str(getattr(learner, "name", type(learner).__name__))
    defaults = inspect.signature(type(learner)).parameters
    kept = _arguments(learner)
    parts = [
        str(kept.get(name, defaults[name].default))
        for name in ("mode", "method", "calibration")
        if name in defaults
    ]
    if isinstance(learner.learner.policy, Fixed):
        taken = int(learner.point.sum())
        parts.append({0: "empty", len(learner.items): "all"}.get(taken, f"{taken} items"))
    if "epsilon" in kept:
        parts.append(f"epsilon={float(kept['epsilon']):g}")
    policy = learner.learner.policy
    own = type(policy if isinstance(learner, PolicyLearner) else learner).__name__
    return own + (f" ({', '.join(parts)})" if parts else "")


def _arguments(learner: Any) -> dict[str, Any]:
    """What the learner was made with, besides the items."""
    return {name: restored_argument(value) for name, value in getattr(learner, "_arguments", {}).items()}


def promise_of(given: Any, first: Any) -> Guarantee:
    """What the learner that was given promises; those that are played are seeded."""
    promise = getattr(given if isinstance(given, Session) else first, "guarantee", None)
    return promise if isinstance(promise, Guarantee) else UNKNOWN


def bounds_at(learner: Any, marks: IntArray) -> FloatArray | None:
    """The learner's own regret bound after each of so many rounds, where it has one."""
    bound = getattr(learner, "regret_bound", None)
    if bound is None:
        return None
    return np.array([bound(int(mark)) for mark in marks])
