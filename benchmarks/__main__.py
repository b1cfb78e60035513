"""Run every ``bench_*.py`` of this folder (or those named) and print one table.

A benchmark module offers ``rows()``, an iterator of :class:`benchmarks.measure.Row`.
"""

import argparse
import importlib
import pathlib
import platform
import sys

from benchmarks.measure import Row, shown

_HEADER = ("what", "ours", "limit", "peer", "ratio", "wanted", "", "note")
_LINE = "{:<62} {:>10} {:>10}  {:<28} {:>8} {:>8}  {:<6} {}"


def main() -> int:
    """Print the table; exit code 1 if a stated figure was missed."""
    names = sorted(path.stem[len("bench_") :] for path in pathlib.Path(__file__).parent.glob("bench_*.py"))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(names)} (default: all)")
    parser.add_argument("--markdown", action="store_true", help="print tables for docs/results.md")
    given = parser.parse_args()
    chosen = given.names or names
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; choose from {', '.join(names)}")

    print(f"Python {platform.python_version()}, {platform.machine()}; ratio = peer's value / ours")
    print("Values are median times unless a unit is noted.")
    line = "| {} | {} | {} | {} | {} | {} | {} | {} |" if given.markdown else _LINE
    if not given.markdown:
        print(line.format(*_HEADER))
    missed = 0
    for name in chosen:
        module = importlib.import_module(f"benchmarks.bench_{name}")
        if given.markdown:
            print(f"\n## {name.replace('_', ' ').capitalize()}\n{(module.__doc__ or '').strip()}\n")
            print(line.format(*_HEADER) + "\n|" + "---|" * len(_HEADER))
        for row in module.rows():
            print(line.format(*_cells(row)).rstrip(), flush=True)
            missed += not row.reached
    print(f"\n{missed} figure(s) missed" if missed else "\nevery stated figure reached")
    return 1 if missed else 0


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        shown(row.value, row.unit),
        "" if row.limit is None else shown(row.limit, row.unit),
        row.peer,
        "" if row.ratio is None else f"{row.ratio:.3g}x",
        "" if row.least_ratio is None else f"{row.least_ratio:.3g}x",
        "ok" if row.reached else "MISSED",
        row.note if row.unit == "s" else f"{row.note} ({row.unit})".strip(),
    )


if __name__ == "__main__":
    sys.exit(main())
