"""From a file of baskets to a decision, and to money.

`docs/tutorial.md` walks through it. The cells (`# %%`) run one by one in an editor or as a notebook; as a
program it runs from top to bottom: `python -m examples.tutorial --baskets my_baskets.csv`.
"""

# %% Your file. One basket a line, products separated by commas, in the order of time.
import collections
import csv
import functools
import itertools
import pathlib
import tempfile

import discreet
from examples.gallery.baskets_from_file import known_file, made_up
from examples.gallery.pictures import draw_euros, options, save

parser = options(__doc__, "tutorial.svg")
parser.add_argument("--baskets", help="one basket a line, products separated by commas")
given, _ = parser.parse_known_args()
path = given.baskets or known_file() or made_up(pathlib.Path(tempfile.mkdtemp(), "baskets.csv"))
with open(path, newline="") as file:
    baskets = [frozenset(map(str.strip, line)) for line in csv.reader(file)]
baskets = baskets[:1_000] if given.quick else baskets
counts = collections.Counter(product for basket in baskets for product in basket)
products = sorted(counts, key=lambda product: (-counts[product], product))[:8]
print(f"{len(baskets):,} baskets, {len(counts)} products; the eight most frequent:")
print(", ".join(products))

# %% What a decision is worth. Yours to say, in euros: here each product that somebody finds on the page earns
# 20 cents, two or more earn 50 cents on top (a larger order), and each place on the page costs 5 cents.
MARGIN, LARGER_ORDER, PLACE = 0.20, 0.50, 0.05


def earned(basket: frozenset[str], shown: frozenset[str]) -> float:
    """What the page earned with one customer. Nobody but you ever sees this number."""
    found = len(shown & basket)
    return MARGIN * found + LARGER_ORDER * (found >= 2) - PLACE * len(shown)


# %% Before the first customer. A range for these numbers, from what they can be and not from the file. A plan
# says what to expect.
RANGE = (-0.4, 1.1)  # from nothing found on a full page, to five found of five; what is beyond is clipped
print(discreet.plan(n=8, epsilon=1.0, rounds=len(baskets), cost_range=RANGE, feedback="full information"))

# %% Learn. Show a set, see the basket, tell what every set would have earned.
whole = discreet.FullInformationLearner(products, epsilon=1.0, cost_range=RANGE, maximize=True)
earnings: dict[str, list[float]] = {"learned from whole baskets": []}
for basket in baskets:
    decision = whole.ask()
    whole.tell(decision, functools.partial(earned, basket))
    earnings["learned from whole baskets"].append(earned(basket, decision.subset))

# %% Or see less. Only what the set that was shown earned. Whoever runs this is trusted with sums; with
# mode="local" nobody is.
single = discreet.BanditLearner(products, epsilon=1.0, cost_range=RANGE, maximize=True)
earnings["learned from one number each"] = []
for basket in baskets:
    decision = single.ask()
    single.tell(decision, earned(basket, decision.subset))
    earnings["learned from one number each"].append(earned(basket, decision.subset))

# %% Money. What learning earned, learning time included, beside pages that never change.
pages = [frozenset(page) for size in range(9) for page in itertools.combinations(products, size)]
wanted = collections.Counter(basket & frozenset(products) for basket in baskets)
best = max(pages, key=lambda page: sum(many * earned(basket, page) for basket, many in wanted.items()))
unchanging = {"the best page, in hindsight": best, "all eight products": frozenset(products)}
unchanging["the three most frequent"] = frozenset(products[:3])
for name, page in unchanging.items():
    earnings[name] = [earned(basket, page) for basket in baskets]
for name, each in earnings.items():
    print(f"{name:28} {sum(each):7,.0f} euros")

# %% The decision, and what may be said about it to anybody.
print("Show:", ", ".join(sorted(whole.best)))
print("Best, had all been known:", ", ".join(sorted(best)))
print(whole.guarantee)

# %% The picture.
drawn = range(0, len(baskets), max(1, len(baskets) // 200))
sums = {name: list(itertools.accumulate(each)) for name, each in earnings.items()}
euros = {name: [*(each[k] for k in drawn), each[-1]] for name, each in sums.items()}
colours = ["#0072B2", "#56B4E9", "#1B1F24", "#D55E00", "#7F7F7F"]
looks = {
    name: (colour, ":" if name.endswith("hindsight") else "-")
    for name, colour in zip(euros, colours, strict=True)
}
save(draw_euros([*drawn, len(baskets)], euros, looks), given.out)
