"""Shorter forms of the long runs in benchmarks/bench_soak.py."""

import pathlib

from benchmarks.bench_soak import Bulk, bytes_of_a_decision, growth, memory, soak

from running_service import RunningService


def test_clients_lead_a_learner_to_the_optimum(tmp_path: pathlib.Path) -> None:
    """10,000 rounds by two processes, some told twice: the set is the planted one; memory stays flat after.

    With this epsilon all of 100 simulated runs ended with every level at its end of [0, 1].
    """
    with RunningService(tmp_path) as service:
        found = soak(service, rounds=10_000, clients=2, items=4, epsilon=4.0)
        assert found.rounds == 10_000
        assert found.chosen == found.optimum
        bulk = Bulk()
        sizes = list(memory(service, rounds=30_000, step=10_000, bulk=bulk))
    assert sizes[-1] < 1.25 * sizes[0]
    assert bulk.rounds == 30_000


def test_a_database_stops_growing(tmp_path: pathlib.Path) -> None:
    """Once old decisions and people of ended epochs are forgotten, their pages are used again."""
    sizes = list(growth(str(tmp_path), cycles=6, rounds=10_000))
    assert max(sizes[4:]) < 1.02 * sizes[3]


def test_a_decision_takes_little_room(tmp_path: pathlib.Path) -> None:
    """Ids, a draw and a set: the arithmetic of the service guide rests on it."""
    assert 100 < bytes_of_a_decision(str(tmp_path), decisions=5_000) < 180
