"""What was released of each set, as the model remembers it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.checks import BoolArray, FloatArray

#: So many sets are remembered; those played least are forgotten first.
KEEP = 400
#: With a half-life, a set that counts for fewer rounds than this is forgotten.
FORGOTTEN = 1e-3


class Seen(NamedTuple):
    """What was released of each set: the sum in halves of the range, of so many rounds and releases.

    A set that was played in two segments is here twice.
    """

    signs: FloatArray
    segments: FloatArray  # the number of the segment; 0 where there are none
    totals: FloatArray
    rounds: FloatArray  # 0: no set is here
    releases: FloatArray
    parts: FloatArray  # what each item brought, in halves of the range; no columns where that is not told

    @classmethod
    def nothing(cls, n: int, parts: int) -> Seen:
        """Room for sets of n items, and for so many parts of each."""
        segments, totals, rounds, releases = np.zeros((4, KEEP))
        return cls(np.zeros((KEEP, n)), segments, totals, rounds, releases, np.zeros((KEEP, parts)))

    @property
    def known(self) -> BoolArray:
        """Where there is a set."""
        return np.asarray(self.rounds > 0)

    def played(self) -> Seen:
        """The sets that are here."""
        known = self.known
        return Seen(*[part[known] for part in self])

    def copy(self) -> Seen:
        return Seen(*[part.copy() for part in self])

    def in_segment(self, segment: int, of: int) -> Seen:
        """The same sets in this one of so many segments, each of which has its share of the rounds."""
        shared = self.copy()
        for part in shared[2:]:
            part /= of
        shared.segments[:] = segment
        return shared

    def widened(self, n: int) -> Seen:
        """A copy for n items, of which no set had those that are new."""
        parts = np.zeros((KEEP, n if self.parts.shape[1] else 0))
        parts[:, : self.parts.shape[1]] = self.parts
        return self.copy()._replace(signs=as_signs(self.signs, n), parts=parts)

    def fade(self, share: float) -> None:
        """Let everything count less."""
        for part in self[2:]:
            part *= share
        self.rounds[self.rounds < FORGOTTEN] = 0.0

    def add(self, new: Seen) -> None:
        """Add sums to those of the same sets; a new set takes the place of the one played least."""
        places = {self._key(i): i for i in np.flatnonzero(self.known).tolist()}
        for i, numbers in enumerate(zip(*new[2:], strict=True)):
            place = places.get(new._key(i))
            if place is None:
                place = int(self.rounds.argmin())
                places.pop(self._key(place), None)
                places[new._key(i)] = place
                self.signs[place], self.segments[place] = new.signs[i], new.segments[i]
                for part in self[2:]:
                    part[place] = 0.0
            for part, number in zip(self[2:], numbers, strict=True):
                part[place] += number

    def _key(self, place: int) -> tuple[bytes, float]:
        return self.signs[place].tobytes(), float(self.segments[place])


def as_signs(signs: FloatArray, n: int) -> FloatArray:
    """Sets, given by signs, that have none of the items which were added since."""
    widened = np.full((len(signs), n), -1.0)
    widened[:, : signs.shape[1]] = np.where(signs > 0, 1.0, -1.0)
    return widened
