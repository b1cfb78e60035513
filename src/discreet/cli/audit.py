"""The command ``discreet audit``."""

from __future__ import annotations

import pathlib
import sys
import warnings

from discreet.auditing.builtin import LeftOut, audit_named, find
from discreet.auditing.report import Audit
from discreet.cli.output import print_json, require_place, table
from discreet.plots.audits import plot_audits
from discreet.plots.canvas import kind_of, save


def run(
    names: list[str],
    n: int,
    epsilon: float,
    runs: int,
    confidence: float,
    seed: int | None,
    plot: pathlib.Path | None,
    markdown: bool,
    json: bool,
    progress: bool,
) -> int:
    """Audit, print, draw; 1 if a claim was refuted, else 0."""
    if plot is not None:
        kind_of(plot)  # or refused
    require_place(plot)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        audits = audit_named(
            names, n=n, epsilon=epsilon, runs=runs, confidence=confidence, seed=seed, progress=progress
        )
    for warning in warned:
        print(warning.message, file=sys.stderr)
    if json:
        print_json([audit.to_dict() for audit in audits])
    elif markdown:
        print(markdown_table(audits))
    elif len(audits) == 1:
        print(audits[0])
    else:
        print(_words(audits, confidence))
    if plot is not None:
        save(plot_audits(audits), plot)
    if not (json or markdown):
        if plot is not None:
            print(f"The picture: {plot}")
        left_out = [warning.message for warning in warned if isinstance(warning.message, LeftOut)]
        if left_out:
            extras = ",".join(sorted({missed.extra for missed in left_out}))
            audits_left = "1 audit" if len(left_out) == 1 else f"{len(left_out)} audits"
            print(f"{audits_left} left out: pip install 'discreet[{extras}]'")
    return 0 if all(audit.passed for audit in audits) else 1


def _words(audits: list[Audit], confidence: float) -> str:
    rows = [
        [audit.name, *_figures(audit), audit.score, "not refuted" if audit.passed else "VIOLATED"]
        for audit in audits
    ]
    header = ["audited", "claimed", "delta", "proved at least", "finds noise / x", "runs", "score", "verdict"]
    failed = sum(not audit.passed for audit in audits)
    last = f"{failed} of {len(audits)} claims refuted" if failed else f"none of {len(audits)} claims refuted"
    return f"{table(header, rows)}\n{last}; all bounds together hold with {100 * confidence:g}% confidence"


def markdown_table(audits: list[Audit]) -> str:
    """The same for a page of documentation."""
    lines = [
        "| audited | what | claimed ε | δ | proved: ε ≥ | would find noise too small by | runs | score |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{audit.name}` | {find(audit.name).about} | {' | '.join(_figures(audit))} | {audit.score} |"
        for audit in audits
    ]
    return "\n".join(lines)


def _figures(audit: Audit) -> list[str]:
    factor = audit.to_dict()["finds_factor"]
    return [
        f"{audit.claimed:.3g}",
        f"{audit.delta:g}",
        f"{audit.lower_bound:.3f}",
        "-" if factor is None else f"{factor:g}",
        f"{audit.runs:,}",
    ]
