"""Learners in environments: many seeds side by side, with regret at checkpoints.

Memory does not grow with the rounds, except for what a stream itself keeps of each.
"""

from __future__ import annotations

import inspect
import math
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np

from discreet import checks
from discreet.baselines import FixedSet
from discreet.checks import FloatArray, IntArray
from discreet.environments import Environment, FunctionStream, Stream
from discreet.errors import HorizonReached, InvalidArgument, InvalidType
from discreet.learners.arguments import cost_interval, restored_argument
from discreet.learners.base import Learner
from discreet.learners.feedback import from_named
from discreet.minimizers.dispatch import MOST_ITEMS_TO_ENUMERATE
from discreet.privacy.guarantee import Guarantee
from discreet.set_functions import SetFunction
from discreet.simulation.loop import Run, best_fixed_set
from discreet.simulation.progress import Bar, progress_bar
from discreet.simulation.trace import Trace

#: Rounds played between two looks at the clock and at Ctrl-C.
CHUNK = 1 << 16
#: Checkpoints on the default grid, which is even on a logarithmic scale.
CHECKPOINTS = 40

LearnerMaker = Callable[[int], Learner]


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
    environment: Environment | Stream | Iterable[SetFunction | Callable[[Any], float]],
    learner: Learner | LearnerMaker,
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
        environment: A recipe, whose stream is drawn anew for each seed; or one stream, or any iterable of set
            functions, which is the same for all seeds. As in `tell`, each may be a Python function of a
            frozenset of the learner's items, of which there are at most 12 then.
        learner: A learner, which stays as it is: each seed plays one that is made like it, and seeded. Or a
            function of a seed that makes one. If it was made with `maximize=True`, the numbers of a stream or
            of functions are rewards; named environments have costs, and are refused.
        rounds: How many; all of a stream by default.
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
    recipe = as_environment(environment, first)
    length = checks.integer("simulate", "rounds", recipe.most_rounds if rounds is None else rounds, 1)
    marks = _checkpoints(checkpoints, length)
    kept = _kept(keep)
    stop = threading.Event()

    def one(seed: int, bar: Bar) -> Replica:
        return replica(recipe.stream(length, seed), maker(seed), marks, kept, bar, stop)

    if first.horizon < length:
        raise HorizonReached(f"This learner can take {first.horizon} rounds, not {length}.")
    _warn_of_clipping(recipe, first)
    done, interrupted = _all(one, chosen, workers, stop, progress, length, f"{_name(first)} in {recipe.name}")
    if not done:
        raise KeyboardInterrupt  # not one seed was finished
    finished = [seed for seed in chosen if seed in done]
    stacked = Replica(*(np.stack(parts) for parts in zip(*(done[seed] for seed in finished), strict=True)))
    return Trace(
        environment=recipe.name,
        learner=_name(first),
        items=first.items if recipe.fixed and recipe.items == tuple(range(recipe.n)) else recipe.items,
        cost_range=recipe.cost_range,
        seeds=tuple(finished),
        checkpoints=marks,
        cost=stacked.cost,
        best=stacked.best,
        best_lower_bound=stacked.lower,
        final_points=stacked.final_point,
        best_sets=stacked.best_set,
        guarantee=_promise(learner, first),
        bound=bounds_at(first, marks),
        points=stacked.points if "points" in kept else None,
        sets=stacked.sets if "sets" in kept else None,
        interrupted=interrupted,
        about=recipe.about,
        parameters=dict(recipe.parameters),
        arguments=_arguments(first),
        maximize=first.maximize,
    )


def _warn_of_clipping(environment: Environment, learner: Learner) -> None:
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
    learner: Learner,
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
            points[k] = learner.point
        if "sets" in kept:
            sets[k, list(run.subset)] = 1.0
    minima = []
    for mark in marks:
        _go_on(stop)
        minima.append(best_fixed_set(stream.total_until(int(mark)), learner.maximize))
    best_set = np.zeros(stream.n)
    best_set[list(minima[-1].set)] = 1.0
    best = learner._sign * np.array([minimum.value for minimum in minima])
    proved = [-math.inf if minimum.assumes_submodular else minimum.lower_bound for minimum in minima]
    return Replica(cost, best, learner._sign * np.array(proved), best_set, learner.point, points, sets)


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


def as_environment(
    given: Environment | Stream | Iterable[SetFunction | Callable[[Any], float]], learner: Learner
) -> Environment:
    """An environment as it is; a stream, or functions, as one whose seed makes no difference.

    The numbers of a stream or of functions are what the learner takes them for: costs or rewards.
    """
    if isinstance(given, Environment):
        if given.rewards != learner.maximize:
            has, takes = ("rewards", "costs") if given.rewards else ("costs", "rewards")
            raise InvalidArgument(
                f"The environment {given.name} has {has}, and this {type(learner).__name__} takes {takes}: "
                f"make it with maximize={given.rewards}."
            )
        return given
    if not isinstance(given, Stream):
        if not isinstance(given, Iterable) or isinstance(given, str | bytes):
            raise InvalidType(
                "The 'environment' of simulate must be an Environment, a Stream or an iterable of set "
                f"functions. Got {type(given).__name__} instead."
            )
        given = FunctionStream(_tabulated(function, learner.items) for function in given)
    stream = given

    def make(rounds: int, seed: int) -> Stream:
        return stream.for_one_run()

    return Environment(
        type(stream).__name__,
        make,
        tuple(range(stream.n)),
        stream.cost_range,
        most_rounds=stream.rounds,
        fixed=True,
        rewards=learner.maximize,
    )


def _tabulated(function: Any, items: Sequence[Any]) -> Any:
    """All values of a Python function of the named items; anything else as it is."""
    if isinstance(function, SetFunction) or not callable(function):
        return function
    if len(items) > MOST_ITEMS_TO_ENUMERATE:
        raise InvalidArgument(
            f"Python functions of more than {MOST_ITEMS_TO_ENUMERATE} items need a range: wrap them in "
            "discreet.set_functions.FromCallable, with a 'value_range'."
        )
    return from_named(function, items).table()


def as_maker(learner: Learner | LearnerMaker) -> LearnerMaker:
    """A function from seeds to learners."""
    if isinstance(learner, Learner):
        made = learner
        return lambda seed: made.fresh([seed, 1])
    if callable(learner):
        return learner
    raise InvalidType(
        "The 'learner' of simulate must be a learner, or a function of a seed that makes one. "
        f"Got {type(learner).__name__} instead."
    )


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


def _name(learner: Learner) -> str:
    """The class and the arguments that tell learners apart in a table, given or not."""
    defaults = inspect.signature(type(learner)).parameters
    kept = _arguments(learner)
    parts = [
        str(kept.get(name, defaults[name].default))
        for name in ("mode", "method", "calibration")
        if name in defaults
    ]
    if isinstance(learner, FixedSet):
        taken = int(learner.point.sum())
        parts.append({0: "empty", len(learner.items): "all"}.get(taken, f"{taken} items"))
    if "epsilon" in kept:
        parts.append(f"epsilon={float(kept['epsilon']):g}")
    return type(learner).__name__ + (f" ({', '.join(parts)})" if parts else "")


def _arguments(learner: Learner) -> dict[str, Any]:
    """What the learner was made with, besides the items."""
    return {name: restored_argument(value) for name, value in getattr(learner, "_arguments", {}).items()}


def _promise(given: Learner | LearnerMaker, first: Learner) -> Guarantee:
    """What the learner that was given promises; those that are played are seeded."""
    return given.guarantee if isinstance(given, Learner) else first.guarantee


def bounds_at(learner: Learner, marks: IntArray) -> FloatArray | None:
    """The learner's own regret bound after each of so many rounds, where it has one."""
    bound = getattr(learner, "regret_bound", None)
    if bound is None:
        return None
    return np.array([bound(int(mark)) for mark in marks])
