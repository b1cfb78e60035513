"""Erratum E6: gamma = n / T^(1/4) is a probability only from T = n^4 on."""

from discreet.bounds import bandit_submod_pftal_stated_tuning, bandit_submod_pftal_tuning


def main() -> None:
    """Print the published gamma beside the one that minimises the corrected bound."""
    print("| n | n^4 | gamma at T = 2^16 | gamma at T = 2^20 | gamma of least corrected bound at T = 2^20 |")
    print("|---|---|---|---|---|")
    for n in (4, 8, 16, 32, 64):
        short, long = (bandit_submod_pftal_stated_tuning(n, T, 1.0)[1] for T in (2**16, 2**20))
        best = bandit_submod_pftal_tuning(n, 2**20, 1.0, 1.0)[1]
        print(f"| {n} | {n**4:,} | {short:.2f} | {long:.2f} | {best:.2f} |")


if __name__ == "__main__":
    main()
