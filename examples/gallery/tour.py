"""A tour of the package in ten cells.

The cells (`# %%`) run one by one in VS Code, PyCharm, Spyder or, by way of jupytext, in Jupyter. As a program
it runs from top to bottom: `python -m examples.gallery.tour --out tour.svg`.
"""

# %% Options. A notebook's own arguments are left alone.
import pathlib
import tempfile

import numpy as np

import discreet
from discreet.set_functions import Bundles, Modular, is_submodular
from examples.gallery.pictures import options, save

given, _ = options(__doc__, "tour.svg").parse_known_args()
rounds = 1_000 if given.quick else 100_000

# %% Set functions. A cost for every subset: products cost 1 to show, bread with butter brings 5.
products = ["bread", "butter", "jam"]
shop = Bundles(3, groups=[[0, 1], [2]], values=[5, 0.5], costs=[1, 1, 1])
print("bread alone costs", shop([0]), "and bread with butter", shop([0, 1]))
print("submodular:", bool(is_submodular(shop)), "- functions add up:", (shop + Modular([0, 0, -2]))([2]))

# %% Minimising. The best set of 2^n, with a lower bound that proves it.
best = discreet.minimize(shop)
print("best:", [products[i] for i in sorted(best.set)], best.value, "lower bound", best.lower_bound)

# %% Between sets. The Lovász extension is the convex function that learners descend on.
print("half bread, half butter:", discreet.lovasz.value(shop, [0.5, 0.5, 0.0]))

# %% Planning. Privacy costs rounds: find out how many before anybody is asked.
effect = min(shop([]), shop([0, 1, 2])) - best.value  # how much better the best set is than none and all
plan = discreet.plan(n=3, epsilon=1.0, rounds=rounds, cost_range=(-3.5, 3.0), effect=effect)
print(f"take {plan.best}; it learns in about {plan.best.rounds_to_learn:,.0f} rounds")

# %% Asking and telling. Choose first, see the cost later; in local mode it becomes one random bit on arrival.
learner = discreet.BanditLearner(products, epsilon=1.0, cost_range=(-3.5, 3.0), mode="local", seed=8)
decision = learner.ask()
learner.tell(decision, shop([products.index(item) for item in decision.subset]))
late = learner.ask(2)  # feedback may come late, in any order, or never
bit = learner.randomizer().release(-3.0)  # or as a bit from the person's device
learner.tell(late[1], released=bit)
print("offered", sorted(map(str, decision.subset)), "- open decisions:", learner.pending)

# %% Guarantees, as text. This learner has a seed, so it promises nothing. The default mode is central.
print(learner.guarantee)
print(discreet.BanditLearner(products, epsilon=1.0, cost_range=(-3.5, 3.0)).guarantee)

# %% Saving. A learner goes on where it stood, open decisions included.
with tempfile.TemporaryDirectory() as folder:
    learner.save(pathlib.Path(folder, "learner"))
    loaded = discreet.load(pathlib.Path(folder, "learner"))
loaded.tell(late[0], -1.0)
print("loaded:", loaded, "- open decisions:", loaded.pending)

# %% Simulating. A whole environment instead of one function: regret against the best fixed set.
checkout = discreet.environments.checkout(n=6)
private = discreet.BanditLearner(checkout.items, epsilon=1.0, cost_range=checkout.cost_range)
trace = discreet.simulate(checkout, private, rounds, seeds=2 if given.quick else 8)
print(trace)
chosen = np.array(checkout.items)[trace.final_points.mean(axis=0) > 0.5]
print("learned:", ", ".join(map(str, chosen)))

# %% Auditing. An attack on the claim: what it proves must stay below epsilon.
audit = discreet.audit(private, runs=20_000, seed=1)
print(audit)

# %% The picture. In a notebook `trace.plot()` as the last line of a cell shows it.
save(trace.plot(), given.out)
