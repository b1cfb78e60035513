"""Learners whose open decisions are kept elsewhere: a store keeps them, and brings draws and feedback back.

A :class:`Detached` draws sets, makes feedback ready to be kept, and learns from many pieces of it at once.
What must be kept with a decision is a few bytes, its *encoded draw*. The state is the core's arrays, as
bytes. Nothing here knows what a store is.

There are two kinds. Of a :class:`DetachedBandit` every cost becomes a bit at once, and the bit is all that is
kept. Of :class:`DetachedFunctions` the costs along the chain of the draw are kept, which are secret: seal
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import DiscreetError, InvalidArgument
from discreet.learners import pending
from discreet.learners.bandit import BanditLearner
from discreet.learners.detached_bandit import DetachedBandit
from discreet.learners.detached_base import Detached, Drawn, Summary
from discreet.learners.detached_functions import DetachedFunctions
from discreet.learners.full_information import FullInformationLearner
from discreet.randomness import BitSource

__all__ = ["Detached", "DetachedBandit", "DetachedFunctions", "Drawn", "Summary", "detached"]


def detached(settings: Mapping[str, Any], *, source: BitSource | None = None) -> Detached:
    """A learner from its settings, before its first round.

    Args:
        settings: "kind", "items" and "arguments" (those of the constructor, as JSON types); where they were
            read from :attr:`Detached.settings` also "constants", which must be what they were.
        source: Random bits; new cryptographic ones by default.
    """
    try:
        kind, items = settings["kind"], settings["items"]
        arguments = dict(settings["arguments"])
    except (KeyError, TypeError, ValueError):
        raise InvalidArgument("The settings of a learner need 'kind', 'items' and 'arguments'.") from None
    if "seed" in arguments or "source" in arguments:
        raise InvalidArgument("A learner that is kept draws its own bits: no 'seed' and no 'source'.")
    others = {} if source is None else {"source": source}
    made: Detached
    try:
        if kind == DetachedBandit.kind:
            made = DetachedBandit(BanditLearner._made(items, arguments, **others))
        elif kind == DetachedFunctions.kind:
            made = DetachedFunctions(FullInformationLearner._made(items, arguments, **others))
        else:
            raise InvalidArgument("The 'kind' of a learner must be 'bandit' or 'full_information'.")
    except DiscreetError:
        raise
    except (TypeError, LookupError, AttributeError):
        raise InvalidArgument("The 'arguments' do not fit: some are misshapen.") from None
    if "constants" in settings:
        pending.same_constants(type(made._learner).__name__, made._core, settings["constants"])
    return made
