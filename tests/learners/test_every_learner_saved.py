"""Every learner is saved and loaded, here and in another process, and goes on as if nothing had happened."""

import json
import pathlib

import pytest

import another_process
from discreet import load
from every_learner import LEARNERS, feedback, is_bandit, some_functions, state_of, transcript

each = pytest.mark.parametrize("name", LEARNERS)
SEED = 7


def in_the_middle(name: str, rounds: int) -> tuple[object, list[int]]:
    """A learner after some rounds with open decisions, of which one more has been told; the others' ids."""
    learner = LEARNERS[name](SEED)
    transcript(learner, rounds)
    waiting = learner.ask(count=4)
    learner.tell(waiting[1], feedback(learner, waiting[1], some_functions()[1]))
    return learner, [waiting[2].id, waiting[0].id, waiting[3].id]


@pytest.mark.parametrize("rounds", [0, 1, 5, 17])
@each
def test_a_loaded_learner_goes_on_exactly(name: str, rounds: int, tmp_path: pathlib.Path) -> None:
    """Seeded, and saved with decisions open: original and copy decide, move and count alike ever after."""
    learner, late = in_the_middle(name, rounds)
    learner.save(tmp_path / "learner")
    loaded, again = load(tmp_path / "learner"), load(tmp_path / "learner")
    assert type(loaded) is type(learner)
    assert state_of(loaded) == state_of(learner)
    assert loaded.generation == learner.generation + 1
    assert loaded.pending == 3
    expected = transcript(learner, 30, late)
    assert transcript(loaded, 30, late) == expected
    assert state_of(loaded) == state_of(learner)
    again.save(tmp_path / "moved")
    assert transcript(load(tmp_path / "moved"), 30, late) == expected


@each
def test_a_loaded_learner_knows_what_was_told(name: str, tmp_path: pathlib.Path) -> None:
    """What was told before cannot be told again, nor what was never asked for."""
    learner, late = in_the_middle(name, 2)
    learner.save(tmp_path / "learner")
    loaded = load(tmp_path / "learner")
    before = state_of(loaded)
    cost = 0.5 if is_bandit(loaded) else some_functions()[0]
    with pytest.raises(ValueError, match="already"):
        loaded.tell(1, cost)
    with pytest.raises(KeyError, match="No such decision"):
        loaded.tell(99, cost)
    assert state_of(loaded) == before
    for name_of_decision in late:
        loaded.tell(name_of_decision, cost)
    assert loaded.pending == 0


@each
def test_a_learner_with_nothing_open_is_saved_too(name: str, tmp_path: pathlib.Path) -> None:
    """Before the first question, and after the last answer."""
    learner = LEARNERS[name](SEED)
    learner.save(tmp_path / "new")
    assert state_of(load(tmp_path / "new")) == state_of(learner)
    told = transcript(learner, 6)
    learner.save(tmp_path / "used")
    used = load(tmp_path / "used")
    assert (used.pending, used.rounds) == (0, 6)
    assert transcript(load(tmp_path / "new"), 6) == told


@each
def test_the_guarantee_is_saved_with_the_rest(name: str, tmp_path: pathlib.Path) -> None:
    """It says after loading what it said before, for cryptographic bits and for seeded ones."""
    for seed in (None, SEED):
        learner = LEARNERS[name](seed)
        promise = learner.guarantee
        learner.save(tmp_path / str(seed))
        assert load(tmp_path / str(seed)).guarantee == promise


def test_another_process_loads_and_goes_on(tmp_path: pathlib.Path) -> None:
    """A program that was started later reads the files and decides as this one would have."""
    names = [
        "BanditLearner central",
        "FullInformationLearner tree",
        "SubmodPFTAL spherical",
        "ExponentialWeights",
    ]
    late = {}
    for number, name in enumerate(names):
        learner, late[number] = in_the_middle(name, 9)
        learner.save(tmp_path / str(number))
    there = another_process.output(
        "import json, sys, discreet, every_learner\n"
        "late = json.loads(sys.argv[2])\n"
        "goes_on = lambda k: every_learner.transcript(discreet.load(f'{sys.argv[1]}/{k}'), 20, late[k])\n"
        "print(json.dumps({k: goes_on(k) for k in late}))",
        tmp_path,
        json.dumps(late),
    )
    here = {str(k): transcript(load(tmp_path / str(k)), 20, late[k]) for k in late}
    assert json.loads(there) == here


def test_a_seed_gives_the_same_run_in_another_process() -> None:
    """Nothing depends on the process: no hash order, no address, no global generator."""
    there = another_process.output(
        "import json\n"
        "from every_learner import LEARNERS, transcript\n"
        f"print(json.dumps({{name: transcript(make({SEED}), 20) for name, make in LEARNERS.items()}}))"
    )
    here = {name: transcript(make(SEED), 20) for name, make in LEARNERS.items()}
    assert json.loads(there) == here
