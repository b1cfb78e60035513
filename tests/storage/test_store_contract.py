"""The contract of `discreet.storage.store.Store`, for every backend."""

import pathlib
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping

import pytest
import sqlalchemy as sa

from discreet.errors import Conflict, StoreError
from discreet.storage import open_store
from discreet.storage.records import (
    Counts,
    DecisionRecord,
    How,
    KeyRecord,
    LearnerRecord,
    PopulationRecord,
    Status,
)
from discreet.storage.store import Store
from discreet.storage.writing import Writing

HOUR = 3_600_000


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    opened = open_store(address)
    yield opened
    opened.close()


def elsewhere(address: str, query: str) -> list[tuple[object, ...]]:
    """What a second connection, which knows nothing of the store, finds."""
    engine = sa.create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.connect() as connection:
            return [tuple(row) for row in connection.execute(sa.text(query))]
    finally:
        engine.dispose()


def new_learner(name: str = "shop", **other: object) -> LearnerRecord:
    values: dict[str, object] = {
        "name": name,
        "epoch": 1,
        "settings": {"kind": "bandit", "items": ["tea", 2]},
        "population": None,
        "epsilon": 1.0,
        "deadline": 60.0,
        "lineage": secrets.token_hex(16),
        "secret": False,
        "created_at": 5,
    }
    return LearnerRecord(**(values | other))  # type: ignore[arg-type]


def added(store: Store, name: str = "shop") -> int:
    with store.writing() as writing:
        return writing.add_learner(new_learner(name), b"first")


def asked(store: Store, learner: int, count: int = 3, at: int = 1000) -> list[bytes]:
    ids = [secrets.token_bytes(16) for _ in range(count)]
    with store.writing() as writing:
        rows = [DecisionRecord(key, learner, b"draw" + key[:2], b"\1", at + k) for k, key in enumerate(ids)]
        assert writing.add_decisions(rows) == count
    return ids


def closed(writing: Writing, learner: int, ids: Iterable[bytes], how: How, at: int) -> dict[bytes, bytes]:
    """The draws of what could be closed."""
    found = writing.close_decisions(((key, learner) for key in ids), how, at)
    assert {each for _, each in found} <= {learner}
    return {key: draw for (key, _), draw in found.items()}


def queue(writing: Writing, learner: int, payloads: Mapping[bytes, bytes]) -> None:
    writing.queue_feedback((key, learner, payload) for key, payload in payloads.items())


def put(writing: Writing, learner: int, state: bytes) -> list[bytes]:
    """Apply what is queued, which gives this state; return whose reports these were."""
    update = writing.start_update(learner)
    assert update is not None
    writing.put_states({learner: (update.generation, state)})
    writing.drop_feedback(each.decision_id for each in update.queued)
    return [each.decision_id for each in update.queued]


def test_a_second_connection_sees_what_is_committed(store: Store, address: str) -> None:
    """At the end of `writing` rows are in the database itself, not only in this object."""
    learner = added(store)
    ids = asked(store, learner, 5)
    assert elsewhere(address, "SELECT count(*) FROM decisions") == [(5,)]
    with store.writing() as writing:
        closed(writing, learner, ids[:2], How.TOLD, 7)
        queue(writing, learner, dict.fromkeys(ids[:2], b"\1"))
        assert elsewhere(address, "SELECT count(*) FROM feedback") == [(0,)]
    assert elsewhere(address, "SELECT count(*) FROM feedback") == [(2,)]
    assert elsewhere(address, "SELECT count(*) FROM decisions WHERE how = 1") == [(2,)]


def test_what_is_read_does_not_change_meanwhile(store: Store) -> None:
    """A state and what belongs to it are of one moment, whatever others commit between two calls."""
    learner = added(store)
    with store.reading() as reading:
        before = reading.state(learner)
        with store.writing() as writing:
            put(writing, learner, b"second")
            writing.add_counts({learner: Counts(asked=1)})
        assert (reading.state(learner), reading.counts(learner)) == (before, Counts())
    with store.reading() as reading:
        assert (reading.state(learner), reading.counts(learner).asked) == ((1, b"second"), 1)


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    """An exception of the caller undoes the whole transaction and is passed on."""
    learner = added(store)

    def fail() -> None:
        with store.writing() as writing:
            writing.note_once("a", "b")
            writing.add_counts({learner: Counts(asked=1)})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.reading() as reading:
        assert reading.meta("a") is None
        assert reading.counts(learner) == Counts()


def test_everything_is_there_after_opening_again(store: Store, address: str) -> None:
    """Learners, states, decisions and keys survive, exactly."""
    with store.writing() as writing:
        writing.add_population(PopulationRecord("people", 2.5))
        learner = writing.add_learner(new_learner(population="people"), b"first")
        writing.add_key(KeyRecord(b"d" * 32, "admin", "first", 3))
    ids = asked(store, learner)
    with store.reading() as reading:
        before = (reading.learners(), reading.state(learner), reading.decisions(ids), reading.keys())
    store.close()
    again = open_store(address)
    try:
        with again.reading() as reading:
            assert before == (
                reading.learners(),
                reading.state(learner),
                reading.decisions(ids),
                reading.keys(),
            )
            assert reading.populations() == [PopulationRecord("people", 2.5)]
            record = reading.learners()[0]
            assert record.settings == {"kind": "bandit", "items": ["tea", 2]}
            assert (record.status, record.generation) == (Status.ACTIVE, 0)
    finally:
        again.close()


def test_a_closed_store_refuses(store: Store) -> None:
    """It does not open again by itself, after others were let in."""
    store.close()
    for work in (store.reading, store.writing):
        with pytest.raises(StoreError, match="closed"), work():
            pass


def test_a_decision_is_closed_once(store: Store) -> None:
    """The second time it is given to nobody, however it was closed; foreign and unknown ones never are."""
    learner, other = added(store), added(store, "other")
    ids = asked(store, learner)
    stranger = secrets.token_bytes(16)
    with store.writing() as writing:
        assert closed(writing, other, ids, How.TOLD, 1) == {}
        first = closed(writing, learner, [ids[0], ids[0], stranger], How.TOLD, 1)
        assert first == {ids[0]: b"draw" + ids[0][:2]}
        assert closed(writing, learner, ids[:1], How.EXPIRED, 2) == {}
    with store.writing() as writing:
        assert closed(writing, learner, ids[:2], How.TOLD, 3).keys() == {ids[1]}
        kept = writing.decisions([*ids, stranger])
    assert {key: record.how for key, record in kept.items()} == {
        ids[0]: How.TOLD,
        ids[1]: How.TOLD,
        ids[2]: None,
    }


def test_closing_is_exclusive_between_threads(store: Store) -> None:
    """Eight threads close the same hundred decisions in their own orders: each goes to exactly one."""
    learner = added(store)
    ids = asked(store, learner, 100)
    won: list[bytes] = []
    ready = threading.Barrier(8)

    def work(number: int) -> None:
        ready.wait()
        for first in range(0, 100, 20):
            some = ids[first : first + 20][:: 1 if number % 2 else -1]
            with store.writing() as writing:
                won.extend(closed(writing, learner, some, How.TOLD, number))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == sorted(ids)


def test_applying_replaces_state_and_removes_inputs(store: Store, address: str) -> None:
    """In one transaction: the next generation, and nothing waits any more."""
    learner = added(store)
    ids = asked(store, learner)
    with store.writing() as writing:
        draws = closed(writing, learner, ids, How.TOLD, 1)
        queue(writing, learner, dict.fromkeys(ids[:2], b"\0"))
        assert writing.queued() == {learner: 2}
    with store.writing() as writing:
        update = writing.start_update(learner)
        assert update is not None
        assert (update.generation, update.state) == (0, b"first")
        assert {report.decision_id: (report.draw, report.payload) for report in update.queued} == {
            key: (draws[key], b"\0") for key in ids[:2]
        }
        assert put(writing, learner, b"second") == [report.decision_id for report in update.queued]
        assert elsewhere(address, "SELECT generation FROM learners") == [(0,)]
    assert elsewhere(address, "SELECT generation FROM learners") == [(1,)]
    assert elsewhere(address, "SELECT count(*) FROM feedback") == [(0,)]
    with store.reading() as reading:
        assert reading.state(learner) == (1, b"second")
        assert reading.heads([learner, 99]) == {learner: (Status.ACTIVE, 1, 0)}
        assert reading.queued() == {}


def test_a_failed_update_keeps_the_queue(store: Store) -> None:
    """State and feedback stay as they were."""
    learner = added(store)
    ids = asked(store, learner, 1)
    with store.writing() as writing:
        closed(writing, learner, ids, How.TOLD, 1)
        queue(writing, learner, {ids[0]: b"\1"})

    def fail() -> None:
        with store.writing() as writing:
            put(writing, learner, b"second")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.reading() as reading:
        assert reading.state(learner) == (0, b"first")
        assert reading.queued() == {learner: 1}


def test_a_generation_is_replaced_once(store: Store, address: str) -> None:
    """If a generation is not the one that was read, nothing is written, also of other learners."""
    learner, other = added(store), added(store, "other")

    def both(generation: int) -> None:
        with store.writing() as writing:
            writing.put_states({other: (0, b"theirs"), learner: (generation, b"from nowhere")})

    with pytest.raises(Conflict):
        both(1)
    with store.writing() as writing:
        writing.put_states({learner: (0, b"second")})
    with pytest.raises(Conflict):
        both(0)
    with store.reading() as reading:
        assert (reading.state(learner), reading.state(other)) == ((1, b"second"), (0, b"first"))


@pytest.mark.parametrize("call", ["expire", "compact", "compact open", "people"])
def test_maintenance_never_reads_whole_tables(call: str, store: Store) -> None:
    """Each statement of a step goes by an index."""
    learner = added(store)
    ids = asked(store, learner, 3)
    statements: list[tuple[str, object]] = []
    with store.writing() as writing:
        writing.add_counts({learner: Counts(asked=3)})
        writing.count_attempts({(learner, b"p" * 16): 1})
        connection = writing.connection  # type: ignore[attr-defined]
        sqlite = connection.dialect.name == "sqlite"

        def note(_: object, __: object, statement: str, parameters: object, *___: object) -> None:
            statements.append((statement, parameters))

        sa.event.listen(connection, "before_cursor_execute", note)
        if call == "expire":
            writing.expire(learner, 5000, 1, 2)
        elif call == "people":
            writing.forget_people(learner)
        else:
            closed(writing, learner, ids, How.TOLD, 1)
            del statements[:]
            writing.compact(learner, 5000, open_too=call == "compact open")
        sa.event.remove(connection, "before_cursor_execute", note)
        assert statements
        for statement, parameters in statements:
            explain = "EXPLAIN QUERY PLAN" if sqlite else "EXPLAIN"
            rows = connection.exec_driver_sql(f"{explain} {statement}", parameters)
            plan = "\n".join(str(row[-1]) for row in rows)
            for table in ("decisions", "feedback", "people", "counts", "history"):
                assert f"SCAN {table}" not in plan, plan
                assert f"Seq Scan on {table}" not in plan, plan


def test_dropped_feedback_is_gone(store: Store) -> None:
    """A learner that is closed for good keeps no inputs."""
    learner = added(store)
    ids = asked(store, learner, 2)
    with store.writing() as writing:
        closed(writing, learner, ids, How.TOLD, 1)
        queue(writing, learner, dict.fromkeys(ids, b"\1"))
        writing.set_status(learner, Status.CLOSED)
        assert writing.drop_queued(learner) == 2
        assert writing.queued() == {}
        assert writing.heads([learner])[learner] == (Status.CLOSED, 0, 0)


def test_errors_of_the_database_quote_no_parameters(store: Store) -> None:
    """Not even in the causes of the error."""

    def twice() -> None:
        with store.writing() as writing:
            for _ in range(2):
                queue(writing, 1, {b"same" * 4: b"told in secret"})

    with pytest.raises(StoreError) as caught:
        twice()
    error: BaseException | None = caught.value
    while error is not None:
        assert "secret" not in str(error)
        error = error.__cause__


@pytest.mark.parametrize("version", ["0005", "9999"])
def test_a_database_of_another_version_is_refused(store: Store, address: str, version: str) -> None:
    """An earlier or a later one; it is not touched."""
    store.close()
    engine = sa.create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE schema_version SET version_num = '{version}'"))
    engine.dispose()
    with pytest.raises(StoreError, match=r"Another version of discreet.*start with a new store"):
        open_store(address)
