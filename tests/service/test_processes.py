"""Several threads and processes at once: nothing is lost or counts twice, also when one is killed."""

import contextlib
import json
import pathlib
import sqlite3
import subprocess
import threading
import time

import pytest
from service_helpers import bandit, functions, opened, rounds, told

from another_process import started
from discreet.errors import Archived, Busy, StoreInUse
from discreet.service.batch import Batch, Report, Tell
from discreet.service.learner_service import LearnerService
from discreet.service.records import Code, Feedback
from discreet.set_functions import Modular

pytestmark = pytest.mark.process

#: Asks and tells until it is stopped; prints what was acknowledged. Tells some decisions twice.
WORKER = """
import json, sys
from discreet.service.learner_service import LearnerService
from discreet.service.records import Feedback
from discreet.set_functions import Modular
service = LearnerService.open(sys.argv[1])
count = int(sys.argv[2])
print("ready", flush=True)
done = 0
while done < count:
    choices = service.ask("shop", 5)
    plans = service.ask("plan", 2)
    print(json.dumps(["asked", [c.id for c in choices]]), flush=True)
    for _ in range(2):
        outcomes = service.tell("shop", [Feedback(c.id, cost=0.25) for c in choices])
    assert all(outcome.accepted for outcome in outcomes)
    service.tell("plan", [Feedback(c.id, function=Modular([0.1, 0.2, -0.1])) for c in plans])
    print(json.dumps(["told", [o.decision for o in outcomes]]), flush=True)
    done += 1
service.close()
"""


def killed_at_work(process: "subprocess.Popen[str]", rounds: int) -> str:
    """What a worker printed that was killed once so many of its tells had been acknowledged."""
    assert process.stdout is not None
    printed = ""
    while printed.count('["told"') < rounds:
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        printed += line
    process.kill()
    return printed + process.communicate()[0]


def acknowledged(printed: str) -> set[str]:
    """The decisions whose tells were acknowledged; a last line may have been cut short."""
    told_ids = set()
    for line in printed.splitlines():
        if line.startswith('["told"') and line.endswith("]]"):
            told_ids.update(json.loads(line)[1])
    return told_ids


def test_threads_share_a_service(tmp_path: pathlib.Path) -> None:
    """Sixteen threads ask and tell; each decision counts once, and commits are shared."""
    with LearnerService.open(tmp_path / "service.db") as service:
        bandit(service)
        generation = service.learner("shop").generation

        def work() -> None:
            for _ in range(10):
                choice = service.ask("shop")
                assert told(service, "shop", choice, cost=0.4) == [Code.ACCEPTED]

        threads = [threading.Thread(target=work) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        view = service.learner("shop")
        assert (view.rounds, view.counts.asked, view.counts.told) == (160, 160, 160)
        assert view.generation - generation < 160


def test_threads_that_tell_the_same_decision_count_once(tmp_path: pathlib.Path) -> None:
    """While its deadline comes, too: told or expired, it is learned from once."""
    with opened(tmp_path / "service.db") as service:
        bandit(service, deadline_seconds=0.02)
        choices = service.ask("shop", 200)
        codes: list[list[Code]] = []

        def work() -> None:
            for first in range(0, 200, 20):
                codes.append(told(service, "shop", choices[first : first + 20], cost=0.4))

        threads = [threading.Thread(target=work) for _ in range(4)]
        threads.append(threading.Thread(target=lambda: [service.maintenance.expire() for _ in range(20)]))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(0.05)
        service.maintenance.expire()
        assert rounds(service) == 200
        counts = service.learner("shop").counts
        assert counts.told + counts.expired == 200
        assert {code for each in codes for code in each} <= {Code.ACCEPTED, Code.EXPIRED}


def test_concurrent_retries_get_the_same_answer(tmp_path: pathlib.Path) -> None:
    """Many threads send the same request: all get the same decisions, of which there is one set."""
    with opened(tmp_path / "service.db") as service:
        bandit(service)
        futures = [service.submit_ask("shop", 3, request_id="r") for _ in range(40)]
        answers = {tuple(future.result(20)) for future in futures}
        assert len(answers) == 1
        assert service.learner("shop").counts.asked == 3


def test_retries_to_several_processes_get_the_same_answer(postgres: str, key: None) -> None:
    """Two services get the same request at the same time."""
    with opened(postgres) as one, opened(postgres) as two:
        bandit(one)
        two.learners()
        for number in range(20):
            futures = [service.submit_ask("shop", 2, request_id=f"r{number}") for service in (one, two)]
            first, second = (future.result(20) for future in futures)
            assert first == second
        assert one.learner("shop").counts.asked == 40


@pytest.mark.parametrize("end", ["archive", "restart"])
def test_what_is_told_while_a_learner_ends_is_not_lost(postgres: str, key: None, end: str) -> None:
    """One process ends it while another is telling: it waits for the tell, and folds it in."""
    with opened(postgres) as one, opened(postgres) as two:
        bandit(one)
        (choice,) = one.ask("shop")
        two.learners()
        hosted, ending = one.registry.named("shop"), two.registry.named("shop")
        with one._store.writing() as writing:
            tell = Tell(hosted, [Report(bytes.fromhex(choice.id), b"\1", None)], [None])
            assert Batch(writing, 0, alone=False).run([tell]) == [[Code.ACCEPTED]]
            ends = threading.Thread(target=lambda: getattr(two, end)("shop"))
            ends.start()
            ends.join(0.5)
            assert ends.is_alive()
        ends.join(20)
        assert not ends.is_alive()
        assert ending.host.summary(ending.state).rounds == 1
        if end == "archive":
            with pytest.raises(Archived):
                one.ask("shop")
        else:
            with pytest.raises(Busy, match="restarted just now"):
                told(one, "shop", [choice], cost=0)
            assert told(one, "shop", [choice], cost=0) == [Code.FOREIGN]
            assert told(one, "shop", one.ask("shop"), cost=0) == [Code.ACCEPTED]


def test_a_person_is_counted_once_over_an_unnoticed_restart(postgres: str, key: None) -> None:
    """A process that still holds the old epoch refuses to tell, instead of counting people from zero."""
    with opened(postgres) as one, opened(postgres) as two:
        bandit(one, rounds_per_person=1)
        functions(one)
        for name in ("shop", "plan"):
            two.ask(name)
            one.restart(name)
        choices, plans = one.ask("shop", 2), one.ask("plan")
        assert told(one, "shop", choices[:1], cost=0.5, person="ann") == [Code.ACCEPTED]
        with pytest.raises(Busy):
            told(two, "shop", choices[1:], cost=0.5, person="ann")
        with pytest.raises(Busy):
            told(two, "plan", plans, function=Modular([0.1, 0.2, 0.3]))
        assert told(two, "shop", choices[1:], cost=0.5, person="ann") == [Code.ACCEPTED]
        assert rounds(two) == 1
        assert told(two, "plan", plans, function=Modular([0.1, 0.2, 0.3])) == [Code.ACCEPTED]
        assert len(two.ask("plan", 3)) == 3


def test_asks_continue_over_an_unnoticed_restart(postgres: str, key: None) -> None:
    """With the next epoch; a lagging process also archives that one."""
    with opened(postgres) as one, opened(postgres) as two:
        bandit(one)
        two.learners()
        one.restart("shop")
        (choice,) = two.ask("shop")
        assert told(one, "shop", [choice], cost=0.5) == [Code.ACCEPTED]
        one.restart("shop")
        view = two.archive("shop")
        assert (view.epoch, view.status) == (3, "archived")
        with pytest.raises(Archived):
            one.ask("shop")


def test_nothing_happens_to_a_learner_after_it_was_archived(tmp_path: pathlib.Path) -> None:
    """While threads ask and tell: once `archive` has returned, counts and state stay what they are."""
    with opened(tmp_path / "service.db") as service:
        for number in range(12):
            name = f"shop{number}"
            bandit(service, name)
            stop = threading.Event()

            def work(name: str = name, stop: threading.Event = stop) -> None:
                with contextlib.suppress(Archived):
                    while not stop.is_set():
                        told(service, name, service.ask(name), cost=0.5)

            threads = [threading.Thread(target=work) for _ in range(6)]
            for thread in threads:
                thread.start()
            while service.learner(name).counts.told < 10:
                time.sleep(0.001)
            service.archive(name)
            before = service.learner(name)
            for thread in threads:
                thread.join()
            stop.set()
            assert service.learner(name) == before
            assert before.status == "archived"


def test_the_maintenance_thread(tmp_path: pathlib.Path) -> None:
    """Functions are applied soon after they were told, by a thread of the service."""
    with LearnerService.open(tmp_path / "service.db") as service:
        functions(service)
        told(service, "plan", service.ask("plan", 3), function=Modular([0.1, 0.1, 0.1]))
        applied = 0
        hosted = service.registry.named("plan")
        while applied < 3:
            with service._store.reading() as reading:
                applied = reading.applied(hosted.id)
            time.sleep(0.02)


def test_a_second_process_is_refused(tmp_path: pathlib.Path) -> None:
    """An SQLite service serves one process."""
    with opened(tmp_path / "service.db"), pytest.raises(StoreInUse):
        opened(tmp_path / "service.db")


def test_what_was_acknowledged_survives_kill_9(tmp_path: pathlib.Path) -> None:
    """SQLite: killed three times while working; every acknowledged tell is counted once."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        bandit(service)
        functions(service)
    told_ids: set[str] = set()
    for number in range(3):
        told_ids |= acknowledged(killed_at_work(started(WORKER, path, 10_000), 3 + 7 * number))
    assert len(told_ids) >= 5 * (3 + 10 + 17)
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT hex(id) FROM decisions WHERE how = 1 AND learner = 1").fetchall()
    connection.close()
    closed = {row[0].lower() for row in rows}
    assert told_ids <= closed
    with opened(path) as service:
        view = service.learner("shop")
        assert view.rounds == len(closed) == view.counts.told == view.counts.released
        before = service.learner("plan").counts.told
        assert rounds(service, "plan") == before
        assert told(service, "shop", service.ask("shop"), cost=0.1) == [Code.ACCEPTED]


def test_processes_share_a_server(postgres: str, key: None) -> None:
    """PostgreSQL: four processes serve two learners and one is killed; all that was told counts once."""
    with opened(postgres) as service:
        bandit(service)
        functions(service)
    processes: list[subprocess.Popen[str]] = [started(WORKER, postgres, 25) for _ in range(3)]
    victim = started(WORKER, postgres, 10_000)
    printed = [killed_at_work(victim, 10)]
    for process in processes:
        out, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        printed.append(out)
    told_ids = acknowledged("".join(printed))
    assert len(told_ids) >= (3 * 25 + 10) * 5
    with opened(postgres) as service:
        while service.maintenance.apply_queued():
            pass
        service.maintenance.refresh()
        view, plan = service.learner("shop"), service.learner("plan")
        assert view.rounds == view.counts.told == view.counts.released
        assert view.counts.told >= len(told_ids)
        assert rounds(service, "plan") == plan.counts.told
        outcomes = service.tell("shop", [Feedback(each, cost=0.9) for each in sorted(told_ids)])
        assert {outcome.code for outcome in outcomes} == {Code.ACCEPTED}
        assert rounds(service) == view.rounds


def test_queued_bits_are_sealed(postgres: str, key: None) -> None:
    """A transaction that is lost and told again may leave two bits of one cost: nobody can read them."""
    with opened(postgres) as service:
        bandit(service)
        told(service, "shop", service.ask("shop", 100), cost=0.5)
        with service._store.reading() as reading:
            rows = reading.connection.exec_driver_sql("SELECT payload FROM feedback").scalars()  # type: ignore[attr-defined] # an SQL store's
            payloads = [bytes(row) for row in rows]
        assert len(set(payloads)) == 100
        assert {len(payload) for payload in payloads} == {len(payloads[0])}
        assert len(payloads[0]) > 28  # a nonce and a tag
        assert rounds(service) == 100


def test_a_process_follows_what_another_updates(postgres: str, key: None) -> None:
    """Also learners that were made, archived and restarted elsewhere."""
    with opened(postgres) as one, opened(postgres) as two:
        bandit(one)
        choices = two.ask("shop", 50)
        told(one, "shop", choices, cost=1.0)
        one.maintenance.apply_queued()
        hosted = two.registry.named("shop")
        assert hosted.host.rounds(hosted.state) == 0
        two.maintenance.refresh()
        assert hosted.host.rounds(hosted.state) == 50
        assert two.learner("shop") == one.learner("shop")
        one.restart("shop")
        two.learners()
        assert two.learner("shop").epoch == 2
        assert told(one, "shop", two.ask("shop"), cost=1.0) == [Code.ACCEPTED]


#: Opens a store once it is told to, makes the first key and a learner unless others did, and asks.
STARTING = """
import sys
from discreet.errors import AlreadyExists
from discreet.service.learner_service import LearnerService
print("ready", flush=True)
sys.stdin.readline()
with LearnerService.open(sys.argv[1], key_file=sys.argv[2]) as service:
    print(service.api_keys.first() is not None)
    try:
        service.create("shop", "bandit", 3, {"epsilon": 1.0, "cost_range": [0, 1]})
    except AlreadyExists:
        pass
    assert len(service.ask("shop", 3)) == 3
"""


@pytest.mark.slow
@pytest.mark.parametrize("_", range(10))
def test_four_processes_start_at_once_on_an_empty_database(
    _: int, postgres: str, tmp_path: pathlib.Path
) -> None:
    """None of them fails, and one of them makes the first key."""
    processes = [started(STARTING, postgres, tmp_path / "key") for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    ended = [(*process.communicate(timeout=250), process.returncode) for process in processes]
    assert [code for _, _, code in ended] == [0] * 4, ended
    assert sorted(out for out, _, _ in ended) == ["False\n"] * 3 + ["True\n"]
