"""Run every ``bench_*.py`` of this folder (or those named) and print one table.

A benchmark module offers ``rows()``, an iterator of `benchmarks.measure.Row`. With ``--into PAGE``
each table is also put into a page, between the comments that name it, as soon as its benchmark is done.
"""

import argparse
import datetime
import importlib
import pathlib
import sys
from collections.abc import Sequence

from benchmarks.measure import Row
from benchmarks.pages import fill, tables_of
from benchmarks.tables import HEADER, machine, markdown, printed, text_line

NAMES = sorted(path.stem[len("bench_") :] for path in pathlib.Path(__file__).parent.glob("bench_*.py"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit code 1 if a stated figure was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--into", type=pathlib.Path, metavar="PAGE", help="such as docs/results.md")
    given = parser.parse_args(arguments)
    chosen = given.names or NAMES
    unknown = sorted(set(chosen) - set(NAMES))
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; choose from {', '.join(NAMES)}")
    if given.into is not None:
        homeless = sorted(set(chosen) - set(tables_of(given.into.read_text(encoding="utf-8"))))
        if homeless:
            parser.error(f"{given.into} has no room for {homeless[0]!r}: <!-- table: {homeless[0]} -->")

    print(f"{machine()}; ratio = peer's value / ours")
    print("Values are median times unless a unit is noted.")
    print(text_line(HEADER))
    missed = 0
    for name in chosen:
        module = importlib.import_module(f"benchmarks.bench_{name}")
        rows = list(printed(module.rows()))
        missed += sum(not row.reached for row in rows)
        if given.into is not None:
            fill(given.into, name, section(name, module.__doc__ or "", rows))
    print(f"\n{missed} figure(s) missed" if missed else "\nevery stated figure reached")
    return 1 if missed else 0


def section(name: str, about: str, rows: Sequence[Row]) -> str:
    """What a page says of one benchmark: its own bits, its table, and the command that made it."""
    made = f"`python -m benchmarks {name} --into docs/results.md`"
    today = datetime.date.today().isoformat()
    return f"{about.strip()}\n\n{markdown(rows)}\n\nMade by {made}; {machine()}; {today}."


if __name__ == "__main__":
    sys.exit(main())
