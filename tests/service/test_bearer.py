"""Bearer keys: shown once, kept as digests, revoked at once."""

import pathlib
from collections.abc import Iterator

import pytest

from discreet.errors import InvalidArgument
from discreet.service.bearer import Bearers, Role
from discreet.storage import Store, open_store


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "store.db")
    yield opened
    opened.close()


def test_keys_have_roles(store: Store, tmp_path: pathlib.Path) -> None:
    """A key is known by its digest only, also after others were issued; nothing else is known."""
    bearers = Bearers(store, lambda: 7)
    use, admin = bearers.issue("use", "till"), bearers.issue(Role.ADMIN)
    assert (bearers.role_of(use), bearers.role_of(admin)) == (Role.USE, Role.ADMIN)
    for stranger in ("", "discreet_", use[:-1], use + "x", "\ud800"):
        assert bearers.role_of(stranger) is None
    assert [record.label for record in bearers.listed()] == ["till", ""]
    for file in tmp_path.iterdir():
        assert use.encode() not in file.read_bytes()


def test_roles_allow_what_they_say() -> None:
    """An admin may do everything; the others only their own."""
    assert all(Role.ADMIN.allows(role) for role in Role)
    assert Role.USE.allows(Role.USE)
    assert not Role.USE.allows(Role.READ)
    assert not Role.READ.allows(Role.ADMIN)


def test_revoked_keys_are_nobodys(store: Store) -> None:
    """By the key or by its digest, once."""
    bearers = Bearers(store, lambda: 7)
    one, two = bearers.issue("read"), bearers.issue("read")
    assert bearers.revoke(one)
    assert not bearers.revoke(one)
    assert bearers.role_of(one) is None
    assert bearers.revoke(bearers.listed()[0].digest.hex())
    assert bearers.role_of(two) is None
    assert not bearers.revoke("no digest")


def test_unknown_roles_are_refused(store: Store) -> None:
    """Before anything is written."""
    with pytest.raises(InvalidArgument, match="roles"):
        Bearers(store, lambda: 7).issue("emperor")
