"""From a saved file back to a learner, of whatever class."""

import importlib
import os

from discreet.errors import InvalidArgument
from discreet.learners.files import read_unless_taken, take
from discreet.learners.session import Session
from discreet.state import decode

#: The modules whose learners are found by the name of their class; others once they have been imported.
_HOMES = ("discreet.paper", "discreet.baselines")


def load(path: str | os.PathLike[str]) -> Session:
    """The learner that :meth:`Session.save` wrote to a file, exactly as it was.

    A learner that keeps secrets is taken out of the file, of which nothing secret is left (see
    `discreet.learners.files`).

    Raises:
        InvalidArgument: The file is no saved learner, is damaged, or is of another version.
        StaleState: The learner keeps secrets and has been loaded from this file before.

    Examples:
        >>> import tempfile, discreet
        >>> learner = discreet.BanditLearner(["tea", "milk"], epsilon=1.0, cost_range=(0, 1))
        >>> decision = learner.ask()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     learner.save(f"{folder}/shop.json")
        ...     later = discreet.load(f"{folder}/shop.json")
        >>> later.tell(decision.id, 0.2)
        >>> later.rounds
        1
    """
    data = read_unless_taken(path)
    learner = _learner_in(data)
    if learner.keeps_secrets:
        latest = take(path)
        if latest != data:
            learner = _learner_in(latest)
    return learner


def _learner_in(data: bytes) -> Session:
    """A learner from its saved bytes, of the generation they say; `take` keeps them from being used twice."""
    document, _ = decode(data)
    name = str(document.get("kind"))
    kind = _kinds().get(name)
    if kind is None:
        for home in _HOMES:
            importlib.import_module(home)
        kind = _kinds().get(name)
    if kind is None:
        raise InvalidArgument(
            f"This is the state of a {name}, which is no learner known here. A custom class must be imported "
            "before its learners are loaded."
        )
    return kind.from_bytes(data, generation=document.get("generation", -1))


def _kinds() -> dict[str, type[Session]]:
    """All classes of learners that have been imported, by name."""
    found, left = {}, Session.__subclasses__()
    while left:
        kind = left.pop()
        found[kind.__name__] = kind
        left += kind.__subclasses__()
    return found
