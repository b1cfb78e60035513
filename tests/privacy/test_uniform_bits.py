"""The exact primitives against arbitrary-precision integers."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.privacy.uniform import NEED_MORE_BITS, below, high_half, run_is_even

WORD = st.integers(0, 2**64 - 1)
BOUND = st.one_of(st.integers(1, 100), st.integers(1, 2**62 - 1), st.integers(0, 61).map(lambda e: 2**e))


@given(WORD, WORD)
def test_the_high_word_is_that_of_the_product(a, b):
    """Against Python's integers."""
    assert high_half(np.uint64(a), np.uint64(b)) == a * b >> 64


def uniform_reference(bound, bits):
    """Lemire's method on the upper 63 bits, in unbounded integers."""
    for used, word in enumerate(bits, start=1):
        high, low = divmod((word >> 1) * bound, 2**63)
        if low >= 2**63 % bound:
            return high, word & 1, used
    return 0, 0, NEED_MORE_BITS


@given(BOUND, st.lists(WORD, max_size=4))
def test_a_uniform_integer_is_that_of_the_reference(bound, bits):
    """Same value, same spare bit, same number of bits."""
    assert below(bound, np.array(bits, dtype=np.uint64), 0) == uniform_reference(bound, bits)


@given(BOUND, st.integers(0, 200))
def test_words_at_the_edge_of_rejection(bound, offset):
    """Words whose remainder is close to the threshold, where an error by one would show."""
    value = offset % bound
    edge = (value * 2**63 + 2**63 % bound) // bound  # remainders near 2^63 mod bound
    bits = [2 * (edge + shift) % 2**64 + bit for shift in (-1, 0, 1, 2) for bit in (0, 1)]
    for word in bits:
        single = np.array([word], dtype=np.uint64)
        assert below(bound, single, 0) == uniform_reference(bound, [word])


def test_every_value_has_the_same_number_of_words():
    """The reference is exactly uniform: with 63 replaced by 10 bits it can be counted."""
    for bound in range(1, 200):
        counts = [0] * bound
        for x in range(2**10):
            high, low = divmod(x * bound, 2**10)
            if low >= 2**10 % bound:
                counts[high] += 1
        assert len(set(counts)) == 1


def even_share(x_times_64, ties, samples, seed):
    """How often the run is even, on a grid of 64 cells."""
    bits = np.random.PCG64DXSM(seed).random_raw(samples * 12)
    cursor, even = 0, 0
    for _ in range(samples):
        answer, cursor = run_is_even(x_times_64, ties, 64, bits, cursor)
        assert cursor != NEED_MORE_BITS
        even += answer
    return even


def test_the_coin_has_bias_exp_minus_x():
    """Seed 1, 40,000 tosses each, alpha = 1e-6; a coin off by 2% is rejected.

    With ties = 0 the argument is the upper end of its cell; with ties = 1 it is spread
    over the cell, and the bias is the mean of exp(-x) over it.
    """
    samples = 40_000
    for cell in (0, 1, 31, 63):
        end = math.exp(-(cell + 1) / 64)
        spread = 64 * (math.exp(-cell / 64) - end)
        for ties, bias in ((0, end), (1, spread)):
            even = even_share(cell, ties, samples, seed=cell + 1)
            assert stats.binomtest(even, samples, bias).pvalue > 1e-6
            wrong = bias * 0.98 if bias > 0.9 else bias * 1.06
            assert stats.binomtest(even, samples, wrong).pvalue < 1e-6


def test_a_dry_coin_reports_it():
    """No bits, no answer."""
    assert run_is_even(5, 1, 64, np.empty(0, dtype=np.uint64), 0)[1] == NEED_MORE_BITS
