"""The errors a caller may want to catch.

Each is a :class:`DiscreetError` and also the built-in a Python programmer would
expect, so both ``except discreet.DiscreetError`` and ``except ValueError`` work.

Messages may quote public arguments (shapes, names, declared ranges). They never
quote private feedback: that is clipped or replaced, not complained about.
"""


class DiscreetError(Exception):
    """Base of every error raised on purpose by this package.

    Examples:
        >>> from discreet import BanditLearner
        >>> try:
        ...     BanditLearner(0, epsilon=1.0, cost_range=(0, 1))
        ... except DiscreetError as error:
        ...     print(error)
        The 'items' of BanditLearner must be a whole number of at least 1. Got 0 instead.
    """


class InvalidArgument(DiscreetError, ValueError):
    """A public argument has a value that cannot be used."""


class InvalidType(DiscreetError, TypeError):
    """A public argument is of a kind that cannot be used."""


class UnknownName(DiscreetError, KeyError):
    """Something was looked up by a name nobody registered."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, which turns a sentence into a quoted string.
        return str(self.args[0]) if self.args else ""


class NotCopyable(DiscreetError, TypeError):
    """Something that must exist once was about to be copied or pickled."""


class StaleState(DiscreetError, RuntimeError):
    """A private state is not the latest of its line: going on with it would reuse noise."""


class MissingExtra(DiscreetError, ImportError):
    """An optional dependency is needed; the message names the extra that installs it.

    Attributes:
        extra: The name of that extra.
    """

    def __init__(self, message: str, extra: str = "") -> None:
        super().__init__(message)
        self.extra = extra


class UnknownDecision(UnknownName):
    """A cost was told for a decision that was never asked for."""


class AlreadyTold(DiscreetError, ValueError):
    """A cost was told for a decision a second time."""


class Expired(DiscreetError, ValueError):
    """A cost was told after its deadline, when a neutral value had been learnt from in its place."""


class HorizonReached(InvalidArgument):
    """A mechanism made for a number of rounds has taken them all; more would need noise not accounted for."""


class StoreError(DiscreetError, RuntimeError):
    """A store cannot do what was asked: it is damaged, of another version, or out of reach."""


class StoreInUse(StoreError):
    """Another process has this store, which serves one process."""


class CannotKeep(StoreError):
    """A store is in order and within reach, and refused what was to be kept; nothing was changed."""


class Conflict(StoreError):
    """Somebody else changed the same thing first; nothing was changed here."""


class AlreadyExists(DiscreetError, ValueError):
    """Something was to be made under a name that is taken."""


class WrongKey(DiscreetError, RuntimeError):
    """The key that seals secrets is missing, or is not the one this store was made with."""


class Archived(DiscreetError, RuntimeError):
    """A learner has been archived: it can be looked at, and neither asked nor told."""


class BudgetExceeded(DiscreetError, ValueError):
    """A learner would let the people of a population lose more than the limit that was set for them."""


class Busy(StoreError):
    """More is waiting to be written than a store can take; nothing was changed, and trying later helps."""
