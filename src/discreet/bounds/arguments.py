"""The checks that all bounds share."""

from discreet import checks


def sizes(owner: str, n: int, T: int) -> tuple[int, int]:
    """Items and rounds, at least one each."""
    return checks.integer(owner, "n", n, 1), checks.integer(owner, "T", T, 1)


def positive(owner: str, **values: float) -> None:
    """Refuse any that is not a positive number."""
    for name, value in values.items():
        checks.positive_number(owner, name, value)


def share(owner: str, name: str, value: float) -> float:
    """A number in (0, 1]."""
    number = checks.positive_number(owner, name, value)
    if number > 1:
        raise checks.complaint(owner, name, "a number in (0, 1]", value)
    return number
