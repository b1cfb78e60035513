"""Encryption of what a database must not reveal, with a key that is never in a database.

One key of 256 bits, from a file that only its owner can read or from the environment variable DISCREET_KEY
(64 hexadecimal digits). It opens two random keys that are sealed in the database: one that seals what is
secret, and one that hashes the ids of people and requests. So the key can be replaced: `rotation` makes a new
sealing key, while hashes stay what they are. The database holds a fingerprint: a wrong or missing key is an
error.

Sealing is AES-256-GCM under a key derived for each object, so that random nonces do not come close to
repeating. Lineage, kind and id of the object are authenticated: sealed bytes that were moved elsewhere are
not opened.
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

_NONCE, _SIZE = 12, 32


class KeyRing:
    """The keys of a store.

    Args:
        key: 32 secret bytes, which open the others.
        keys: What `keys` of an earlier ring was; new ones by default.

    Attributes:
        fingerprint: Identifies the key, and reveals nothing about it.
        keys: The other keys, sealed: for the store to hold.
    """

    def __init__(self, key: bytes, keys: str | None = None) -> None:
        if len(key) != _SIZE:
            raise WrongKey("A key has 32 bytes.")
        opened = secrets.token_bytes(2 * _SIZE) if keys is None else _opened(key, keys)
        self.keys = _closed(key, opened) if keys is None else keys
        self.fingerprint = fingerprint(key)
        self._sealing, self._hashing = opened[:_SIZE], opened[_SIZE:]
        self._of = {
            "person": _derived(self._hashing, b"discreet people"),
            "request": _derived(self._hashing, b"discreet requests"),
            "token": _derived(self._sealing, b"discreet tell tokens"),
        }

    def rotated(self, key: bytes) -> KeyRing:
        """A ring for another key. It seals with a new key, and hashes ids as before."""
        return KeyRing(key, _closed(key, secrets.token_bytes(_SIZE) + self._hashing))

    def seal(self, data: bytes, lineage: str, kind: str, object_id: bytes) -> bytes:
        """Encrypt and authenticate; `unseal` needs the same lineage, kind and id."""
        name = _name(lineage, kind, object_id)
        nonce = secrets.token_bytes(_NONCE)
        return nonce + AESGCM(_derived(self._sealing, name)).encrypt(nonce, data, name)

    def unseal(self, data: bytes, lineage: str, kind: str, object_id: bytes) -> bytes:
        """Decrypt what was sealed with the same lineage, kind and id."""
        name = _name(lineage, kind, object_id)
        try:
            return AESGCM(_derived(self._sealing, name)).decrypt(data[:_NONCE], data[_NONCE:], name)
        except (InvalidTag, ValueError):
            raise WrongKey(
                f"The sealed {kind} of a learner cannot be opened: it is damaged, was moved there from "
                "elsewhere, or was sealed with another key."
            ) from None

    def hashed(self, kind: str, lineage: str, data: bytes) -> bytes:
        """The keyed hash of a "person", a "request" or a "token" of a learner.

        Without the key no guess can be checked.
        """
        return _derived(self._of[kind], _name(lineage, kind, data))

    def __repr__(self) -> str:
        return f"KeyRing(fingerprint={self.fingerprint!r})"


def load_key(file: pathlib.Path | None, *, create: bool, environment: bool = True) -> bytes:
    """The key from the environment or from a file.

    Args:
        file: Read if the environment has no key.
        create: Whether to create a missing file: only for a store that has no key yet.
        environment: Whether to look there.
    """
    given = os.environ.get(VARIABLE) if environment else None
    if given:
        return _key(given)
    if file is None:
        raise WrongKey(
            f"There is no encryption key: set {VARIABLE} to 64 hexadecimal digits, or name a key file."
        )
    if create and not file.exists():
        _create(file)
    try:
        return _key(file.read_text())
    except OSError:
        raise WrongKey(
            f"The key file {file} of this store cannot be read. Without its key sealed data are lost: "
            "restore the file from where you keep it. A new key cannot replace it."
        ) from None


def fingerprint(key: bytes) -> str:
    """Identifies a key, and reveals nothing about it."""
    return _derived(key, b"discreet fingerprint").hex()[:32]


def _key(text: str) -> bytes:
    try:
        return bytes.fromhex(text.strip())
    except ValueError:  # not quoted
        raise WrongKey("A key is written as 64 hexadecimal digits.") from None


def _closed(key: bytes, keys: bytes) -> str:
    nonce = secrets.token_bytes(_NONCE)
    return (nonce + AESGCM(_derived(key, b"discreet keys")).encrypt(nonce, keys, None)).hex()


def _opened(key: bytes, keys: str) -> bytes:
    try:
        sealed = bytes.fromhex(keys)
        return AESGCM(_derived(key, b"discreet keys")).decrypt(sealed[:_NONCE], sealed[_NONCE:], None)
    except (InvalidTag, ValueError):
        raise WrongKey("The keys that this store holds are damaged: nothing sealed can be opened.") from None


def _derived(key: bytes, name: bytes) -> bytes:
    return hmac.new(key, name, hashlib.sha256).digest()


def _name(lineage: str, kind: str, object_id: bytes) -> bytes:
    return f"{lineage}\n{kind}\n".encode() + object_id


def _create(file: pathlib.Path) -> None:
    """Create a key file, unless another process does so first; it is complete once it has its name."""
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
