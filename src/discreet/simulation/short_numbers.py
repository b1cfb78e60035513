"""Numbers in few characters, for ticks, captions and rates."""


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
