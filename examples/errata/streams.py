"""Streams that the errata scripts share."""

import numpy as np

from discreet.environments import Pool
from discreet.learners import Session
from discreet.set_functions import Modular
from discreet.simulation import regret


def modular_stream(n: int, gap: float, rounds: int, seed: int) -> Pool:
    """f(S) = s (2 [i in S] - 1), item i and sign s at random; the signs favour every other item by `gap`."""
    functions, probabilities = [], []
    for item in range(n):
        for sign in (1, -1):
            weights = np.zeros(n)
            weights[item] = 2 * sign
            functions.append(Modular(weights, constant=-sign))
            favoured = sign == (-1 if item % 2 == 0 else 1)
            probabilities.append((1 + gap if favoured else 1 - gap) / (2 * n))
    return Pool(functions, rounds, probabilities=probabilities, seed=seed)


def regret_rate(learner: Session, pool: Pool) -> float:
    """Regret per round against the best fixed set."""
    return regret(learner, pool) / pool.rounds
