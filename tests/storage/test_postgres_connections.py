"""Connections that hang, break, or go through a pooler."""

import secrets
import threading

import pytest
from sqlalchemy import text
from test_store_contract import added, asked, closed

from discreet.errors import Conflict, StoreError
from discreet.storage.postgres import PostgresStore
from discreet.storage.records import How
from postgres_server import Server, pooler

#: Seconds, in place of the 20 of the service.
PATIENCE = 0.5


def test_a_server_that_hangs_is_an_error_and_not_for_ever(postgres_server: Server, postgres: str) -> None:
    """Calls fail while it is stopped, at a statement and at a new connection; then they work again."""
    store = PostgresStore(postgres, PATIENCE)
    learner = added(store)
    with (
        pytest.raises(StoreError, match=r"does not answer \(timeout\)"),
        store.writing() as writing,
        postgres_server.stopped(),
    ):
        writing.note_once("hanging", "yes")
    with postgres_server.stopped():
        for work in (store.reading, store.writing):
            with pytest.raises(StoreError, match="timeout"), work():
                pass
        with pytest.raises(StoreError, match="no answer"):
            PostgresStore(postgres, PATIENCE)
    assert len(asked(store, learner)) == 3
    with store.reading() as reading:
        assert reading.meta("hanging") is None
    store.close()


def test_slow_statements_are_ended_by_the_server(postgres: str) -> None:
    """Its connection can be used again; a lock that is not got is a conflict, which is retried."""
    store = PostgresStore(postgres, PATIENCE)
    learner = added(store)
    with pytest.raises(StoreError, match="timeout"), store.reading() as reading:
        reading.connection.execute(text("SELECT pg_sleep(60)"))
    with store.writing() as writing:
        writing.start_update(learner)
        with pytest.raises(Conflict), store.writing() as other:
            other.start_update(learner, wait=True)
    store.close()


def test_a_transaction_that_is_forgotten_does_not_block_others(postgres: str) -> None:
    """The server ends it, with its locks."""
    store = PostgresStore(postgres, 0.2)
    learner = added(store)
    forgotten, go_on = threading.Event(), threading.Event()
    failed = []

    def forget() -> None:
        try:
            with store.writing() as writing:
                writing.start_update(learner)
                forgotten.set()
                go_on.wait(30)
                writing.start_update(learner)
        except StoreError as error:
            failed.append(str(error))

    thread = threading.Thread(target=forget)
    thread.start()
    forgotten.wait(30)
    patient = PostgresStore(postgres, 30)
    with patient.writing() as writing:
        assert writing.start_update(learner, wait=True) is not None
    go_on.set()
    thread.join()
    assert "timeout" in failed[0] or "unreachable" in failed[0]
    store.close()
    patient.close()


def test_a_pooler_gives_each_transaction_another_connection(postgres_server: Server, postgres: str) -> None:
    """And all of them are durable, bounded in time, and lock what they update."""
    with pooler(postgres_server) as pooled:
        address = postgres.replace(postgres_server.folder, pooled.folder)
        stores = [PostgresStore(address), PostgresStore(address)]
        learner = added(stores[0])
        ids = [key for store in stores for _ in range(10) for key in asked(store, learner)]
        for first in range(0, len(ids), 10):  # often enough for a statement to be prepared
            with stores[first % 20 // 10].writing() as writing:
                assert len(closed(writing, learner, ids[first : first + 10], How.TOLD, 1)) == 10
        with stores[0].writing() as one, stores[0].reading() as two:
            assert one.start_update(learner) is not None
            assert one.connection.scalar(text("SHOW synchronous_commit")) == "on"
            for transaction in (one, two):
                assert transaction.connection.scalar(text("SHOW statement_timeout")) == "20s"
        with stores[1].writing() as writing:
            assert writing.start_update(learner) is not None
        with stores[1].writing() as writing:
            writing.note_once(secrets.token_hex(8), "")
        for store in stores:
            store.close()
