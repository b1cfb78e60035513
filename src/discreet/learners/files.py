"""Learners in files: written whole or not at all, and never two of one secret.

A learner that keeps more than it has released (exact sums, noise that is in use) must go on only once: two
copies would share noise, or release the same data twice. So saving such a learner hands it over to the
file, and loading takes it out of the file again: a file with ``.taken`` added to its name is left, in which
its lineage and generation stand and nothing else. Copies of the file made by other means cannot be seen from
here: do not go on from a backup.

Learners whose state is covered by their guarantee, local ones and those that are not private at all, are
saved and loaded at will. But a cost that is told to two copies, or again after an older file was loaded, is
released twice and spends epsilon twice. Clients that may have to tell again should send a bit they made
once (`BanditLearner.randomizer`).
"""

import glob
import json
import os
import pathlib

from discreet.atomic_files import name_beside, real_path, sync_folder
from discreet.errors import StaleState
from discreet.state import decode

#: Added to the name of a file whose learner has been taken out of it.
TAKEN = ".taken"
_LEFT = b'{"format": "discreet learner that was loaded"'


def read_unless_taken(path: str | os.PathLike[str]) -> bytes:
    """The contents of a file, or a reason if its learner has been taken out of it."""
    source = real_path(path)
    # The name alone is enough: loading may have been interrupted before the file was overwritten.
    taken = source.name.endswith(TAKEN) or (not source.exists() and _was_taken(source))
    data = b"" if taken else source.read_bytes()
    if taken or data.startswith(_LEFT):
        raise StaleState(
            f"The learner in {source} has been loaded already. Two that go on would share noise. If it is "
            "lost, start a new one, with start= at its last point."
        )
    return data


def take(path: str | os.PathLike[str]) -> bytes:
    """Rename a file whose learner goes on elsewhere, and overwrite its secrets.

    Of two processes that try, one succeeds.

    Returns:
        What was in the renamed file: whoever goes on goes on from that, since another process may have loaded
        what was read before, gone on, and saved again.
    """
    source = real_path(path)
    claimed = _taken(name_beside(source))  # nobody else knows this name
    try:
        if source.stat().st_nlink > 1:
            raise StaleState(
                f"The file {source} has several names (hard links), so its learner could be loaded twice. "
                "Remove all but one."
            )
        source.open("r+b").close()  # may it be overwritten?
        os.replace(source, claimed)
    except FileNotFoundError:
        raise StaleState(f"The learner in {source} was loaded by another process just now.") from None
    sync_folder(source.parent)
    data = claimed.read_bytes()
    document, _ = decode(data)
    left = {"lineage": document["lineage"], "generation": document["generation"]}
    with claimed.open("r+b") as file:  # in place, and to the end: no secret is left on the disk
        file.write((_LEFT + b", " + json.dumps(left).encode()[1:]).ljust(len(data)))
        file.flush()
        os.fsync(file.fileno())
    os.replace(claimed, _taken(source))
    return data


def _was_taken(source: pathlib.Path) -> bool:
    """Whether there is what loading leaves, or what it leaves where it is interrupted."""
    return _taken(source).exists() or any(source.parent.glob(f".{glob.escape(source.name)}.*{TAKEN}"))


def _taken(source: pathlib.Path) -> pathlib.Path:
    return source.with_name(source.name + TAKEN)
