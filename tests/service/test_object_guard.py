"""A rollback guard in an object of an S3 server, which is another process."""

import pathlib
import shutil

import obstore
import pytest
from service_helpers import bandit, opened, told

from discreet.errors import StaleState, StoreError
from discreet.service import admin
from discreet.service.object_guard import ObjectGuard
from discreet.service.rollback_guard import DamagedGuard

pytestmark = pytest.mark.process
A, B = "a" * 32, "b" * 32


def test_an_old_backup_is_refused_wherever_it_is(
    bucket: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The object knows what was released; a store that lacks it starts once it was adopted."""
    monkeypatch.setenv("DISCREET_ROLLBACK_GUARD", f"{bucket}/shop.guard")
    store, copy = tmp_path / "a.db", tmp_path / "copy.db"
    with opened(store) as service:
        bandit(service)
        told(service, "shop", service.ask("shop"), cost=0.5)
    shutil.copy(store, copy)
    shutil.copy(f"{store}.key", f"{copy}.key")
    with opened(store) as service:
        told(service, "shop", service.ask("shop"), cost=0.5)
    with opened(copy) as service:
        assert service.learner("shop").status == "stale"
    with opened(store) as service:
        assert service.learner("shop").status == "active"
    monkeypatch.setenv("DISCREET_ROLLBACK_GUARD", f"{bucket}/another")
    with pytest.raises(StaleState, match="is missing"):
        opened(store)
    admin.adopt(store, latest=True)
    with opened(store) as service:
        assert service.learner("shop").status == "active"


def test_damage_and_other_stores_are_refused(bucket: str) -> None:
    """A damaged object can be repaired by adopting its store."""
    address, objects = f"{bucket}/guard", obstore.store.from_url(bucket, client_options={"allow_http": True})
    with_one = ObjectGuard(address, "one")
    with_one.record(A, 3, durable=True)
    with pytest.raises(StaleState, match="belongs to another store"):
        ObjectGuard(address, "two")
    for damaged in (b"", b"{}", b'{"store":"one","releases":[]}', b'{"store":"one","releases":{"a":"b"}}'):
        obstore.put(objects, "guard", damaged)
        with pytest.raises(DamagedGuard, match="is damaged"):
            ObjectGuard(address, "one")
    repairing = ObjectGuard(address, "one", look_only=True, repair=True)
    assert repairing.fresh
    repairing.settle({A: 5})
    again = ObjectGuard(address, "one")
    assert (again.fresh, again.is_behind(A, 4)) == (False, True)


def test_a_store_of_objects_that_fails_shows_nothing(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be recorded is not shown; the message has no credentials."""
    with pytest.raises(StoreError, match="cannot be written"):
        ObjectGuard("s3://no-such-bucket-here/guard", "one").record(A, 1, durable=True)
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("discreet.service.object_guard._RETRIES", {"max_retries": 0})
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    with pytest.raises(StoreError, match=r"cannot be used \(\w+\)") as caught:
        ObjectGuard(f"{bucket}/guard", "one")
    assert "hunter2" not in str(caught.value)
