"""The errors a caller may want to catch: each is a `DiscreetError` and the built-in exception that fits.

Messages never quote private feedback, which is clipped or replaced instead of refused.
"""


class DiscreetError(Exception):
    """Base of every error raised on purpose by this package.

    Examples:
        >>> from discreet import BanditLearner
        >>> BanditLearner(0, epsilon=1.0, cost_range=(0, 1))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        discreet.errors.InvalidArgument: The 'items' of BanditLearner must be an integer of at least 1...
    """


class InvalidArgument(DiscreetError, ValueError):
    """A public argument has a value that cannot be used."""


class InvalidType(DiscreetError, TypeError):
    """A public argument has a type that cannot be used."""


class UnknownName(DiscreetError, KeyError):
    """There is nothing of the given name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # KeyError would put the sentence in quotes


class NotCopyable(DiscreetError, TypeError):
    """An object that must exist only once, such as a source of noise, was to be copied or pickled."""


class StaleState(DiscreetError, RuntimeError):
    """A private state is not the latest one: continuing from it would reuse noise."""


class MissingExtra(DiscreetError, ImportError):
    """An optional dependency is needed; the message names the `extra` that installs it."""

    def __init__(self, message: str, extra: str = "") -> None:
        super().__init__(message)
        self.extra = extra


class UnknownDecision(UnknownName):
    """A cost was told for a decision that was never asked for."""


class AlreadyTold(DiscreetError, ValueError):
    """A cost was told for a decision a second time."""


class Expired(DiscreetError, ValueError):
    """A cost was told after its deadline, when a neutral value had already been used in its place."""


class HorizonReached(InvalidArgument):
    """A mechanism has taken all the rounds it was made for; more would need noise not accounted for."""


class StoreError(DiscreetError, RuntimeError):
    """A store cannot do what was asked: it is damaged, of another version, or unreachable."""


class StoreInUse(StoreError):
    """Another process has opened this store, which allows only one."""


class CannotKeep(StoreError):
    """A store works but refused what was to be written; nothing was changed."""


class Conflict(StoreError):
    """A concurrent change to the same record came first; nothing was changed here."""


class AlreadyExists(DiscreetError, ValueError):
    """Something was to be created under a name that is taken."""


class WrongKey(DiscreetError, RuntimeError):
    """The key that encrypts secrets is missing, or is not the one this store was created with."""


class Archived(DiscreetError, RuntimeError):
    """A learner has been archived: it can be read, but neither asked nor told."""


class BudgetExceeded(DiscreetError, ValueError):
    """A learner would exceed the privacy budget of its population."""


class Busy(StoreError):
    """A store has too many pending writes; nothing was changed, and the call may be retried later."""
