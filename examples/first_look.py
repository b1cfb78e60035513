"""A shop looks back on a day: which products should every checkout have offered?

Each customer has a cost function over sets of products: showing a product costs attention, a
complete bundle that the customer wanted brings profit. The sum of all customers is minimised
exactly, with a certificate.
"""

import time

import numpy as np

import discreet
from discreet.set_functions import Bundles, Sum

PRODUCTS = ["bread", "butter", "jam", "pasta", "sauce", "cheese", "coffee", "milk", "sugar", "tea"]
#: Bundles that customers tend to want, and how often.
WISHES = [
    ([0, 1], 0.30),
    ([0, 1, 2], 0.25),
    ([3, 4], 0.22),
    ([3, 4, 5], 0.18),
    ([6, 7, 8], 0.20),
    ([9], 0.08),
]
CUSTOMERS = 100_000


def customer(generator: np.random.Generator) -> Bundles:
    """One customer: the wished bundles and what they bring, against the price of attention."""
    wanted = [bundle for bundle, chance in WISHES if generator.random() < chance]
    return Bundles(
        len(PRODUCTS), wanted, generator.uniform(0.5, 1.5, len(wanted)), costs=[0.12] * len(PRODUCTS)
    )


def main() -> None:
    """Sum the customers, find the best fixed set, and compare it with showing nothing or everything."""
    generator = np.random.default_rng(7)
    start = time.perf_counter()
    total = Sum(customer(generator) for _ in range(CUSTOMERS))
    print(f"{CUSTOMERS:,} customers add up to {total!r} in {time.perf_counter() - start:.1f} s.")

    best = discreet.minimize(total)
    names = ", ".join(PRODUCTS[item] for item in sorted(best.set))
    profit, bound = -best.value / CUSTOMERS, -best.lower_bound / CUSTOMERS
    everything = -total(range(total.n)) / CUSTOMERS
    print(f"The best fixed set: {names}.")
    print(f"  profit per customer {profit:.4f} (showing everything: {everything:.4f}, nothing: 0)")
    print(f"  certificate: no set brings more than {bound:.4f}; found by {best.method}, {best.stopped}.")

    by_hand = -min(total.table().values) / CUSTOMERS
    print(f"  checked against all {2**total.n:,} sets: {by_hand:.4f}.")


if __name__ == "__main__":
    main()
