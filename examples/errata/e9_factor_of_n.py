"""Erratum E9: the text says a factor sqrt(n) is lost against Smith and Thakurta; its bounds give n."""

import math

from discreet.bounds import submod_pftal_claimed


def main() -> None:
    """Print the ratio of the two rates."""
    T = 2**20
    print("| n | n^1.5 sqrt(T) / epsilon (paper) | sqrt(n T) / epsilon (Smith, Thakurta) | ratio | sqrt(n) |")
    print("|---|---|---|---|---|")
    for n in (2, 8, 32):
        ours, theirs = submod_pftal_claimed(n, T, 1.0, 1.0), math.sqrt(n * T)
        print(f"| {n} | {ours:,.0f} | {theirs:,.0f} | {ours / theirs:.1f} | {math.sqrt(n):.2f} |")


if __name__ == "__main__":
    main()
