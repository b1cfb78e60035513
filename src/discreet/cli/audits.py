"""What audits found, as tables."""

from __future__ import annotations

from discreet.auditing.builtin import find
from discreet.auditing.report import Audit
from discreet.cli.output import table


def audit_table(audits: list[Audit], confidence: float) -> str:
    """One line per audit, and how many claims were refuted."""
    rows = [
        [audit.name, *_figures(audit), audit.score, "not refuted" if audit.passed else "VIOLATED"]
        for audit in audits
    ]
    header = ["audited", "claimed", "delta", "proved at least", "finds noise / x", "runs", "score", "verdict"]
    failed = sum(not audit.passed for audit in audits) or "none"
    verdict = f"{failed} of {len(audits)} claims refuted"
    return f"{table(header, rows)}\n{verdict}; all bounds together hold with {100 * confidence:g}% confidence"


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
    found = "-" if factor is None else f"{factor:g}"
    return [f"{audit.claimed:.3g}", f"{audit.delta:g}", f"{audit.lower_bound:.3f}", found, f"{audit.runs:,}"]
