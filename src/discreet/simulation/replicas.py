"""Learners in environments: many seeds side by side, with regret at checkpoints."""

from __future__ import annotations

import copy
import inspect
import math
import os
import threading
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

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
from discreet.simulation.loop import Run
from discreet.simulation.progress import Bar, progress_bar
from discreet.simulation.trace import Trace

#: Where nothing else is said, and the data are enough for it.
ROUNDS = 65536
#: What one seed leaves, by its name in a `Trace`.
Replica = dict[str, FloatArray]


def simulate(
    environment: EnvironmentLike,
    learner: Any,
    rounds: int | None = None,
    seeds: int | Iterable[int] = 8,
    *,
    checkpoints: int | Iterable[int] = 40,
    keep: Iterable[str] = (),
    workers: int | None = None,
    progress: bool = False,
) -> Trace:
    """Play a learner against an environment, once for each seed, and measure regret.

    There is a warning where costs may be clipped. After Ctrl-C the trace has the seeds that were finished.

    Args:
        environment: An environment or its name, a stream, an iterable of functions, or a table of costs:
            `discreet.environments.as_environment` describes them all.
        learner: A learner, which stays as it is: each seed plays one that is made like it, and seeded. Or any
            object with ``ask()``, which gives a set or something with a `subset`, and ``tell(decision,
            cost)``: each seed plays a copy. Or a function of a seed that makes either.
        rounds: How many; all of a stream by default. Needed for a generator, of which no more are taken.
        seeds: How many seeds (0, 1, ...), or which.
        checkpoints: How many rounds to note regret at, evenly on a logarithmic scale, or which.
        keep: "points" and "sets" to keep the point and the chosen set at each checkpoint as well.
        workers: Seeds played at the same time; one per core by default. Numbers do not depend on it.
        progress: Whether to show a bar.

    Examples:
        >>> from discreet import BanditLearner
        >>> simulate("modular", BanditLearner(4, 1.0, (-1, 1)), rounds=1000, seeds=2).cost.shape
        (2, 35)
    """
    chosen = _seeds(seeds)
    first = _made(learner, chosen[0])
    maximize = bool(getattr(first, "maximize", False))
    recipe = as_environment(environment, items=getattr(first, "items", None), rounds=rounds, rewards=maximize)
    length = checks.integer("simulate", "rounds", recipe.most_rounds if rounds is None else rounds, 1)
    marks = _checkpoints(checkpoints, length)
    kept = {keep} if isinstance(keep, str) else set(keep)
    if kept - {"points", "sets"}:
        raise checks.invalid_argument("simulate", "keep", "any of 'points', 'sets'", sorted(kept))
    count = min(len(chosen), os.cpu_count() or 1) if workers is None else workers
    checks.integer("simulate", "workers", count, 1)
    horizon = getattr(first, "horizon", length)
    if horizon < length:
        raise HorizonReached(f"This learner can take {horizon} rounds, not {length}.")
    _warn_of_clipping(recipe, first)
    name, stop = _name(first), threading.Event()
    with progress_bar(f"{name} in {recipe.name}", length * len(chosen), shown=progress) as bar:

        def play(seed: int) -> Replica:
            return replica(recipe.stream(length, seed), _made(learner, seed), marks, kept, bar, stop)

        done, interrupted = _all(play, chosen, count, stop)
    if not done:
        raise KeyboardInterrupt  # not one seed was finished
    found = list(done.values())
    measured = {name: np.stack([one[name] for one in found]) for name in found[0]}
    guarantee = getattr(learner if isinstance(learner, Session) else first, "guarantee", None)
    if not isinstance(guarantee, Guarantee):
        guarantee = Guarantee(epsilon=math.inf).void("it says nothing about privacy")
    return Trace(
        environment=recipe.name,
        learner=name,
        items=recipe.items,
        cost_range=recipe.cost_range,
        seeds=tuple(done),
        checkpoints=marks,
        guarantee=guarantee,
        bound=_bound(first, marks),
        interrupted=interrupted,
        about=recipe.about,
        parameters=dict(recipe.parameters),
        arguments=_arguments(first),
        maximize=maximize,
        **measured,
    )


def _bound(learner: Any, marks: IntArray) -> FloatArray | None:
    """The learner's own regret bound at each checkpoint, if it has one."""
    bound = getattr(learner, "regret_bound", None)
    try:
        return None if bound is None else np.array([bound(int(mark)) for mark in marks])
    except InvalidArgument:
        return None  # not every method has one


def _warn_of_clipping(environment: Environment, learner: Any) -> None:
    declared = _arguments(learner).get("cost_range")
    if declared is None:
        return
    low, high = cost_interval(_name(learner), declared, maximize=False)  # as it was declared
    least, most = environment.cost_range
    if least < low or most > high:
        numbers = "Rewards" if environment.rewards else "Costs"
        found = f"{numbers} of {environment.name} may lie in [{least:g}, {most:g}]"
        made = f"the {_name(learner)} was made for [{low:g}, {high:g}]: it learns from clipped ones"
        warnings.warn(f"{found}, and {made}. Give it the right 'cost_range'.", stacklevel=3)


def replica(
    stream: Stream, learner: Any, marks: IntArray, kept: set[str], bar: Bar, stop: threading.Event
) -> Replica:
    """One seed: play to each checkpoint, then find the best fixed set up to each."""
    run, n = Run(learner, stream), stream.n
    extra = {name: np.zeros((marks.size, n)) for name in kept}
    cost, total, minima = np.zeros(marks.size), 0.0, []
    for k, mark in enumerate(marks):
        while run.rounds < mark:
            if stop.is_set():
                raise Stopped
            step = min(1 << 16, int(mark) - run.rounds)  # between two looks at Ctrl-C
            total += float(run.play(step).sum())
            bar.advance(step)
        cost[k] = total
        if "points" in extra:
            extra["points"][k] = _point(learner, n)
        if "sets" in extra:
            extra["sets"][k, list(run.subset)] = 1.0
    for mark in marks:
        if stop.is_set():
            raise Stopped
        minima.append(run.best(int(mark)))
    proved = [-math.inf if minimum.assumes_submodular else minimum.lower_bound for minimum in minima]
    return extra | {
        "cost": cost,
        "best": run.sign * np.array([minimum.value for minimum in minima]),
        "best_lower_bound": run.sign * np.array(proved),
        "best_sets": np.isin(np.arange(n), list(minima[-1].set)).astype(np.float64),
        "final_points": _point(learner, n),
    }


class Stopped(Exception):
    """A replica was told to stop."""


def _all(
    play: Callable[[int], Replica], seeds: list[int], workers: int, stop: threading.Event
) -> tuple[dict[int, Replica], bool]:
    """Run all seeds in threads, which compiled loops let run side by side; on Ctrl-C keep what is done."""
    interrupted = False
    pending: dict[int, Future[Replica]] = {}
    with ThreadPoolExecutor(workers) as pool:
        try:
            for seed in seeds:
                pending[seed] = pool.submit(play, seed)
            for future in pending.values():
                # Not for long at once: where polars is loaded, waiting goes on after a signal, Ctrl-C unseen.
                while wait([future], 0.1).not_done:
                    pass
                future.result()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stop.set()  # whatever it was: the pool waits for all its threads
            for future in pending.values():
                future.cancel()
    ended = {seed: future for seed, future in pending.items() if not future.cancelled()}
    return {seed: future.result() for seed, future in ended.items() if not future.exception()}, interrupted


def _made(learner: Any, seed: int) -> Any:
    """The learner that a seed plays."""

    def is_learner(found: Any) -> bool:
        return callable(getattr(found, "ask", None)) and callable(getattr(found, "tell", None))

    if isinstance(learner, Session):
        return learner.fresh([seed, 1])
    if is_learner(learner) and not isinstance(learner, type):
        return copy.deepcopy(learner)
    made = learner(seed) if callable(learner) else learner
    if not is_learner(made):
        wanted = "have 'ask' and 'tell', or be a function of a seed that makes such an object"
        raise InvalidType(f"The 'learner' of simulate must {wanted}. Got {type(made).__name__} instead.")
    return made


def _point(learner: Any, n: int) -> FloatArray:
    """The learner's inclusion levels; not numbers where it has none."""
    return np.array(getattr(learner, "point", np.full(n, np.nan)), dtype=np.float64)


def log_grid(rounds: int, count: int) -> IntArray:
    """At most `count` integers from 1 to `rounds`, evenly on a logarithmic scale; the last is there."""
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
    marks = {checks.integer("simulate", "checkpoints", mark, 1, rounds) for mark in checkpoints}
    if not marks:
        raise checks.invalid_argument("simulate", "checkpoints", "at least one", checkpoints)
    return np.array(sorted(marks), dtype=np.int64)


def _name(learner: Any) -> str:
    """The class and the arguments that tell learners apart in a table, given or not."""
    if not isinstance(learner, Session):
        return str(getattr(learner, "name", type(learner).__name__))
    known, given = inspect.signature(type(learner)).parameters, _arguments(learner)
    policy = learner.learner.policy
    telling = [name for name in ("mode", "method", "calibration") if name in known]
    values = [getattr(learner, name, given.get(name, known[name].default)) for name in telling]
    parts = [str(value) for value in values if value is not None]
    if isinstance(policy, Fixed):
        taken = int(learner.point.sum())
        parts.append({0: "empty", len(learner.items): "all"}.get(taken, f"{taken} items"))
    parts += [f"{name}={given[name]}" for name in ("at_most", "at_least") if given.get(name) is not None]
    if "epsilon" in given:
        parts.append(f"epsilon={float(given['epsilon']):g}")
    own = type(policy if isinstance(learner, PolicyLearner) else learner).__name__
    return own + (f" ({', '.join(parts)})" if parts else "")


def _arguments(learner: Any) -> dict[str, Any]:
    """What the learner was made with, besides the items."""
    return {name: restored_argument(value) for name, value in getattr(learner, "_arguments", {}).items()}
