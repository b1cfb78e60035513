"""Test vectors of the one-bit randomizer for its other implementations; run as a script, this writes them.

A randomizer is epsilon, the ends of the range, and rounds per person. A case is which randomizer, a value,
its grid point, 64 random bits, and the bit that must come out. Floats are the 16 hexadecimal digits of their
bits.
"""

import itertools
import json
import math
import pathlib
import random
import struct
from typing import Any

import numpy as np

from discreet.client import Pinned
from discreet.randomizers import CENTRE
from discreet.randomness import BitSource

PATH = pathlib.Path(__file__).parents[2] / "clients" / "vectors.json"

#: Epsilon, range and rounds: ordinary ones, and those where floats round most.
PINNED = [
    Pinned(1.0, (0, 1)),
    Pinned(0.1, (-1, 1), 3),
    Pinned(math.log(3), (0.1, 0.7), 7),
    Pinned(1e-9, (-5e-324 * 2**40, 1e-300)),
    Pinned(2.0**-30, (1.0, math.nextafter(1.0, 2) + 2**-40)),
    Pinned(30.0, (-1.7e308, 1.7e308)),
    Pinned(43.0, (-3, 2.5)),
    Pinned(1000.0, (0, 1e9), 1000),
    Pinned(1000.0, (0, 1)),
]


def hexadecimal(number: float) -> str:
    return struct.pack(">d", number).hex()


def values(low: float, high: float, chance: random.Random) -> list[float]:
    """What is not finite, the ends and what is next to them, boundaries of the grid, and any floats."""
    half = 0.5 * high - 0.5 * low
    some = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, low, high, low + half, 1.79e308]
    some += [math.nextafter(end, to) for end, to in itertools.product((low, high), (-math.inf, math.inf))]
    for _ in range(8):
        boundary = low + half * (1 + (chance.randrange(-(1 << 20), 1 << 20) + 0.5) / (1 << 20))
        some += [boundary, math.nextafter(boundary, math.inf), math.nextafter(boundary, -math.inf)]
    some += [low + (0.5 * high - 0.5 * low) * 2 * chance.random() for _ in range(8)]
    (any_float,) = struct.unpack(">d", chance.randbytes(8))
    return [*some, any_float]


def bit_of_release(pinned: Pinned, value: float, bits: int) -> int:
    """What `OneBit.release` makes of these 64 random bits."""
    randomizer = pinned.randomizer()
    randomizer._source = BitSource(fresh=lambda: lambda count: np.full(count, bits, dtype=np.uint64))
    return int(randomizer.release(value))


def vectors() -> dict[str, Any]:
    chance = random.Random(1)
    randomizers = []
    cases = []
    for pinned in PINNED:
        randomizer = pinned.randomizer()
        for value in values(*map(float, pinned.cost_range), chance):
            units = randomizer.grid.of(value)
            threshold = 2 * (CENTRE + units * randomizer.slope)
            for bits in (threshold - 1, threshold, chance.getrandbits(64)):
                released = bit_of_release(pinned, value, bits)
                cases.append([len(randomizers), hexadecimal(value), units, str(bits), released])
        low, high = map(hexadecimal, pinned.cost_range)
        randomizers.append([hexadecimal(pinned.epsilon), low, high, pinned.rounds_per_person])
    return {"randomizers": randomizers, "cases": cases}


def written() -> str:
    """The file, with a line for each randomizer and each case."""
    parts = [
        f'"{name}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]"
        for name, rows in vectors().items()
    ]
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    PATH.write_text(written())
