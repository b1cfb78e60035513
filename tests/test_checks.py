"""Checks of public arguments: what passes, and what the message says."""

from collections.abc import Callable

import numpy as np
import pytest

from discreet import DiscreetError, checks


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: checks.finite_number("Owner", "x", "a"),
            "The 'x' of Owner must be a finite number. Got 'a'",
        ),
        (lambda: checks.finite_number("Owner", "x", float("inf")), "a finite number. Got inf instead."),
        (lambda: checks.positive_number("Owner", "x", -1), "must be a positive number. Got -1 instead."),
        (lambda: checks.positive_number("Owner", "x", None), "must be a positive number. Got None instead."),
        (lambda: checks.unit_number("Owner", "p", 1.5), "must be a number from 0 to 1. Got 1.5 instead."),
        (lambda: checks.unit_number("Owner", "p", float("nan")), "a number from 0 to 1. Got nan instead."),
        (lambda: checks.nonnegative_number("Owner", "v", -0.5), "a number of at least 0. Got -0.5 instead."),
        (lambda: checks.share("Owner", "p", 0), "must be a number in (0, 1]. Got 0 instead."),
        (lambda: checks.one_of("Owner", "way", "c", ("a", "b")), "must be 'a' or 'b'. Got 'c' instead."),
        (lambda: checks.integer("Owner", "k", 0, 1), "an integer of at least 1. Got 0 instead."),
        (lambda: checks.integer("Owner", "k", 9, 1, 8), "an integer from 1 to 8. Got 9 instead."),
        (lambda: checks.integer("Owner", "k", 1.0, 1), "Got 1.0 instead."),
        (lambda: checks.integer("Owner", "k", True, 1), "Got True instead."),
        (
            lambda: checks.finite_vector("Owner", "v", [1, 2], 3),
            "must be of length 3. Got shape (2,) instead.",
        ),
        (lambda: checks.finite_vector("Owner", "v", [[1]]), "must be one-dimensional. Got shape (1, 1)"),
        (lambda: checks.finite_vector("Owner", "v", "abc"), "'v' of Owner must be an array of finite"),
        (
            lambda: checks.finite_matrix("Owner", "m", [[1]], (2, None)),
            "a matrix (2 x any). Got shape (1, 1)",
        ),
        (lambda: checks.permutation("Owner", "o", [0, 0], 2), "must list all 2 elements once."),
        (lambda: checks.finite_number("Owner", "x", "y" * 999), "yyy... instead."),
    ],
)
def test_messages_name_the_argument_and_what_it_got(call: Callable[[], object], message: str) -> None:
    """The whole sentence, as a reader will see it."""
    with pytest.raises(DiscreetError) as caught:
        call()
    assert message in str(caught.value)


def test_numbers_of_other_libraries_pass() -> None:
    """numpy scalars are numbers too."""
    assert checks.finite_number("Owner", "x", np.float32(0.5)) == 0.5
    assert checks.integer("Owner", "k", np.int8(3), 0) == 3
    assert checks.finite_vector("Owner", "v", (1, 2)).dtype == np.float64


def test_results_are_copies() -> None:
    """What a check returns can be kept: the caller's array is not shared."""
    mine = np.array([0.0, 1.0])
    theirs = checks.finite_vector("Owner", "v", mine)
    mask = np.array([True, False])
    copied = checks.subset_mask("Owner", "s", mask, 2)
    mine[0], mask[0] = 5.0, False
    assert theirs[0] == 0.0
    assert copied[0]
