"""Items that come and go: a running learner goes on with others, with all that it learned.

New items are appended, so that the numbers in tickets, notes and released sets keep their meaning. Retired
ones stay known, since what was released of sets with them tells about others; they are forbidden then.

The undealt rest of an open phase is dropped, a public event: its slots have the rounds that were dealt, and
are released once, as usual. If reports for other items are of another kind, it is never released.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import IntArray
from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel.phase import dealt_part
from discreet.kernel.queries import CostsOfSets
from discreet.learners.arguments import plain, restored_argument
from discreet.learners.learner import Learner
from discreet.learners.packing import OpenPhase


class Offer(NamedTuple):
    """The items of a learner, those of them that are retired (the longest ago first), and its arguments."""

    items: tuple[Any, ...]
    retired: tuple[Any, ...]
    arguments: dict[str, Any]

    def changed(self, owner: str, add: Iterable[Any], retire: Iterable[Hashable]) -> Offer:
        """With some items more, or back again, and some retired."""
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
        retired = [item for item in self.retired if item not in added] + retiring
        arguments = dict(self.arguments)
        forbidden = _others(arguments.pop("forbidden", None), self.retired) + retired
        if forbidden:
            arguments["forbidden"] = plain(forbidden)
        if isinstance(arguments.get("start"), list):
            arguments["start"] = arguments["start"] + [0.5] * len(new)
        return Offer((*self.items, *new), tuple(retired), arguments)


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
    return before.query == after.query and not isinstance(after.query, CostsOfSets)


def cut_short(phase: OpenPhase) -> IntArray:
    """End the dealing of a phase. The slots that were never dealt vanish: the others' new places."""
    part, kept = dealt_part(phase.phase, phase.deck, phase.dealt)
    places: IntArray = np.cumsum(kept) - 1
    deck = phase.deck[: phase.dealt]
    phase.phase, phase.sums, phase.total = part, phase.sums[kept], phase.dealt
    phase.deck = places[deck] if len(part.rounds) > 1 else deck[:0]
    return places
