"""Which sets may be chosen: sizes, items that must or must not be in them, groups of which one may be.

The allowed sets, cut down to those without the required items, are the independent sets of a matroid that
have enough items. So adding items one by one, whichever is allowed, finds an allowed set if there is one.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidArgument

#: Listed sets are numbered by their items' bits.
MOST_ITEMS_LISTED = 62


@dataclasses.dataclass(frozen=True)
class Constraints:
    """Sets of at least and at most so many of n items, with all `required` and no `forbidden` ones.

    Of each group, which do not overlap, at most one item may be in a set.

    Examples:
        >>> two = Constraints.of("minimize", ["tea", "milk", "gin"], at_most=2, groups=[["tea", "gin"]])
        >>> two.count, two.allows(np.array([[True, True, False], [True, False, True]])).tolist()
        (6, [True, False])
    """

    n: int
    at_most: int
    at_least: int = 0
    required: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(
        cls,
        owner: str,
        items: Sequence[Hashable],
        *,
        at_most: int | None = None,
        at_least: int | None = None,
        required: Iterable[Hashable] | None = None,
        forbidden: Iterable[Hashable] | None = None,
        groups: Iterable[Iterable[Hashable]] | None = None,
    ) -> Constraints | None:
        """From the arguments of `owner`, in whose name they are refused; None if all sets are allowed."""
        n, place = len(items), {item: i for i, item in enumerate(items)}

        def numbers(name: str, named: Any) -> tuple[int, ...]:
            if isinstance(named, str | bytes) or not isinstance(named, Iterable):
                raise checks.invalid_argument(owner, name, "an iterable of items", named)
            chosen = set(named)
            strangers = sorted(str(item) for item in chosen if item not in place)
            if strangers:
                raise checks.invalid_argument(owner, name, "items of this learner", strangers)
            return tuple(sorted(place[item] for item in chosen))

        most = n if at_most is None else checks.integer(owner, "at_most", at_most, 0, n)
        least = 0 if at_least is None else checks.integer(owner, "at_least", at_least, 0, most)
        together = tuple(numbers("groups", group) for group in groups or ())
        made = cls(
            n,
            most,
            least,
            numbers("required", required or ()),
            numbers("forbidden", forbidden or ()),
            together,
        )
        members = [item for group in together for item in group]
        if len(set(members)) < len(members):
            raise InvalidArgument(f"The 'groups' of {owner} must not overlap: an item is in two of them.")
        if made == cls(n, n):
            return None
        made._require_some(owner)
        return made

    def _require_some(self, owner: str) -> None:
        required = set(self.required)
        overfull = any(len(required.intersection(group)) > 1 for group in self.groups)
        most = min(self.at_most, len(required) + len(self._parts()))
        if overfull or required.intersection(self.forbidden) or not max(self.at_least, len(required)) <= most:
            raise InvalidArgument(f"No set keeps to all constraints of {owner}: there is nothing to choose.")

    @functools.cached_property
    def _group(self) -> BoolArray:
        """A row per group: its items."""
        group = np.zeros((len(self.groups), self.n), dtype=np.bool_)
        for row, items in zip(group, self.groups, strict=True):
            row[list(items)] = True
        return group

    @functools.cached_property
    def fixed(self) -> BoolArray:
        """The items that are never changed: required or forbidden."""
        fixed = np.zeros(self.n, dtype=np.bool_)
        fixed[list(self.required + self.forbidden)] = True
        return fixed

    @property
    def competing(self) -> bool:
        """Whether an item may have to leave for another."""
        return bool(self.groups) or (self.at_least, self.at_most) != (0, self.n)

    def allows(self, members: BoolArray) -> BoolArray:
        """Whether each row of members is an allowed set."""
        size = members.sum(axis=1)
        of_groups = members.astype(np.int64) @ self._group.T.astype(np.int64)
        return np.asarray(
            (size >= self.at_least)
            & (size <= self.at_most)
            & members[:, list(self.required)].all(axis=1)
            & ~members[:, list(self.forbidden)].any(axis=1)
            & (of_groups <= 1).all(axis=1)
        )

    def may_enter(self, members: BoolArray) -> BoolArray:
        """Which items could be put into each allowed set if it were smaller by one."""
        of_groups = members.astype(np.float64) @ self._group.T
        taken = of_groups @ self._group > 0
        return np.asarray(~(members | taken | self.fixed))

    def may_flip(self, members: BoolArray) -> BoolArray:
        """Which items could be put into each allowed set, or taken out of it."""
        size = members.sum(axis=1)[:, None]
        into = self.may_enter(members) & (size < self.at_most)
        return np.asarray(into | (members & ~self.fixed & (size > self.at_least)))

    def repaired(self, wanted: BoolArray, preference: FloatArray | None = None) -> BoolArray:
        """An allowed set for each row: as many wanted items as may be, those of least preference first."""
        order = np.argsort(
            np.zeros(wanted.shape) if preference is None else preference, axis=1, kind="stable"
        )
        members = np.zeros(wanted.shape, dtype=np.bool_)
        members[:, list(self.required)] = True
        rows = np.arange(len(wanted))
        for unwanted in (False, True):  # more than those that are wanted only if there are too few
            most = self.at_least if unwanted else self.at_most
            for item in order.T:
                fits = self.may_enter(members)[rows, item] & (members.sum(axis=1) < most)
                fits &= unwanted | wanted[rows, item]
                members[rows[fits], item[fits]] = True
        return members

    def among(self, owner: str, available: IntArray | None) -> Constraints:
        """The same constraints where only these items (or all) can be chosen."""
        if available is None:
            return self
        off = tuple(np.setdiff1d(np.arange(self.n), available).tolist())
        if set(off) & set(self.required):
            raise InvalidArgument(f"A required item of {owner} is not among the 'available' ones.")
        less = dataclasses.replace(self, forbidden=tuple(sorted({*self.forbidden, *off})))
        less._require_some(owner)
        return less

    @functools.cached_property
    def count(self) -> int:
        """How many sets are allowed."""
        taken = len(self.required)
        sizes = [1]  # how many choices from the groups so far have 0, 1, ... items
        for group in self._parts():
            longer = [*sizes, 0]
            for size, ways in enumerate(sizes):
                longer[size + 1] += ways * len(group)
            sizes = longer[: max(1, self.at_most - taken + 1)]
        return sum(ways for size, ways in enumerate(sizes, taken) if self.at_least <= size <= self.at_most)

    def _parts(self) -> list[list[int]]:
        """The free items: those of one group together, each of the others by itself."""
        required = set(self.required)
        together = [
            [i for i in group if not self.fixed[i]] for group in self.groups if required.isdisjoint(group)
        ]
        single = set(np.flatnonzero(~self.fixed).tolist()) - {i for group in self.groups for i in group}
        return [part for part in [*together, *[[i] for i in sorted(single)]] if part]

    def listed(self) -> BoolArray:
        """All allowed sets, a row of members each, in the order of their codes."""
        if self.n > MOST_ITEMS_LISTED:
            raise InvalidArgument(
                f"Sets of more than {MOST_ITEMS_LISTED} items are not listed. Got {self.n}."
            )
        codes, sizes = np.array([sum(1 << i for i in self.required)]), np.array([len(self.required)])
        for part in self._parts():
            choices = [0, *[1 << i for i in part]]
            codes = np.concatenate([codes + choice for choice in choices])
            sizes = np.concatenate([sizes + (choice > 0) for choice in choices])
            codes, sizes = codes[sizes <= self.at_most], sizes[sizes <= self.at_most]
        codes = np.sort(codes[sizes >= self.at_least])
        return np.asarray((codes[:, None] >> np.arange(self.n)) & 1 == 1)
