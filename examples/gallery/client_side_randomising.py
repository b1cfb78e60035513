"""Randomising on the devices: the server never gets a number, only coin flips.

An app shows each user some tips and asks how annoying they were, from 0 to 1. The device makes one random bit
of the answer, with the learner's randomizer, and sends that bit. It is 1 more often for larger answers, so
one bit says little about one person, while thousands of them say which tips to show. Nobody has to trust the
server, its logs or its backups: the number never leaves the device. The randomizer itself needs no compiler.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

import discreet
from discreet.plots.canvas import COLOURS, GRID, INK, drawing, linear_scale, log_scale, new_panels
from discreet.policies import FloatArray
from discreet.randomness import BitSource
from discreet.simulation.replicas import log_grid
from examples.gallery.pictures import options, save

EPSILON = 1.0
#: How much each tip annoys (or, below zero, pleases) on average.
TIPS = {"weather": -0.12, "birthdays": -0.08, "news": -0.05, "adverts": 0.12, "surveys": 0.06}
SHOWN = (8, 60)


def answer(subset: frozenset[str], rng: np.random.Generator) -> float:
    """What one user would say, from 0 (fine) to 1 (annoying)."""
    return float(np.clip(0.5 + sum(TIPS[tip] for tip in subset) + rng.normal(scale=0.1), 0.0, 1.0))


def main(arguments: Sequence[str] | None = None) -> Axes:
    """Ask, show, randomise on the device, tell the bit; then draw the bits and what came of them."""
    given = options(__doc__, "client_side_randomising.svg").parse_args(arguments)
    rounds = 2_000 if given.quick else 60_000
    rng = np.random.default_rng(0)

    # Seeded so that the picture can be made again. A real device takes the default, the system's random bits.
    server = discreet.BanditLearner(TIPS, EPSILON, cost_range=(0, 1), mode="local", seed=2)
    device = server.randomizer(source=BitSource(seed=1))
    bits, taken = np.empty(rounds, dtype=int), np.empty((rounds, len(TIPS)))
    for t in range(rounds):
        decision = server.ask()
        bits[t] = bit = device.release(answer(decision.subset, rng))
        server.tell(decision, released=bit)  # the only line in which the server hears of a user
        taken[t] = [tip in decision.subset for tip in TIPS]

    likely = [float(device.probability_of_one(device.grid.of(value))) for value in (0.0, 1.0)]
    print(
        f"A user who says 0 sends a 1 with probability {likely[0]:.2f}, one who says 1 with {likely[1]:.2f}."
    )
    shown = ", ".join(tip for tip in TIPS if tip in server.best)
    print(f"After {rounds:,} bits the server considers best: {shown}.")
    some = rounds // 20
    print(
        f"Ones among the first {some:,} bits: {bits[:some].mean():.2f}, the last: {bits[-some:].mean():.2f}."
    )
    return save(draw(bits, taken), given.out)


def draw(bits: FloatArray, taken: FloatArray) -> Axes:
    """Above all that the server sees (some of it), below what it has learned from it."""
    with drawing():
        above, below = new_panels(2, 1, (7.0, 5.4), height_ratios=[1, 3.2])
        some = bits[: SHOWN[0] * SHOWN[1]].reshape(SHOWN)
        above.pcolormesh(
            some, cmap=ListedColormap([GRID, INK]), edgecolors="white", linewidth=0.8, rasterized=True
        )
        above.set(xticks=[], yticks=[], aspect="equal", ylim=(SHOWN[0], 0))
        above.spines[:].set_visible(False)
        above.set_title(f"What the server sees: bits (the first {some.size})", loc="left")
        users = log_grid(len(taken), 40)
        means = np.diff(np.cumsum(taken, axis=0)[users - 1], axis=0) / np.diff(users)[:, None]
        for k, tip in enumerate(TIPS):
            line = "-" if TIPS[tip] < 0 else (0, (4, 1.5))
            below.plot(users[1:], means[:, k], color=COLOURS[k], linestyle=line, linewidth=2, label=tip)
        log_scale(below.xaxis, 100, len(taken))
        linear_scale(below.yaxis, -0.03, 1.03)
        below.set(xlabel="users", ylabel="how often it is shown")
        below.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title="solid: liked\ndashed: disliked")
        below.set_title(f"What it learns, epsilon = {EPSILON:g}", loc="left")
    return above


if __name__ == "__main__":
    main()
