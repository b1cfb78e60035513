"""The contract of `discreet.storage.store.Store`, for every backend."""

import pathlib
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
import sqlalchemy as sa

from discreet.errors import AlreadyExists, Conflict, StoreError, UnknownName
from discreet.storage import open_store
from discreet.storage.records import (
    Counts,
    DecisionRecord,
    How,
    KeyRecord,
    LearnerRecord,
    Loss,
    PopulationRecord,
    Status,
)
from discreet.storage.store import Store
from discreet.storage.tables import people
from discreet.storage.writing import Writing

HOUR = 3_600_000

DAY = 86_400_000


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


def attempts(writing: Writing, learner: int, person: bytes) -> int:
    """How many decisions a person's feedback has closed."""
    mine = (people.c.learner == learner) & (people.c.person == person)
    return writing.connection.scalar(sa.select(people.c.attempts).where(mine)) or 0


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


def test_facts_are_noted_once(store: Store) -> None:
    """The first one stays."""
    with store.writing() as writing:
        assert writing.note_once("key", "one") == "one"
        assert writing.note_once("key", "two") == "one"


def test_names_are_taken_once(store: Store) -> None:
    """A second learner of that name and epoch is refused; the next epoch is not."""
    added(store)
    with pytest.raises(AlreadyExists, match="shop"):
        added(store)
    with store.writing() as writing:
        second = writing.add_learner(new_learner(epoch=2), b"first")
    with store.reading() as reading:
        assert [(each.id, each.epoch) for each in reading.learners()][-1] == (second, 2)
        with pytest.raises(UnknownName):
            reading.state(99)


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


def test_only_what_is_due_expires(store: Store) -> None:
    """Open decisions of this learner from before the time, and at most so many, the oldest first."""
    learner, other = added(store), added(store, "other")
    ids, _ = asked(store, learner, 5, at=1000), asked(store, other, 5, at=1000)
    with store.writing() as writing:
        closed(writing, learner, ids[:1], How.TOLD, 1)
        assert writing.expire(learner, 1000, 2000, 2) == ({}, False)
        found, more = writing.expire(learner, 1004, 2000, 2)
        assert (found.keys(), more) == (set(ids[1:3]), True)
        found, more = writing.expire(learner, 1004, 2000, 9)
        assert (found.keys(), more) == ({ids[3]}, False)
        assert writing.expire(learner, 1004, 2000, 9) == ({}, False)
        assert writing.decisions(ids)[ids[1]].how is How.EXPIRED


def test_decisions_added_twice_count_once(store: Store) -> None:
    """Writing the same decision again changes nothing."""
    learner = added(store)
    record = DecisionRecord(b"k" * 16, learner, b"d", b"s", 1)
    with store.writing() as writing:
        assert writing.add_decisions([record]) == 1
        assert writing.add_decisions([record, DecisionRecord(b"l" * 16, learner, b"d", b"s", 1)]) == 1
        assert writing.add_decisions([]) == 0


def test_attempts_add_up(store: Store) -> None:
    """Per learner and person."""
    learner, other = added(store), added(store, "other")
    one, two = b"a" * 16, b"b" * 16
    with store.writing() as writing:
        assert writing.count_attempts({(learner, one): 2, (learner, two): 1, (other, one): 4}) == {
            (learner, one): 2,
            (learner, two): 1,
            (other, one): 4,
        }
        assert writing.count_attempts({(learner, one): 3}) == {(learner, one): 5}
        assert writing.count_attempts({(other, one): 1}) == {(other, one): 5}
        assert writing.count_attempts({}) == {}
        assert attempts(writing, learner, one) == 5
        assert attempts(writing, learner, b"c" * 16) == 0


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


def test_a_learner_that_is_held_does_not_end(store: Store) -> None:
    """Whoever would end it waits for those who hold it, and finds what they did."""
    learner = added(store)
    ids = asked(store, learner, 1)
    found: list[object] = []

    def end() -> None:
        with store.writing() as writing:
            assert writing.start_update(learner, wait=True, most=0) is not None
            found.append(writing.hold([learner], alone=True))
            update = writing.start_update(learner)
            assert update is not None
            found.append(len(update.queued))
            writing.set_status(learner, Status.CLOSED)

    ends = threading.Thread(target=end)
    with store.writing() as writing:
        assert writing.hold([learner]) == {learner: (Status.ACTIVE, 0, 0)}
        queue(writing, learner, dict.fromkeys(closed(writing, learner, ids, How.TOLD, 1), b"x"))
        ends.start()
        ends.join(0.3)
        assert found == []
    ends.join(20)
    assert found == [{learner: (Status.ACTIVE, 0, 0)}, 1]
    with store.writing() as writing:
        assert writing.hold([learner]) == {learner: (Status.CLOSED, 0, 0)}


def test_many_hold_a_learner_while_another_updates_it(postgres: str) -> None:
    """On PostgreSQL, whose transactions run at once."""
    store = open_store(postgres)
    try:
        learner = added(store)
        with store.writing() as one, store.writing() as two, store.writing() as three:
            assert one.hold([learner]) == two.hold([learner])
            put(three, learner, b"next")
    finally:
        store.close()


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


def test_decisions_of_several_learners_are_closed_together(store: Store) -> None:
    """Each by its own learner only, whoever else names it."""
    learner, other = added(store), added(store, "other")
    (mine,), (theirs,) = asked(store, learner, 1), asked(store, other, 1)
    with store.writing() as writing:
        named = [(mine, other), (mine, learner), (theirs, other)]
        assert writing.close_decisions(named, How.TOLD, 1).keys() == {(mine, learner), (theirs, other)}


def test_a_clock_that_is_set_back_hides_nothing(store: Store) -> None:
    """What is asked then is due as well, although later decisions are known to be closed."""
    learner = added(store)
    with store.writing() as writing:
        assert writing.expire(learner, 10_000_000, 1, 9) == ({}, False)
    (key,) = asked(store, learner, 1, at=5_000_000)
    now = 5_000_000 + 60_001
    with store.writing() as writing:
        assert writing.due(now) == [learner]
        assert writing.expire(learner, now - 60_000, now, 9)[0].keys() == {key}
    (late,) = asked(store, learner, 1, at=4_000_000)
    with store.writing() as writing:
        assert writing.expire(learner, now - 60_000, now, 9) == ({}, False)
        writing.look_back([learner], 3_600_000)
        assert writing.due(now) == [learner]
        assert writing.expire(learner, now - 60_000, now, 9)[0].keys() == {late}


def test_settings_are_replaced_by_the_next_revision(store: Store) -> None:
    """What was read of a learner before can be told from what is there now."""
    learner, other = added(store), added(store, "other")
    with store.writing() as writing:
        assert writing.hold([learner], alone=True)[learner].revision == 0
        writing.put_settings(learner, {"kind": "bandit", "items": ["tea", 2, "soy"]})
    with store.reading() as reading:
        (record,) = reading.learners([learner])
        assert (record.settings["items"], record.revision) == (["tea", 2, "soy"], 1)
        assert [each.revision for each in reading.heads([learner, other]).values()] == [1, 0]


def test_phases_end_with_the_rounds_that_were_dealt(store: Store) -> None:
    """Those of one learner; a phase that was dealt to its end stays as it is, and so does another's."""
    learner, other = added(store), added(store, "other")
    with store.writing() as writing:
        for owner in (learner, other):
            writing.add_phase(owner, b"done", 3, 3, 10)
            writing.add_phase(owner, b"begun", 9, 4, 11)
        writing.end_dealing(learner)
        assert writing.current_phases([learner, other]).keys() == {other}
        found = [(each.number, each.plan, each.total, each.dealt) for each in writing.open_phases(learner)]
        assert found == [(0, b"done", 3, 3), (1, b"begun", 4, 4)]
        assert [each.total for each in writing.open_phases(other)] == [3, 9]
        writing.drop_phases(learner, [0, 1])
        assert writing.open_phases(learner) == []
        assert writing.add_phase(learner, b"next", 2, 0, 12) == 2


def test_all_open_decisions_of_a_learner_are_closed(store: Store) -> None:
    """As expired; those that were told stay told, and other learners' stay open."""
    learner, other = added(store), added(store, "other")
    ids, others = asked(store, learner, 4), asked(store, other, 2)
    with store.writing() as writing:
        closed(writing, learner, ids[:1], How.TOLD, 5)
        assert writing.expire_open(learner, 6) == 3
        assert writing.expire_open(learner, 7) == 0
        known = writing.decisions(ids + others)
        assert writing.subsets(learner) == [b"\1"]
    assert [known[key].how for key in ids] == [How.TOLD, *[How.EXPIRED] * 3]
    assert [known[key].how for key in others] == [None, None]


def test_an_update_takes_at_most_so_many_reports(store: Store) -> None:
    """The rest waits for the next one."""
    learner = added(store)
    ids = asked(store, learner, 5)
    with store.writing() as writing:
        closed(writing, learner, ids, How.TOLD, 1)
        queue(writing, learner, dict.fromkeys(ids, b"\1"))
    with store.writing() as writing:
        update = writing.start_update(learner, most=3)
        assert update is not None
        assert len(update.queued) == 3
        writing.drop_feedback(each.decision_id for each in update.queued)
    with store.reading() as reading:
        assert reading.queued() == {learner: 2}


def test_counts_add_up_over_processes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row for each process."""
    learner, other = added(store), added(store, "other")
    for number in range(3):
        monkeypatch.setattr(store, "_name", f"process {number}")
        with store.writing() as writing:
            writing.add_counts({each: Counts(2, 1, 0, 1, 1) for each in (learner, other)})
            writing.add_counts({learner: Counts(asked=1)})
    with store.reading() as reading:
        total = reading.counts(learner)
    assert (total, total.pending) == (Counts(9, 3, 0, 3, 3), 6)


def test_expiry_looks_at_few_rows_at_a_time(store: Store) -> None:
    """However many closed decisions are remembered; it says how far it has come."""
    learner = added(store)
    ids = asked(store, learner, 50, at=1000)
    same = asked(store, learner, 1, at=1020)
    with store.writing() as writing:
        closed(writing, learner, ids[:-1], How.TOLD, 1)
    expired, more, calls = set[bytes](), True, 0
    while more:
        with store.writing() as writing:
            found, more = writing.expire(learner, 2000, 3000, 1)
        expired |= found.keys()
        calls += 1
    assert expired == {ids[-1], same[0]}
    assert 6 <= calls <= 9


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


def test_people_of_one_learner_are_forgotten(store: Store) -> None:
    """As many at a time as was said, and nobody else's."""
    ended, other = added(store), added(store, "other")
    them = {secrets.token_bytes(16): 2 for _ in range(5)}
    with store.writing() as writing:
        writing.count_attempts({(each, p): k for each in (ended, other) for p, k in them.items()})
        assert [writing.forget_people(ended, most=3) for _ in range(3)] == [3, 2, 0]
        assert {attempts(writing, ended, person) for person in them} == {0}
        assert {attempts(writing, other, person) for person in them} == {2}


def test_compaction_forgets_what_is_closed_and_old(store: Store) -> None:
    """Open decisions, recent ones and those whose feedback waits stay; `open_too` takes open ones as well."""
    learner = added(store)
    ids = asked(store, learner, 5, at=1000)
    with store.writing() as writing:
        closed(writing, learner, [ids[0], ids[1], ids[4]], How.TOLD, 1)
        queue(writing, learner, {ids[1]: b"\1"})
        assert writing.compact(learner, 1003) == 1
        assert writing.decisions(ids).keys() == set(ids[1:])
        assert writing.compact(learner, 1003, open_too=True) == 2


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


def test_populations_can_change_their_limit(store: Store) -> None:
    """And are found while locked."""
    with store.writing() as writing:
        writing.add_population(PopulationRecord("p", 1.0))
        writing.add_population(PopulationRecord("p", None))
        assert writing.lock_population("p") == PopulationRecord("p", None)
        assert writing.lock_population("q") is None


def test_keys_are_revoked(store: Store) -> None:
    """A revoked key is listed no more, and is not revoked twice."""
    with store.writing() as writing:
        writing.add_key(KeyRecord(b"1" * 32, "read", "x", 1))
        writing.add_key(KeyRecord(b"2" * 32, "admin", "y", 2))
    with pytest.raises(AlreadyExists), store.writing() as writing:
        writing.add_key(KeyRecord(b"1" * 32, "read", "x", 1))
    with store.writing() as writing:
        assert writing.revoke_key(b"1" * 32)
        assert not writing.revoke_key(b"1" * 32)
    with store.reading() as reading:
        listed = reading.keys()
    assert [key.label for key in listed] == ["y"]


def test_keys_keep_what_limits_them(store: Store) -> None:
    """Learners and expiry come back as they were."""
    plain, limited = KeyRecord(b"a" * 32, "read", "", 3), KeyRecord(b"b" * 32, "read", "", 4, ("a", "b"), 99)
    with store.writing() as writing:
        writing.add_key(plain)
        writing.add_key(limited)
    with store.reading() as reading:
        assert [*reading.keys()] == [plain, limited]  # a method of the store
        assert reading.keys([limited.digest, b"c" * 32]) == [limited]
    with store.writing() as writing:
        assert writing.revoke_key(limited.digest)
    with store.reading() as reading:
        assert reading.keys([limited.digest]) == []


def test_the_latest_epochs_are_listed_in_pages(store: Store) -> None:
    """By name; by part of a name, where _ and % are letters; by names."""
    with store.writing() as writing:
        for name, epoch in (("b", 1), ("b", 2), ("a_1", 1), ("ab1", 1), ("C", 1)):
            writing.add_learner(new_learner(name, epoch=epoch), b"first")

    def found(**wanted: Any) -> set[tuple[str, int]]:
        with store.reading() as reading:
            return {(record.name, record.epoch) for record in reading.latest(**wanted)}

    everyone = {("b", 2), ("a_1", 1), ("ab1", 1), ("C", 1)}
    assert found() == everyone
    assert found(search="A_") == {("a_1", 1)}
    assert found(search="%") == set()
    assert found(names=["b", "nobody"]) == {("b", 2)}
    with store.reading() as reading:
        first = reading.latest(most=3)
        rest = reading.latest(after=first[-1].name)
        assert {(record.name, record.epoch) for record in first + rest} == everyone
        assert len(first + rest) == 4
        assert set(reading.states([record.id for record in first])) == {record.id for record in first}
        assert [record.id for record in reading.learners([first[0].id, 999])] == [first[0].id]


def test_what_has_work_to_be_done_is_found(store: Store) -> None:
    """What is due, what can be forgotten, what has ended, totals and losses: one statement each."""
    with store.writing() as writing:
        writing.add_population(PopulationRecord("town", None))
        ids = [
            writing.add_learner(
                new_learner(name, population="town" if name != "c" else None, lineage=name), b"first"
            )
            for name in ("a", "b", "c")
        ]
        writing.add_counts({ids[0]: Counts(asked=2)})
        writing.add_counts({ids[0]: Counts(asked=1)})
        writing.count_attempts({(ids[2], b"p" * 16): 1})
    asked(store, ids[0], 3, at=1_000)
    with store.reading() as reading:
        assert (reading.due(61_000), reading.due(61_001)) == ([], [ids[0]])
        assert reading.to_compact(now=61_000 + 500, kept=500) == []
        assert reading.to_compact(now=61_001 + 500, kept=500) == [ids[0]]
        assert reading.totals(ids) == {ids[0]: Counts(asked=3)}
        assert reading.losses("town") == [Loss("a", 1, 1.0), Loss("b", 1, 1.0)]
        assert reading.populations("town") == [PopulationRecord("town", None)]
        assert reading.ended() == reading.populations("nobody") == []
    with store.writing() as writing:
        writing.set_status(ids[2], Status.ARCHIVED)
    with store.reading() as reading:
        assert reading.to_compact(now=0, kept=0) == [ids[2]]
        assert reading.ended() == ["c"]


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


def test_the_schema_is_the_one_in_use(store: Store, address: str) -> None:
    """A new store has the columns that the code uses, no more and no fewer."""
    from discreet.storage.tables import metadata

    engine = sa.create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    try:
        found = sa.inspect(engine)
        assert set(found.get_table_names()) == set(metadata.tables)
        for name, table in metadata.tables.items():
            columns = {column["name"]: column["nullable"] for column in found.get_columns(name)}
            assert columns == {c.name: bool(c.nullable) for c in table.columns}
            indexes = {index["name"] for index in found.get_indexes(name)}
            assert {index.name for index in table.indexes} <= indexes
    finally:
        engine.dispose()
