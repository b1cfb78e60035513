"""The exact minimiser, by family; the image cut needs DISCREET_DATA to point at the data folder."""

import math
import os
import pathlib
from collections.abc import Iterator

import networkx
import numpy as np
import scipy.io

import discreet
from benchmarks.bench_set_functions import sparse_cut
from benchmarks.measure import Row, median_seconds, versus
from discreet.set_functions import Cut, Iwata, LogDeterminant, Modular, SetFunction


def erdos_renyi(n: int = 1000, probability: float = 0.01, seed: int = 0) -> Cut:
    """An undirected random graph with random weights and prices of both signs."""
    rng = np.random.default_rng(seed)
    tails, heads = np.nonzero(np.triu(rng.random((n, n)) < probability, 1))
    prices = rng.normal(size=n) * 3
    return Cut.from_edges(n, tails, heads, rng.random(tails.size), modular=prices, directed=False)


def log_determinant(n: int = 500, seed: int = 0) -> SetFunction:
    """Points in a square under a Gaussian kernel, with prices that leave about a tenth of them chosen."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2))
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    kernel = 4.0 * np.exp(-squared / 0.02) + 0.4 * np.eye(n)
    return LogDeterminant(kernel) + Modular(rng.normal(size=n) + 1.0)


def image_cut(path: pathlib.Path) -> Cut:
    """The 427 x 640 segmentation problem, pixels numbered column by column."""
    data = scipy.io.loadmat(path)
    height, width = data["W2"].shape[0], data["W1"].shape[1]
    pixel = np.arange(height * width).reshape((height, width), order="F")
    tails = np.concatenate((pixel[:-1].ravel(), pixel[:, :-1].ravel()))
    heads = np.concatenate((pixel[1:].ravel(), pixel[:, 1:].ravel()))
    weights = np.concatenate((data["W1"].ravel(), data["W2"].ravel()))
    return Cut.from_edges(pixel.size, tails, heads, weights, modular=data["unary"].ravel(), directed=False)


def by_networkx(f: Cut) -> float:
    """The same minimum by networkx's preflow-push."""
    graph = networkx.DiGraph()
    for tail, head, weight in zip(*f.edges, strict=True):
        graph.add_edge(int(tail), int(head), capacity=float(weight))
    for item, price in enumerate(f.modular):
        ends = ("s", item) if price < 0 else (item, "t")
        graph.add_edge(*ends, capacity=abs(float(price)))
    return float(networkx.minimum_cut_value(graph, "s", "t") + f.modular[f.modular < 0].sum())


def solved(name: str, f: SetFunction, limit: float, repeats: int = 5, **options: object) -> Row:
    """Time one problem and say which gap was reached."""
    found = discreet.minimize(f, **options)  # type: ignore[arg-type] # options of one call, by name
    seconds = median_seconds(lambda: discreet.minimize(f, **options), repeats)  # type: ignore[arg-type]
    note = f"{found.method}, {found.stopped}, gap {found.gap:.2g}, {len(found.set)} of {f.n} items"
    return Row(name, seconds, limit=limit, note=note)


def rows() -> Iterator[Row]:
    cut = sparse_cut(1000, 8)
    ours, peer = versus(lambda: discreet.minimize(cut), lambda: by_networkx(cut), repeats=3)
    found = discreet.minimize(cut)
    yield Row(
        "minimize, cut n=1000 degree 8",
        ours,
        limit=0.1,
        peer="networkx preflow-push",
        ratio=peer / ours,
        note=f"{found.method}, gap {found.gap:.2g}, {len(found.set)} of 1000 items",
    )
    yield solved("minimize, Iwata n=10,000", Iwata(10_000), limit=0.1)
    yield solved("minimize, log-determinant n=500", log_determinant(), limit=2.0)
    # The gap is relative to 1 + |value|; 1e-8 keeps the absolute one below 1e-6 here.
    yield solved(
        "minimum-norm point, er-1000 cut, gap 1e-6",
        erdos_renyi(),
        limit=5.0,
        method="minimum-norm point",
        tolerance=5e-9,
    )
    path = pathlib.Path(os.environ.get("DISCREET_DATA", "data")) / "image_cut_smallplant.mat"
    if path.exists():
        yield solved("minimize, image cut 427x640", image_cut(path), limit=3.0, repeats=3)
    else:
        why = "not measured: DISCREET_DATA names no folder with the picture"
        yield Row("minimize, image cut 427x640", math.nan, limit=3.0, note=why)
