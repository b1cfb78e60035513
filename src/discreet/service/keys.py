"""The key that seals what a database may not show, and that never is in a database.

One key of 256 bits, from a file that only its owner can read or from the environment variable DISCREET_KEY
(64 hexadecimal digits). Keys for each purpose are derived from it. The database holds a fingerprint: another
key, or none, is a clear error and never a silent new start.

Sealing is AES-256-GCM under a key derived for each thing sealed, so that random nonces never come close to
repeating however much is sealed. What a thing is (its lineage, kind and number) is authenticated with it:
sealed bytes that were moved elsewhere are not opened.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import pathlib
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from discreet.atomic_files import errors_name, name_beside, sync_folder
from discreet.errors import WrongKey

#: The environment variable that may hold the key.
VARIABLE = "DISCREET_KEY"

_NONCE = 12


class KeyRing:
    """What is derived from one key.

    Args:
        key: 32 secret bytes.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != 32:
            raise WrongKey("A key has 32 bytes.")
        self._sealing = _derived(key, b"discreet sealing")
        self._people = _derived(key, b"discreet people")
        #: Tells keys apart, and tells nothing about them.
        self.fingerprint = _derived(key, b"discreet fingerprint").hex()[:32]

    @classmethod
    def from_text(cls, text: str) -> KeyRing:
        """From 64 hexadecimal digits."""
        try:
            return cls(bytes.fromhex(text.strip()))
        except ValueError:  # not quoted
            raise WrongKey("A key is written as 64 hexadecimal digits.") from None

    @classmethod
    def found(cls, file: pathlib.Path | None, *, create: bool) -> KeyRing:
        """The key from the environment, or from a file, which may be made if there is none.

        Args:
            file: Where the key is if it is not in the environment.
            create: Whether a new key may be made: only for a store that has none.
        """
        given = os.environ.get(VARIABLE)
        if given:
            return cls.from_text(given)
        if file is None:
            raise WrongKey(f"No key: set {VARIABLE} to 64 hexadecimal digits, or name a key file.")
        if create and not file.exists():
            _made(file)
        try:
            return cls.from_text(file.read_text())
        except OSError:
            raise WrongKey(
                f"The key file {file} of this store cannot be read. Without its key what was sealed is lost: "
                "restore the file from where you keep it. A new key cannot replace it."
            ) from None

    def seal(self, data: bytes, lineage: str, kind: str, number: bytes) -> bytes:
        """Encrypt and authenticate; `unseal` needs the same names."""
        name = _name(lineage, kind, number)
        nonce = secrets.token_bytes(_NONCE)
        return nonce + AESGCM(_derived(self._sealing, name)).encrypt(nonce, data, name)

    def unseal(self, data: bytes, lineage: str, kind: str, number: bytes) -> bytes:
        """What was sealed under these names."""
        name = _name(lineage, kind, number)
        try:
            return AESGCM(_derived(self._sealing, name)).decrypt(data[:_NONCE], data[_NONCE:], name)
        except (InvalidTag, ValueError):
            raise WrongKey(
                f"The sealed {kind} of a learner cannot be opened: it is damaged, was put there from "
                "elsewhere, or was sealed with another key."
            ) from None

    def person(self, lineage: str, person: str) -> bytes:
        """What is kept of a person's id, for one learner: without the key it cannot even be guessed at."""
        name = _name(lineage, "person", person.encode("utf-8", "surrogatepass"))
        return _derived(self._people, name)[:16]

    def __repr__(self) -> str:
        return f"KeyRing(fingerprint={self.fingerprint!r})"


def _derived(key: bytes, name: bytes) -> bytes:
    return hmac.new(key, name, hashlib.sha256).digest()


def _name(lineage: str, kind: str, number: bytes) -> bytes:
    return f"{lineage}\n{kind}\n".encode() + number


def _made(file: pathlib.Path) -> None:
    """Make a key file, unless another process does so first; it is whole as soon as it has its name."""
    beside = name_beside(file)
    with errors_name(file):
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w") as opened:
            opened.write(secrets.token_hex(32) + "\n")
            opened.flush()
            os.fsync(opened.fileno())
        os.link(beside, file)
    except FileExistsError:
        pass
    finally:
        beside.unlink()
    sync_folder(file.parent)
