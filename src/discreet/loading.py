"""Learners in files: written whole or not at all, and never two of one secret.

Two copies of a learner that keeps secrets (exact sums, noise that is in use) would share noise, or release
the same data twice. So saving hands it over to the file, and loading takes it out again: a file with `.taken`
added to its name is left, with nothing secret. Copies made by other means cannot be seen from here: do not go
on from a backup. Other learners are saved and loaded at will, but a cost that is told to two copies spends
epsilon twice.
"""

import glob
import importlib
import json
import os
import pathlib

from discreet.atomic_files import name_beside, real_path, sync_folder
from discreet.errors import InvalidArgument, StaleState
from discreet.learners.session import TAKEN, Session
from discreet.state import decode

#: The modules whose learners are found by the name of their class; others once they have been imported.
_HOMES = ("discreet.paper", "discreet.baselines")
_LEFT = b'{"format": "discreet learner that was loaded"'


def load(path: str | os.PathLike[str]) -> Session:
    """The learner that `Session.save` wrote to a file, exactly as it was.

    One that keeps secrets is taken out of the file: loading it again raises `StaleState`.

    Examples:
        >>> import tempfile, discreet
        >>> learner = discreet.BanditLearner(["tea", "milk"], epsilon=1.0, cost_range=(0, 1))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     learner.save(f"{folder}/shop.json")
        ...     later = discreet.load(f"{folder}/shop.json")
    """
    data = _read_unless_taken(path)
    learner = _learner_in(data)
    if learner.keeps_secrets:
        latest = _take(path)
        if latest != data:
            learner = _learner_in(latest)
    return learner


def _learner_in(data: bytes) -> Session:
    """A learner from its saved bytes, of the generation they say."""
    document, _ = decode(data)
    name = str(document.get("kind"))
    if name not in _kinds():
        for home in _HOMES:
            importlib.import_module(home)
    kind = _kinds().get(name)
    if kind is None:
        raise InvalidArgument(f"No learner {name} is known here. A custom class must be imported first.")
    return kind.from_bytes(data, generation=document.get("generation", -1))


def _kinds(base: type[Session] = Session) -> dict[str, type[Session]]:
    """All classes of learners that have been imported, by name."""
    found: dict[str, type[Session]] = {}
    for kind in base.__subclasses__():
        found |= {kind.__name__: kind} | _kinds(kind)
    return found


def _read_unless_taken(path: str | os.PathLike[str]) -> bytes:
    source = real_path(path)
    # The name alone is enough: loading may have been interrupted before the file was overwritten.
    taken = source.name.endswith(TAKEN) or (not source.exists() and _was_taken(source))
    data = b"" if taken else source.read_bytes()
    if taken or data.startswith(_LEFT):
        lost = "If it is lost, start a new one."
        raise StaleState(f"The learner in {source} has been loaded already. {lost}")
    return data


def _take(path: str | os.PathLike[str]) -> bytes:
    """Rename a file, overwrite its secrets, and return what was in it; of two that try one succeeds."""
    source = real_path(path)
    claimed = _taken(name_beside(source))  # nobody else knows this name
    try:
        if source.stat().st_nlink > 1:
            raise StaleState(f"The file {source} has several names (hard links). Remove all but one.")
        source.open("r+b").close()  # may it be overwritten?
        os.replace(source, claimed)
    except FileNotFoundError:
        raise StaleState(f"The learner in {source} was loaded by another process just now.") from None
    sync_folder(source.parent)
    data = claimed.read_bytes()
    document, _ = decode(data)
    left = _LEFT + b", " + json.dumps({"lineage": document["lineage"]}).encode()[1:]
    with claimed.open("r+b") as file:
        file.write(left.ljust(len(data)))  # in place, and to the end: no secret is left on the disk
        file.flush()
        os.fsync(file.fileno())
        file.truncate(len(left))  # the old length tells how much was open
    os.replace(claimed, _taken(source))
    return data


def _was_taken(source: pathlib.Path) -> bool:
    """Whether there is what loading leaves, also where it was interrupted."""
    return _taken(source).exists() or any(source.parent.glob(f".{glob.escape(source.name)}.*{TAKEN}"))


def _taken(source: pathlib.Path) -> pathlib.Path:
    return source.with_name(source.name + TAKEN)
