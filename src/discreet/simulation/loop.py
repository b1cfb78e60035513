"""The compiled loop: a learner's core against a stream, round after round."""

from typing import Any

import numpy as np

from discreet.checks import FloatArray
from discreet.compiled import kernel
from discreet.environments.stream import chain_costs, prefix_cost
from discreet.errors import HorizonReached, InvalidArgument
from discreet.learners.base import BanditFeedback, Learner
from discreet.learners.core import choose, horizon_of, learn_cost, learn_function
from discreet.learners.draw import SIZE, Draw, new_draw
from discreet.minimizers import minimize
from discreet.privacy.uniform import DRY
from discreet.randomness import WordArray, WordSource


@kernel
def play_bandit(
    core: Any, stream: Any, draw: Draw, paid: FloatArray, t: int, words: WordArray, cursor: int
) -> tuple[int, int]:
    """Play rounds t, t+1, ... until `paid` is full or the words run out; return (rounds done, cursor)."""
    while t < paid.size:
        after = choose(core, draw, words, cursor)
        if after == DRY:
            break
        cost = prefix_cost(stream, t, core.x, draw.order, draw.numbers[SIZE])
        after = learn_cost(core, draw, cost, words, after)
        if after == DRY:
            break
        paid[t] = cost
        t += 1
        cursor = after
    return t, cursor


@kernel
def play_full_information(
    core: Any, stream: Any, draw: Draw, paid: FloatArray, t: int, words: WordArray, cursor: int
) -> tuple[int, int]:
    """The same where the whole function is seen after each round."""
    costs = np.empty(core.x.size + 1)
    while t < paid.size:
        after = choose(core, draw, words, cursor)
        if after == DRY:
            break
        chain_costs(stream, t, core.x, draw.order, costs)
        after = learn_function(core, draw, costs, words, after)
        if after == DRY:
            break
        paid[t] = costs[draw.numbers[SIZE]]
        t += 1
        cursor = after
    return t, cursor


def play(core: Any, stream: Any, rounds: int, source: WordSource, *, bandit: bool) -> FloatArray:
    """The costs paid in each of `rounds` rounds; `core` is changed."""
    horizon = horizon_of(core)
    if core.rounds[0] + rounds > horizon:
        raise HorizonReached(f"This learner can take {horizon - core.rounds[0]} more rounds, not {rounds}.")
    paid = np.empty(rounds)
    run = play_bandit if bandit else play_full_information
    draw = new_draw(np.arange(core.x.size))
    source.feed(lambda done, words, cursor: run(core, stream, draw, paid, done, words, cursor), rounds)
    return paid


def regret(learner: Learner, stream: Any) -> float:
    """Play all rounds of a stream; what the learner paid more than the best fixed set in hindsight.

    Args:
        learner: Is changed: it goes on where it stood.
        stream: Has `n`, `rounds`, `compiled` and, once it has been played, `total`.
    """
    if stream.n != len(learner.items):
        raise InvalidArgument(f"The stream has {stream.n} items, the learner {len(learner.items)}.")
    bandit = isinstance(learner, BanditFeedback)
    paid = play(learner._core, stream.compiled, stream.rounds, learner._source, bandit=bandit)
    return float(paid.sum() - minimize(stream.total).value)
