"""The command ``discreet doctor``: what is installed, and whether it works here."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Annotated, NamedTuple

import typer
from typer import Option

import discreet
from discreet.cli.app import Json, app, command, show, table
from discreet.errors import DiscreetError, StoreError
from discreet.imports import EXTRAS, missing

NEEDED = ("numpy", "numba", "llvmlite", "scipy", "cryptography")
#: Noise that a seed of 1 gives on every machine: discrete Laplace of scale 5/2, and Gaussian of 5.
KNOWN = [-1, 1, 1, 1, 4, -4, 0, -5], [-1, 3, 4, -10, 7, 0, -8, -1]


class Finding(NamedTuple):
    """One line of what was found."""

    about: str
    found: str
    works: bool = True


@command(
    app,
    "discreet doctor",
    "discreet doctor --store postgresql://discreet@db.internal/shop",
    note="The exit code is 1 if something fails. An extra that is not installed is no failure.",
)
def doctor(
    store: Annotated[
        str | None,
        Option(
            envvar="DISCREET_STORE",
            metavar="PATH",
            help="Where a store is to be: a file (SQLite), or postgresql://user@host/database. What is there "
            "stays as it is.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """What is installed, and whether it works here: random bits, noise, the compiler, stores."""
    checks: dict[str, Callable[[], str]] = {
        "random bits": _random_bits,
        "compiler": _compiler,
        "noise": _noise,
        "learner": _learner,
    }
    if store is not None or not missing("service"):
        checks["store"] = lambda: _store(store)
    found = [*_installed(), *(_tried(about, check) for about, check in checks.items())]
    rows = [[each.about, each.found if each.works else f"FAILS. {each.found}"] for each in found]
    works = all(each.works for each in found)
    verdict = "Everything that is installed works." if works else "Something fails: see above."
    show(json, [each._asdict() for each in found], f"{table(['what', 'found'], rows)}\n\n{verdict}")
    raise typer.Exit(0 if works else 1)


def _installed() -> Iterator[Finding]:
    yield Finding("discreet", f"{discreet.__version__} in {pathlib.Path(discreet.__file__).parent}")
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    yield Finding("python", f"{platform.python_version()}; {machine}")
    yield Finding("libraries", _versions(NEEDED))
    for extra, modules in EXTRAS.items():
        install = f"not installed: pip install 'discreet[{extra}]'"
        yield Finding(f"extra {extra}", install if missing(extra) else _versions(modules))


def _versions(modules: Sequence[str]) -> str:
    return ", ".join(f"{name} {importlib.metadata.version(name.replace('_', '-'))}" for name in modules)


def _tried(about: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(about, check())
    except DiscreetError as error:
        return Finding(about, str(error), works=False)
    except Exception as error:  # whatever it is, the rest is looked at, too
        return Finding(about, f"{type(error).__name__}: {error}", works=False)


def _random_bits() -> str:
    from cryptography.hazmat.backends.openssl.backend import backend

    from discreet.randomness import BitSource

    if BitSource().bits64() == BitSource().bits64():
        raise ArithmeticError("two sources gave the same bits")
    return f"ChaCha20 of {backend.openssl_version_text()}, with keys from the operating system"


def _compiler() -> str:
    began = time.perf_counter()
    from discreet import set_functions
    from discreet.compiled import cache_folder

    cut = set_functions.Cut([[0.0, 2.0], [1.0, 0.0]])
    if list(cut.chain_values([0, 1])) != [0.0, 2.0, 0.0]:
        raise ArithmeticError("compiled code gives wrong numbers")
    ready, folder = f"ready after {time.perf_counter() - began:.1f} s", cache_folder()
    if folder is None:
        return f"{ready} in each process: no folder for its results can be written (set NUMBA_CACHE_DIR)"
    return f"{ready}; what it compiles is kept in {folder}"


def _noise() -> str:
    from discreet.privacy.noise import gaussian, laplace, sample
    from discreet.randomness import BitSource

    laws = laplace(Fraction(5, 2)), gaussian(Fraction(5))
    if tuple(sample(law, 8, BitSource(seed=1)).tolist() for law in laws) != KNOWN:
        raise ArithmeticError("a known seed gives other noise than it should")
    began, count = time.perf_counter(), 1_000_000
    sample(laws[0], count, BitSource())
    rate = count / (time.perf_counter() - began)
    return f"a known seed gives the known noise; {rate / 1e6:.1f} million draws a second"


def _learner() -> str:
    began = time.perf_counter()
    learner = discreet.BanditLearner(8, epsilon=1.0, cost_range=(0, 1))
    learner.tell(learner.ask(), 0.5)
    first = time.perf_counter() - began
    while learner.rounds == 0:
        learner.tell(learner.ask(), 0.5)
    return f"asked and told after {first:.1f} s, learned from {learner.rounds} rounds"


def _store(address: str | None) -> str:
    from discreet.storage import open_store, serves_one_process

    if address is not None and not serves_one_process(address):
        return _postgres(address)
    folder = None if address is None else pathlib.Path(address.removeprefix("sqlite:///")).resolve().parent
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix="discreet-doctor-") as here:
            open_store(os.path.join(here, "store.db")).close()
    except OSError as error:
        raise StoreError(f"No store can be written in {folder}: {error.strerror}.") from None
    return f"SQLite {sqlite3.sqlite_version}: a store can be made in {folder or 'a temporary folder'}"


def _postgres(address: str) -> str:
    from discreet.storage.postgres_engine import new_engine, place, postgres_url

    url = postgres_url(address)
    engine = new_engine(url, patience=5.0)
    try:
        with engine.connect() as connection:
            began = time.perf_counter()
            version, makes_tables = connection.exec_driver_sql(
                "SELECT current_setting('server_version'), has_schema_privilege(current_schema(), 'CREATE')"
            ).one()
            answered = 1000 * (time.perf_counter() - began)
    finally:
        engine.dispose()
    if not makes_tables:
        raise StoreError(f"This user may not make tables in the database at {place(url)}.")
    return f"PostgreSQL {version} at {place(url)} answers in {answered:.0f} ms; tables may be made"
