"""What every private prefix sum must do."""

import copy
import os
import pickle
import threading

import numpy as np
import pytest
from prefix_sum_makers import BOUND, EPSILON, HORIZON, MAKERS, stream

from discreet import randomness
from discreet.errors import InvalidArgument, InvalidType, NotCopyable, StaleState
from discreet.prefix_sums import BinaryTree
from discreet.prefix_sums.steps import samples_needed
from discreet.randomness import BitSource
from discreet.state import decode, encode

every_kind = pytest.mark.parametrize("kind", MAKERS)
#: For what all kinds have from one base class.
two_kinds = pytest.mark.parametrize("kind", ["binary", "binary gaussian"])


@every_kind
def test_released_sums_follow_the_true_ones(kind):
    """Seed 1: over 2000 coordinates the mean error is zero to within 6 deviations, in each of 100 rounds.

    A mechanism that misses one vector, or enters one twice, is off by 10 per coordinate
    and fails (the deviation of the mean is below 1.5).
    """
    n = 2000
    sums = MAKERS[kind](n, BitSource(seed=1))
    total = np.zeros(n)
    for t in range(1, HORIZON + 1):
        vector = np.zeros(n, dtype=np.int64)
        vector[t % 4 :: 4] = 1 if t % 3 else -1
        total += vector
        released = sums.add(vector)
        error = released.values / BOUND.step - total
        assert released.round == t == sums.round
        assert abs(error.mean()) < 6 * error.std() / np.sqrt(n)


@every_kind
def test_a_seed_repeats_everything_and_voids_the_guarantee(kind):
    """Twice the same seed, twice the same releases, and nobody is told that they are private."""
    first, second = (MAKERS[kind](3, BitSource(seed=4)) for _ in range(2))
    for vector in stream(HORIZON, 3):
        assert np.array_equal(first.add(vector).values, second.add(vector).values)
    assert not first.guarantee.private
    assert "seed" in str(first.guarantee)


@every_kind
def test_fresh_noise_by_default(kind):
    """Two objects on the same data never release the same."""
    first, second = (MAKERS[kind](3, None) for _ in range(2))
    assert first.guarantee.private == (kind != "spherical")
    assert not np.array_equal(first.add(stream(1, 3)[0]).values, second.add(stream(1, 3)[0]).values)


@every_kind
@pytest.mark.parametrize("saved_after", [0, 1, 4, 17, 63])
def test_a_restored_state_goes_on_exactly(kind, saved_after):
    """With the same bits to come, the same releases follow; other bits change the new noise only."""
    vectors = stream(HORIZON, 3, seed=2)
    original = MAKERS[kind](3, BitSource(seed=5))
    for vector in vectors[:saved_after]:
        original.add(vector)
    saved = original.to_bytes()
    restored = type(original).from_bytes(saved, generation=original.generation, source=BitSource(seed=6))
    original._source = BitSource(seed=6)
    assert restored.round == saved_after
    assert restored.lineage == original.lineage
    assert restored.generation == original.generation + 1
    for vector in vectors[saved_after:]:
        assert np.array_equal(original.add(vector).values, restored.add(vector).values)


@two_kinds
def test_a_stale_state_is_refused(kind):
    """Neither an older nor a newer generation than the store knows may go on, nor the same bytes twice."""
    sums = MAKERS[kind](3, None)
    old = sums.to_bytes()
    sums.add(stream(1, 3)[0])
    latest = sums.to_bytes()
    with pytest.raises(StaleState, match="generation 0, the latest is 1"):
        type(sums).from_bytes(old, generation=sums.generation)
    with pytest.raises(StaleState):
        type(sums).from_bytes(latest, generation=0)
    recorded = type(sums).from_bytes(latest, generation=1).generation
    with pytest.raises(StaleState):
        type(sums).from_bytes(latest, generation=recorded)
    with pytest.raises(TypeError, match="generation"):
        type(sums).from_bytes(latest)


@two_kinds
def test_a_seeded_past_is_not_forgotten(kind):
    """Restored with good bits, the guarantee is still void: the old noise came from the seed."""
    sums = MAKERS[kind](3, BitSource(seed=1))
    sums.add(stream(1, 3)[0])
    restored = type(sums).from_bytes(sums.to_bytes(), generation=sums.generation)
    assert not restored.guarantee.private
    again = type(sums).from_bytes(restored.to_bytes(), generation=restored.generation)
    assert not again.guarantee.private


@every_kind
def test_saved_states_are_checked(kind):
    """Another class, missing arrays, damage and nonsense are refused."""
    sums = MAKERS[kind](3, None)
    values, arrays = decode(sums.to_bytes())
    with pytest.raises(InvalidArgument, match="state of a Other"):
        type(sums).from_bytes(encode(values | {"kind": "Other"}, arrays), generation=0)
    with pytest.raises(InvalidArgument, match="does not fit"):
        type(sums).from_bytes(encode(values, {}), generation=0)
    changed = sums.to_bytes().replace(b'"generation":0', b'"generation":1')
    for nonsense in (changed, b"", b"{}", b"[]", b"\x00"):
        with pytest.raises(InvalidArgument, match="damaged"):
            type(sums).from_bytes(nonsense, generation=1)


@pytest.mark.parametrize("kind", ["binary", "binary gaussian"])
def test_damaged_digits_are_refused(kind):
    """Kernels index by them."""
    sums = MAKERS[kind](1, None)
    for vector in stream(2, 1):
        sums.add(vector)
    values, arrays = decode(sums.to_bytes())
    damaged = encode(values, arrays | {"digits": np.full_like(arrays["digits"], 77)})
    with pytest.raises(InvalidArgument, match="damaged"):
        type(sums).from_bytes(damaged, generation=2)


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, pickle.dumps])
def test_no_copies(copier):
    """Two copies would share noise."""
    with pytest.raises(NotCopyable, match="share noise"):
        copier(MAKERS["binary"](3, None))


def test_a_forked_child_is_refused():
    """Parent and child would share noise."""
    sums = MAKERS["binary"](1, None)
    sums.add(np.array([1]))
    child = os.fork()
    if child == 0:
        try:
            sums.add(np.array([1]))
        except StaleState:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert sums.add(np.array([1])).round == 2


def test_a_changed_process_is_noticed(monkeypatch):
    """The same, seen from inside one process that believes to be a child."""
    sums = MAKERS["binary"](1, None)
    monkeypatch.setattr(randomness, "_forks", randomness._forks + 1)
    with pytest.raises(StaleState, match="forked"):
        sums.add(np.array([1]))
    with pytest.raises(StaleState, match="forked"):
        sums.to_bytes()


def test_bounds_and_budgets_are_told_apart():
    """Swapped arguments are named, not misread."""
    with pytest.raises(InvalidArgument, match="VectorBound and a Budget"):
        BinaryTree(1, 10, EPSILON, BOUND)


@two_kinds
def test_threads_add_every_vector_once(kind):
    """Four threads at once: all rounds are counted, and without noise the released sum is the true one."""
    sums = MAKERS[kind](2, None)
    sums._draw = lambda done, bits, cursor: (samples_needed(sums.steps), cursor)

    def work():
        for _ in range(25):
            sums.add(np.array([1, -2]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums.round == sums.generation == 100
    assert sums._released.tolist() == [100, -200]


@two_kinds
def test_inputs_are_not_kept_and_outputs_are_read_only(kind):
    """No aliasing in either direction."""
    sums = MAKERS[kind](2, BitSource(seed=1))
    vector = np.array([1, 2])
    released = sums.add(vector)
    before = released.values.copy()
    vector[:] = 1000
    sums.add(np.array([5, 5]))
    assert np.array_equal(released.values, before)
    with pytest.raises(ValueError, match="read-only"):
        released.values[0] = 0


@every_kind
def test_private_values_raise_nothing_and_reprs_tell_nothing(kind):
    """Wild values are forced inside; the repr shows public facts only."""
    sums = MAKERS[kind](2, None)
    for wild in ([np.nan, np.inf], [1e308, -1e308], [-np.inf, 0.0]):
        assert np.isfinite(sums.add(np.array(wild)).values).all()
    with pytest.raises(InvalidArgument, match="length 2"):
        sums.add(np.array([1, 2, 3]))
    for wrong in ([1, 2], [0.5, np.ma.masked], [1, [2, 3]]):  # whatever is in it
        with pytest.raises(InvalidType, match="array of floats or integers"):
            sums.add(wrong)


def test_the_horizon_is_the_end():
    """One vector more is refused, and the state is not harmed."""
    sums = MAKERS["binary"](1, None)
    for vector in stream(HORIZON, 1):
        sums.add(vector)
    with pytest.raises(InvalidArgument, match="all its 100 rounds"):
        sums.add(np.array([1]))
    assert sums.round == HORIZON


@two_kinds
def test_an_interrupted_round_cannot_be_continued(kind, monkeypatch):
    """A state that may be half-way between two rounds is refused from then on."""
    sums = MAKERS[kind](1, None)

    def broken(_secret):
        raise KeyboardInterrupt

    monkeypatch.setattr(sums, "_advance", broken)
    with pytest.raises(KeyboardInterrupt):
        sums.add(np.array([1]))
    monkeypatch.undo()
    with pytest.raises(StaleState, match="interrupted"):
        sums.add(np.array([1]))
    with pytest.raises(StaleState, match="interrupted"):
        sums.to_bytes()


@two_kinds
def test_memory_is_logarithmic_in_the_rounds(kind):
    """The saved state of a hundred rounds is not much larger than that of one."""
    sums = MAKERS[kind](50, None)
    sums.add(stream(1, 50)[0])
    small = len(sums.to_bytes())
    for vector in stream(HORIZON - 1, 50):
        sums.add(vector)
    assert len(sums.to_bytes()) < 12 * small


def test_of_two_branches_only_one_is_recorded():
    """A store that compares and sets lets only one of a restored state and its original go on."""
    recorded = 0

    def record(generation):
        nonlocal recorded
        if recorded != generation - 1:
            return False
        recorded = generation
        return True

    original = BinaryTree(2, HORIZON, BOUND, EPSILON)
    original.add(stream(1, 2)[0])
    assert record(original.generation)
    saved = original.to_bytes()
    branch = BinaryTree.from_bytes(saved, generation=recorded)
    assert record(branch.generation)
    original.add(stream(1, 2)[0])
    assert not record(original.generation)
    branch.add(stream(1, 2)[0])
    assert record(branch.generation)
