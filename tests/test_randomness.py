"""Random bits: the cipher is the real one, nothing repeats, and refills change nothing."""

import copy
import json
import os
import pickle
import threading
import warnings

import numpy as np
import pytest

from discreet import randomness
from discreet.errors import InvalidArgument, InvalidType, NotCopyable
from discreet.randomness import BitSource, as_source, chacha20, feed_both


def drawn_under(monkeypatch, *keys, count):
    """What `chacha20` draws when the operating system gives these keys, and how many bytes it asked for."""
    asked, coming = [], iter(keys)
    monkeypatch.setattr(randomness.secrets, "token_bytes", lambda size: asked.append(size) or next(coming))
    draw = chacha20()
    return [draw(8).tobytes().hex() for _ in range(count)], asked


def test_the_bits_are_those_of_chacha20(monkeypatch):
    """Vectors 1 to 3 of RFC 8439, A.1: the whole key is used, from the first block on, without gaps."""
    drawn, asked = drawn_under(monkeypatch, bytes(32), count=2)
    assert asked == [32]
    assert drawn[0] == (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
    )
    assert drawn[1] == (
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
    )
    drawn, _ = drawn_under(monkeypatch, bytes(31) + b"\x01", count=2)
    assert drawn[1] == (
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0"
    )


def test_keys_are_replaced_before_they_have_served_too_long(monkeypatch):
    """A key gives no more bytes than allowed; then comes a new one, from its first block."""
    monkeypatch.setattr(randomness, "_BYTES_PER_KEY", 3 * 64 + 63)
    keys = [bytes([k]) * 32 for k in range(3)]
    drawn, asked = drawn_under(monkeypatch, *keys, count=8)
    alone = [drawn_under(monkeypatch, key, count=3)[0] for key in keys]
    assert asked == [32, 32, 32]
    assert drawn == alone[0] + alone[1] + alone[2][:2]


def test_two_sources_never_agree():
    """Sources do not share a generator."""
    assert BitSource().bits64() != BitSource().bits64()


def test_a_seed_repeats_and_says_so():
    """Seeded bits are reproducible and never called private."""
    first, second = BitSource(seed=3), BitSource(seed=np.random.SeedSequence(3))
    assert [first.bits64() for _ in range(200)] == [second.bits64() for _ in range(200)]
    assert not first.private
    assert "seed" in first.not_private_because
    assert BitSource().private
    assert BitSource().not_private_because == ""
    for bad in (-1, 1.5, "seven"):
        with pytest.raises(InvalidArgument, match="seed"):
            BitSource(seed=bad)


@pytest.mark.parametrize("needs", [1, 3, 7, 500])
def test_a_sample_that_runs_dry_is_replayed(needs):
    """Whatever the size of a sample, samples are made of consecutive bits, none lost."""
    taken = []

    def consume(done, bits, cursor):
        while done < 40 and cursor + needs <= bits.size:
            taken.extend(int(each) for each in bits[cursor : cursor + needs])
            cursor += needs
            done += 1
        return done, cursor

    BitSource(seed=11).feed(consume, 40)
    stream = np.random.PCG64DXSM(11).random_raw(40 * needs)
    assert taken == [int(each) for each in stream]


def test_single_draws_and_samples_share_one_stream():
    """Bits read 64 at a time go on where a sampler stopped."""
    source = BitSource(seed=5)
    first = source.bits64()
    rest = []
    source.feed(lambda done, bits, cursor: (rest.extend(bits[cursor : cursor + 2]) or 1, cursor + 2), 1)
    expected = np.random.PCG64DXSM(5).random_raw(4)
    assert [first, *map(int, rest), source.bits64()] == [int(each) for each in expected]


def in_forked_child(work):
    """What `work` returns, as text, in a forked child."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads alive is the point here
        child = os.fork()
    if child == 0:
        try:
            answer = str(work())
        except Exception as error:
            answer = type(error).__name__
        os.write(write, answer.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def test_a_forked_child_never_repeats_its_parent():
    """The buffered bits of the parent are not those of the child, nor those of a second child."""
    source = BitSource()
    source.bits64()
    children = [in_forked_child(lambda: [source.bits64() for _ in range(100)]) for _ in range(2)]
    parent = str([source.bits64() for _ in range(100)])
    assert len({parent, *children}) == 3


def test_what_happens_on_the_first_use_after_a_fork(monkeypatch):
    """The same, seen from inside one process that believes to be a child: new key, empty buffer, new lock."""
    keyed = []
    source = BitSource(
        fresh=lambda: keyed.append(len(keyed)) or (lambda n, key=keyed[-1]: np.full(n, key, "u8"))
    )
    seeded = BitSource(seed=1)
    assert [source.bits64(), source.bits64()] == [0, 0]
    lock = source._lock
    monkeypatch.setattr(randomness, "_forks", randomness._forks + 1)
    assert [source.bits64(), source.bits64()] == [1, 1]
    assert source._lock is not lock
    with pytest.raises(NotCopyable, match="its own seed"):
        seeded.bits64()


def test_a_fork_while_the_lock_is_held_does_not_hang():
    """A child gets a lock of its own, since the thread that held the parent's is not there."""
    source = BitSource()
    with source._lock:
        assert in_forked_child(lambda: source.bits64() >= 0) == "True"


def test_a_seeded_source_is_refused_in_a_child():
    """It would repeat its parent's bits."""
    source = BitSource(seed=1)
    assert in_forked_child(source.bits64) == "NotCopyable"
    assert source.bits64() >= 0


def test_threads_get_different_bits():
    """Four threads that read at once never see the same 64 bits."""
    source, seen = BitSource(), [[] for _ in range(4)]
    threads = [
        threading.Thread(target=lambda mine: mine.extend(source.bits64() for _ in range(3000)), args=(mine,))
        for mine in seen
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({each for mine in seen for each in mine}) == 12000


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_source_cannot_be_copied(copier):
    """A copy would repeat bits."""
    with pytest.raises(NotCopyable, match="repeat"):
        copier(BitSource())


def test_the_repr_tells_nothing():
    """No bits, no key."""
    assert repr(BitSource()) == "BitSource(private=True)"


def test_another_generator_can_be_plugged_in():
    """Its bits are used as they come."""
    source = BitSource(fresh=lambda: lambda count: np.arange(count, dtype=np.uint64))
    assert [source.bits64() for _ in range(3)] == [0, 1, 2]
    assert as_source(source) is source
    assert not as_source(None, seed=3).private
    for wrong in (np.zeros(3), np.zeros(3, dtype=np.int64), np.empty(0, dtype=np.uint64)):
        with pytest.raises(InvalidType, match="uint64"):
            BitSource(fresh=lambda wrong=wrong: lambda count: wrong).bits64()
    with pytest.raises(InvalidArgument, match="not both"):
        BitSource(seed=1, fresh=chacha20)
    with pytest.raises(InvalidArgument, match="not both"):
        as_source(source, seed=1)


def test_seeds_and_sources_are_refused_in_the_name_of_their_owner():
    """Of whoever was given them; what comes of a seed does not depend on who that is."""
    with pytest.raises(InvalidArgument, match=r"^The 'seed' of BitSource must"):
        BitSource(seed=-1)
    with pytest.raises(InvalidArgument, match=r"^The 'seed' of Owner must"):
        as_source(None, seed=-1, owner="Owner")
    with pytest.raises(InvalidType, match=r"^The 'source' of Owner must be a BitSource. Got int instead.$"):
        as_source(7, owner="Owner")
    for seed in (7, [7, 8], np.random.SeedSequence(7)):
        assert as_source(None, seed, owner="Owner").bits64() == np.random.PCG64DXSM(seed).random_raw()


def test_bits_that_were_read_when_an_interruption_struck_are_never_read_again() -> None:
    """An exception just after a sampler has used its bits: the next one must not see them."""
    source = BitSource(seed=3)
    seen = []

    def take_two_and_fail(done, bits, cursor):
        seen.extend(bits[cursor : cursor + 2].tolist())
        if len(seen) >= 2:
            raise KeyboardInterrupt
        return done, cursor

    with pytest.raises(KeyboardInterrupt):
        source.feed(take_two_and_fail, 1)
    assert len(seen) == 2
    later = {source.bits64() for _ in range(500)}
    assert not later & set(seen)


@pytest.mark.parametrize("read", [0, 1, 63, 64, 65, 191, 192, 193, 9000, 30_000])
def test_a_seeded_source_goes_on_from_where_it_was_saved(read):
    """Whatever lies in the buffer, the restored source gives exactly the bits that come next."""
    source = BitSource(seed=9)
    for _ in range(read):
        source.bits64()
    saved = json.loads(json.dumps(source.saved()))
    expected = np.random.PCG64DXSM(9).random_raw(read + 20_000)[read:].tolist()
    restored, again = BitSource.restored(saved), BitSource.restored(saved)
    assert [restored.bits64() for _ in range(20_000)] == expected
    assert [source.bits64() for _ in range(20_000)] == expected
    assert again.bits64() == expected[0]
    assert not restored.private
    assert restored.saved() == source.saved()


@pytest.mark.parametrize("needs", [3, 100, 5000])
def test_samples_go_on_from_a_saved_source(needs):
    """Samples of many bits each, saved between two of them with bits left over in the buffer."""
    taken = []

    def consume(done, bits, cursor):
        if cursor + needs <= bits.size:
            taken.extend(bits[cursor : cursor + needs].tolist())
            return done + 1, cursor + needs
        return done, cursor

    source = BitSource(seed=4)
    for _ in range(3):
        source.feed(consume, 1)
    restored = BitSource.restored(source.saved())
    for _ in range(3):
        restored.feed(consume, 1)
    assert taken == np.random.PCG64DXSM(4).random_raw(6 * needs).tolist()


def test_cryptographic_bits_are_not_saved():
    """There is nothing to go on from: whoever restores draws new ones."""
    source = BitSource()
    source.bits64()
    assert source.saved() is None


def test_a_place_that_makes_no_sense_is_refused():
    """Nothing of it is used."""
    saved = BitSource(seed=1).saved()
    wrong = [
        {},
        saved | {"generator": {}},
        saved | {"generator": saved["generator"] | {"state": {"state": -1, "inc": 1}}},
        saved | {"unread": [[1, 2], [3, 4]]},
        saved | {"unread": [-1]},
        saved | {"unread": [2**64]},
        saved | {"unread": ["x"]},
        saved | {"unread": 7},
        saved | {"batch": 0},
        saved | {"batch": 10**12},
        saved | {"batch": "64"},
    ]
    for damaged in wrong:
        with pytest.raises(InvalidArgument, match="BitSource"):
            BitSource.restored(damaged)


def test_what_is_hardly_used_does_not_pile_up():
    """Steps that need much noise and few coins leave few coins unread, however many steps there are."""
    coins, noise, need = BitSource(1), BitSource(2), 50_000

    def consume(done, first, at, second, start):
        enough = first.size - at >= 3 and second.size - start >= need
        return (1, at + 3, start + need) if enough else (done, at, start)

    for _ in range(40):
        feed_both(coins, noise, consume, 1)
        assert max(source._bits.size for source in (coins, noise)) <= 8 * need
