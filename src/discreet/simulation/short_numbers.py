"""Numbers in few characters, for ticks, captions and rates, and with the word for what they count."""


def short_number(number: float) -> str:
    """Three digits and a letter for thousands, millions and more.

    Examples:
        >>> [short_number(x) for x in (1, 20_000, 3e6, 0.05, -0.5, 0.00002)]
        ['1', '20k', '3M', '0.05', '−0.5', '2e−05']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.3g}{letter}".replace("-", "−")
    return f"{number:.3g}".replace("-", "−")


def counted(count: int, noun: str) -> str:
    """A number of things.

    Examples:
        >>> counted(1, "seed"), counted(4096, "round")
        ('1 seed', '4,096 rounds')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
