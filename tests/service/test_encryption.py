"""The key: made once, for its owner only, never replaced in silence; sealed bytes open where they belong."""

import pathlib
import stat

import pytest
from service_helpers import bandit, functions, opened, told

from discreet.errors import WrongKey
from discreet.service.encryption import KeyRing
from discreet.service.records import Code
from discreet.set_functions import Modular


@pytest.fixture(autouse=True)
def no_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_KEY", raising=False)
    monkeypatch.delenv("DISCREET_ROLLBACK_GUARD", raising=False)


def test_a_key_file_is_made_beside_the_database(tmp_path: pathlib.Path) -> None:
    """Once, readable by its owner only, and its contents are in no other file."""
    with opened(tmp_path / "service.db") as service:
        functions(service)
        key = (tmp_path / "service.db.key").read_text()
        assert stat.S_IMODE((tmp_path / "service.db.key").stat().st_mode) == 0o600
        for file in tmp_path.iterdir():
            if file.name != "service.db.key":
                data = file.read_bytes()
                assert key.strip().encode() not in data
                assert bytes.fromhex(key) not in data
    with opened(tmp_path / "service.db"):
        assert (tmp_path / "service.db.key").read_text() == key


@pytest.mark.parametrize("kind", ["bandit", "functions"])
def test_a_lost_key_is_a_clear_error(tmp_path: pathlib.Path, kind: str) -> None:
    """No new one is created; with the old one everything continues."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        (bandit if kind == "bandit" else functions)(service, "x")
    key = tmp_path / "service.db.key"
    key.rename(tmp_path / "elsewhere")
    with pytest.raises(WrongKey, match="cannot be read"):
        opened(path)
    assert not key.exists()
    with opened(path, key_file=tmp_path / "elsewhere") as service:
        assert len(service.ask("x")) == 1


def test_a_wrong_key_is_a_clear_error(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a file or from the environment; it is not quoted."""
    path = tmp_path / "service.db"
    opened(path).close()
    (tmp_path / "service.db.key").write_text("ab" * 32)
    with pytest.raises(WrongKey, match="another key"):
        opened(path)
    monkeypatch.setenv("DISCREET_KEY", "cd" * 32)
    with pytest.raises(WrongKey, match="another key"):
        opened(path)
    monkeypatch.setenv("DISCREET_KEY", "not hexadecimal")
    with pytest.raises(WrongKey, match="64 hexadecimal digits") as caught:
        opened(path)
    assert "not hexadecimal" not in str(caught.value)


def test_the_environment_can_hold_the_key(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then no file is made."""
    monkeypatch.setenv("DISCREET_KEY", "cd" * 32)
    with opened(tmp_path / "service.db") as service:
        functions(service)
        assert told(service, "plan", service.ask("plan"), function=Modular([0, 0, 1])) == [Code.ACCEPTED]
    assert not list(tmp_path.glob("*.key"))


def test_a_server_without_a_key_is_refused(postgres: str) -> None:
    """PostgreSQL has no file to put one beside."""
    with pytest.raises(WrongKey, match="DISCREET_KEY"):
        opened(postgres)


def test_sealed_bytes_open_where_they_belong() -> None:
    """Not under another lineage, kind, number or key, nor when a bit of them changed."""
    ring = KeyRing(b"k" * 32)
    sealed = ring.seal(b"secret", "line", "state", b"7")
    assert b"secret" not in sealed
    assert ring.unseal(sealed, "line", "state", b"7") == b"secret"
    assert ring.seal(b"secret", "line", "state", b"7") != sealed
    for names in (("other", "state", b"7"), ("line", "feedback", b"7"), ("line", "state", b"8")):
        with pytest.raises(WrongKey):
            ring.unseal(sealed, *names)
    for damaged in (sealed[:-1], b"", sealed[:20] + bytes([sealed[20] ^ 1]) + sealed[21:]):
        with pytest.raises(WrongKey):
            ring.unseal(damaged, "line", "state", b"7")
    with pytest.raises(WrongKey):
        KeyRing(b"l" * 32).unseal(sealed, "line", "state", b"7")
    with pytest.raises(WrongKey):
        KeyRing(b"short")


def test_a_key_ring_shows_no_key() -> None:
    """Printing it gives a fingerprint, which is not the key nor a part of it."""
    ring = KeyRing(bytes(range(32)))
    assert bytes(range(32)).hex()[:8] not in repr(ring)
    assert ring.fingerprint in repr(ring)
    assert len(ring.person("line", "\ud800odd")) == 16
