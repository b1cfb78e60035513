"""Random bits: where every random choice of this package comes from.

A `BitSource` holds a buffer of uniform 64-bit integers that compiled samplers read in order. By default the
bits are ChaCha20 keyed with 256 bits from the operating system; with a seed they are reproducible, and then
nothing built on them is private.

A sampler is called as ``consume(done, bits, cursor)`` with `done` samples finished so far and returns
``(done, cursor)``: what is finished now and the first integer it has not used. Where bits run out within a
sample, fresh ones are put *behind* the unread, and it is replayed with the same bits: dropping it would bias
the law towards samples that need few. A source is never copied, and in a forked child it takes a new key.

Examples:
    >>> BitSource(), BitSource(seed=1)
    (BitSource(private=True), BitSource(private=False))
"""

import os
import secrets
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from discreet.checks import integer, invalid_argument
from discreet.errors import InvalidArgument, InvalidType, NotCopyable

BitArray = npt.NDArray[np.uint64]
DrawBits = Callable[[int], BitArray]
Seed = int | Sequence[int] | np.random.SeedSequence
Consumer = Callable[[int, BitArray, int], tuple[int, int]]

SEEDED = "its random numbers come from a seed, so anyone who knows the seed can remove the noise"

_FEWEST = 64
_MOST = 8192
_BYTES_PER_KEY = 1 << 24


def chacha20() -> DrawBits:
    """OpenSSL's ChaCha20 under a 256-bit key from the operating system, a new one for every 16 MiB."""
    # Imported here, because seeded sources do not need it.
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

    def keystream() -> Callable[[bytes], bytes]:
        cipher = algorithms.ChaCha20(secrets.token_bytes(32), nonce=bytes(16))  # a key is used once
        return Cipher(cipher, mode=None).encryptor().update

    encrypt, left = keystream(), _BYTES_PER_KEY

    def draw(count: int) -> BitArray:
        nonlocal encrypt, left
        if left < 8 * count:
            encrypt, left = keystream(), _BYTES_PER_KEY
        left -= 8 * count
        return np.frombuffer(encrypt(bytes(8 * count)), dtype=np.uint64)

    return draw


class BitSource:
    """A buffer of uniform 64-bit integers that samplers consume.

    Args:
        seed: None for cryptographic bits; otherwise they are reproducible and not private.
        fresh: Returns another newly keyed, cryptographic ``draw(count)``, now and in a forked child.

    Formal guarantees:
        Theorems assume uniform bits, from which no feasible computation tells those of ChaCha20 apart
        (`docs/guarantees.md#finite-precision`).
    """

    _cursor: int

    def __init__(self, seed: Seed | None = None, *, fresh: Callable[[], DrawBits] | None = None) -> None:
        if seed is not None and fresh is not None:
            raise InvalidArgument("A BitSource takes a 'seed' or a 'fresh' generator, not both.")
        self._fresh = fresh or chacha20
        self._seeded = None if seed is None else np.random.PCG64DXSM(_seed_sequence("BitSource", seed))
        self._draw: DrawBits = self._fresh() if self._seeded is None else self._seeded.random_raw
        self._start_empty()

    def saved(self) -> dict[str, Any] | None:
        """Where a seeded source stands, as plain JSON values; None for others, which are never repeated."""
        with self._owned_by_this_process():
            if self._seeded is None:
                return None
            unread = self._bits[self._cursor :].tolist()
            return {"generator": self._seeded.state, "unread": unread, "batch": self._batch}

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> "BitSource":
        """A seeded source that goes on where `saved` stood."""
        source = cls(seed=0)
        assert source._seeded is not None
        try:
            source._seeded.state = saved["generator"]
            source._bits = np.array(saved["unread"], dtype=np.uint64).reshape(len(saved["unread"]))
            source._batch = integer("BitSource", "saved batch", saved["batch"], _FEWEST, _MOST)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            raise InvalidArgument("The saved place of a seeded BitSource makes no sense.") from None
        return source

    @property
    def private(self) -> bool:
        """Whether noise made of these bits can protect anybody."""
        return self._seeded is None

    @property
    def not_private_because(self) -> str:
        """Why it cannot, or an empty string."""
        return "" if self._seeded is None else SEEDED

    def feed(self, consume: Consumer, goal: int) -> None:
        """Call `consume` with ever more bits until it has finished `goal` samples."""
        with self._owned_by_this_process():
            done = 0
            while True:
                # Spent before they are read: an interruption must not let the next call read them again.
                first, self._cursor = self._cursor, self._bits.size
                done, self._cursor = consume(done, self._bits, first)
                if done >= goal:
                    return
                self._append_fresh_bits()

    def feed_one(self, step: Callable[[BitArray, int], int]) -> None:
        """Run one compiled step, which gives the new cursor or NEED_MORE_BITS (-1), with all it needs."""
        with self._owned_by_this_process():
            while True:
                first, self._cursor = self._cursor, self._bits.size  # spent before they are read, as above
                after = step(self._bits, first)
                if after >= 0:
                    self._cursor = after
                    return
                self._cursor = first
                self._append_fresh_bits()

    def generator(self) -> np.random.Generator:
        """A numpy generator with a fresh seed of 256 bits from here: for policies, never for noise."""
        return np.random.Generator(np.random.PCG64DXSM([self.bits64() for _ in range(4)]))

    def bits64(self) -> int:
        """64 random bits, as a Python integer in [0, 2**64)."""
        with self._owned_by_this_process():
            if self._cursor == self._bits.size:
                self._append_fresh_bits()
            self._cursor += 1
            return int(self._bits[self._cursor - 1])

    def _start_empty(self) -> None:
        self._bits: BitArray = np.empty(0, dtype=np.uint64)
        self._cursor = 0
        self._batch = _FEWEST
        self._lock = threading.Lock()
        self._mark = process_mark()

    def _owned_by_this_process(self) -> threading.Lock:
        """The lock to hold while reading, after making sure that a fork shares no bits."""
        if self._mark != process_mark():
            with _fork_lock:
                if self._mark != process_mark():
                    if self._seeded is not None:
                        raise NotCopyable("A seeded BitSource cannot go on in a fork: it needs its own seed.")
                    self._draw = self._fresh()
                    self._start_empty()
        return self._lock

    def _append_fresh_bits(self) -> None:
        # What is still unread was too little for one step: that begins again, so twice as much is made.
        fresh = self._draw(max(self._batch, self._bits.size - self._cursor))
        if fresh.dtype != np.uint64 or fresh.ndim != 1 or fresh.size == 0:
            raise InvalidType("A generator of bits must give arrays of uint64.")
        self._bits = np.concatenate([self._bits[self._cursor :], fresh])
        self._cursor = 0
        self._batch = min(2 * self._batch, _MOST)

    def __reduce__(self) -> NoReturn:
        raise NotCopyable("A BitSource cannot be copied or pickled: the copy would repeat its bits.")

    def __repr__(self) -> str:
        return f"BitSource(private={self.private})"


def feed_both(
    coins: BitSource,
    noise: BitSource,
    consume: Callable[[int, BitArray, int, BitArray, int], tuple[int, int, int]],
    goal: int,
) -> None:
    """Like `BitSource.feed`, for what reads two sources at once: a policy's coins, and noise."""
    with coins._owned_by_this_process(), noise._owned_by_this_process():
        done = 0
        while True:
            first, coins._cursor = coins._cursor, coins._bits.size
            second, noise._cursor = noise._cursor, noise._bits.size
            done, coins._cursor, noise._cursor = consume(done, coins._bits, first, noise._bits, second)
            if done >= goal:
                return
            # One of them ran out; the other may be hardly used, and must not pile up.
            left = {source: source._bits.size - source._cursor for source in (coins, noise)}
            short = [source for source in left if left[source] < source._batch]
            for source in short or [min(left, key=lambda source: left[source])]:
                source._append_fresh_bits()


def process_mark() -> tuple[int, int]:
    """Differs between a process and its forks: ids may be handed out again, and forks go unnoticed."""
    return _forks, os.getpid()


def as_source(source: "BitSource | None", seed: Seed | None = None, *, owner: str = "BitSource") -> BitSource:
    """The given source, or a new one, cryptographic unless there is a seed; both are arguments of `owner`."""
    if source is not None and seed is not None:
        raise InvalidArgument("Give a 'source' or a 'seed', not both.")
    if source is not None:
        if not isinstance(source, BitSource):
            kind = type(source).__name__
            raise InvalidType(f"The 'source' of {owner} must be a BitSource. Got {kind} instead.")
        return source
    return BitSource() if seed is None else BitSource(_seed_sequence(owner, seed))


def another_seed(seed: Seed) -> np.random.SeedSequence:
    """A seed for a second, independent source."""
    first = _seed_sequence("BitSource", seed)
    return np.random.SeedSequence(first.entropy, spawn_key=(*first.spawn_key, 1))


def _seed_sequence(owner: str, seed: Seed) -> np.random.SeedSequence:
    try:
        return seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        raise invalid_argument(owner, "seed", "an integer of at least 0, or several", seed) from None


_forks, _fork_lock = 0, threading.Lock()


def _in_child() -> None:
    """Count a fork; the parent's lock may have been held by a thread that is gone."""
    global _forks, _fork_lock
    _forks, _fork_lock = _forks + 1, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
