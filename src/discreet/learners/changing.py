"""Items that come and go: a running learner goes on with others, with all that it learned.

New items are appended, so that the numbers in tickets, notes and released sets keep their meaning. Retired
ones stay known, since what was released of sets with them tells about others; they are forbidden then. Once
there are as many items as a learner can have, a new one takes the place of the one retired longest ago.

The undealt rest of an open phase is dropped, a public event: its slots have the rounds that were dealt, and
are released once, as usual. If reports for other items are of another kind, it is never released.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import BoolArray, IntArray
from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel.phase import Phase, dealt_part, sets_in
from discreet.kernel.queries import CostsOfSets, numbers_told
from discreet.learners.arguments import plain, restored_argument
from discreet.learners.learner import Learner
from discreet.learners.packing import OpenPhase


class Offer(NamedTuple):
    """The items of a learner, those of them that are retired (the longest ago first), and its arguments."""

    items: tuple[Any, ...]
    retired: tuple[Any, ...]
    arguments: dict[str, Any]

    def changed(
        self, owner: str, add: Iterable[Any], retire: Iterable[Hashable], most: int, open_sets: BoolArray
    ) -> Offer:
        """With some items more, or back again, and some retired; at `most` so many in all.

        What is still in open sets, rows of members, does not leave its place to a new item.
        """
        if isinstance(add, set | frozenset):
            raise InvalidType(f"The items to 'add' to {owner} need an order: give a list, not a set.")
        added, retiring = _names(owner, "add", add), _names(owner, "retire", retire)
        offered = [item for item in self.items if item not in self.retired]
        there = [item for item in added if item in offered]
        if there:
            raise checks.invalid_argument(owner, "add", "items that it does not offer", there)
        unknown = [item for item in retiring if item not in offered]
        if unknown:
            raise checks.invalid_argument(owner, "retire", "items that it offers", unknown)
        if len(retiring) == len(offered) and not added:
            raise InvalidArgument(f"A {owner} needs an item to offer: all of them were to be retired.")
        new = [item for item in added if item not in self.items]
        retired = [item for item in self.retired if item not in added]
        places = [self.items.index(item) for item in retired]
        free = [place for place in places if not open_sets[:, place].any()]
        if len(self.items) + len(new) - len(free) > most:
            known = "those that are retired and still in open decisions included"
            raise InvalidArgument(
                f"A {owner} has at most {most} items, {known}: there is no place for {new}."
            )
        replaced = free[: max(0, len(self.items) + len(new) - most)]
        items = [*self.items, *new[len(replaced) :]]
        for place, item in zip(replaced, new, strict=False):
            items[place] = item
        gone = {self.items[place] for place in replaced}
        retired = [item for item in retired if item not in gone] + retiring
        arguments = _renamed(self.arguments, gone)
        forbidden = _others(arguments.pop("forbidden", None), self.retired) + retired
        if forbidden:
            arguments["forbidden"] = plain(forbidden)
        return Offer(tuple(items), tuple(retired), arguments)

    def replaced(self, before: Offer) -> IntArray:
        """The places that were left to other items."""
        names = zip(before.items, self.items, strict=False)
        return np.array([i for i, (old, new) in enumerate(names) if old != new], dtype=np.int64)


def _renamed(arguments: dict[str, Any], gone: set[Any]) -> dict[str, Any]:
    """Arguments without items that are not known any more."""
    changed = dict(arguments)
    groups, prior = (restored_argument(changed.get(name)) for name in ("groups", "prior"))
    if groups:
        changed["groups"] = plain([[item for item in group if item not in gone] for group in groups])
    if prior:
        changed["prior"] = plain([entry for entry in prior if gone.isdisjoint(entry[0])]) or None
    return changed


def _names(owner: str, name: str, given: Iterable[Any]) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise checks.invalid_argument(owner, name, "an iterable of items", given)
    names = list(given)
    if len(set(names)) < len(names):
        raise checks.invalid_argument(owner, name, "items that are all different", names)
    return names


def _others(forbidden: Any, retired: tuple[Any, ...]) -> list[Any]:
    """Those that are forbidden for another reason than having been retired."""
    return [item for item in restored_argument(forbidden) or () if item not in retired]


def settled(session: Any) -> dict[str, Any]:
    """The arguments whose defaults depend on the items, as settled with the first ones; refused for some."""
    owner, method = type(session).__name__, getattr(session, "method", None)
    if method not in ("model", "choose"):
        given = "" if method is None else f" with method={method!r}"
        raise InvalidArgument(
            f"A {owner}{given} cannot change its items: its policy has a number or a chance for each of them "
            "from the first round on. BanditLearner with method='model' and FullInformationLearner with "
            "method='choose' can."
        )
    return {name: getattr(session, name) for name in ("mode", "method") if hasattr(session, name)}


def takes_reports_for(before: Learner, after: Learner) -> bool:
    """Whether reports that were measured before the change may be added up and released after it."""
    told = [numbers_told(learner.query, learner.n, learner.n) for learner in (before, after)]
    same = before.query == after.query and told[0] == told[1]
    return same and not isinstance(after.query, CostsOfSets)


def open_sets(learner: Learner, phases: Iterable[Phase]) -> BoolArray:
    """Every set that will be learned from of these phases, a row of members each."""
    learned = [] if isinstance(learner.query, CostsOfSets) else phases
    none = np.zeros((0, learner.n), dtype=np.bool_)
    return np.concatenate([none, *[sets_in(phase, learner.n) for phase in learned]])


def cut_short(phase: OpenPhase) -> IntArray:
    """End the dealing of a phase. The slots that were never dealt vanish: the others' new places."""
    part, kept = dealt_part(phase.phase, phase.deck, phase.dealt)
    places: IntArray = np.cumsum(kept) - 1
    deck = phase.deck[: phase.dealt]
    phase.phase, phase.sums, phase.left, phase.total = part, phase.sums[kept], part.rounds, phase.dealt
    phase.deck = places[deck] if len(part.rounds) > 1 else deck[:0]
    return places
