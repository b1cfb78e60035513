"""Calling everything compiled once, so that the first customer does not wait for it to be loaded."""

from __future__ import annotations

from discreet.learners.detached import DetachedBandit, DetachedFunctions, detached

_ARGUMENTS = {"epsilon": 1.0, "cost_range": [0, 1]}


def warm_up() -> None:
    """Draw, make feedback ready and learn, with learners that nobody keeps."""
    for kind in ("bandit", "full_information"):
        learner = detached({"kind": kind, "items": 2, "arguments": _ARGUMENTS})
        draws = [drawn.draw for drawn in learner.draw(2)]
        if isinstance(learner, DetachedBandit):
            payloads = learner.privatised_many([0.5, 0.5])
            learner.privatised(0.5)
        else:
            assert isinstance(learner, DetachedFunctions)
            payloads = [learner.chain_costs(draw, {"kind": "Modular", "weights": [0, 1]}) for draw in draws]
        learner.fold(draws, payloads)
        learner.restore(learner.state())
        learner.summary()
