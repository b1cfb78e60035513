"""What a sweep has played and what came out, in plain words."""

from __future__ import annotations

from discreet.report.facets import facets_of, longest, middle
from discreet.report.html import Html, element, joined
from discreet.report.numbers import listed, number
from discreet.report.summary import NOTHING_PROMISED, data_warning, meaning_of_regret
from discreet.report.sweep_frame import KEYS, SweepFrame
from discreet.report.tables import badge
from discreet.simulation.short_numbers import counted


def summary_of_sweep(sweep: SweepFrame) -> Html:
    """Sentences about the sweep as a whole, and the ranking in each environment."""
    finals = sweep.finals
    environments = list(dict.fromkeys(final.environment for final in finals))
    parts = []
    if finals:
        seeds = sorted({final.seeds for final in finals})
        often = f"{seeds[0]} to {counted(seeds[-1], 'seed')}" if len(seeds) > 1 else counted(seeds[0], "seed")
        played = f"{counted(len(finals), 'configuration')} of {counted(len(sweep.learners), 'learner')}"
        where = f"{counted(len(environments), 'environment')} ({listed(environments)})"
        parts.append(element("p", f"{played} in {where} were played, with {often} each."))
    if sweep.failed.height:
        cells = counted(sweep.failed.unique(subset=list(KEYS)).height, "configuration")
        parts.append(element("p", element("strong", f"{cells} failed"), ": see the list at the end."))
    if finals:
        parts.append(element("p", "Regret a round in the end, least first:"))
        parts.append(element("ul", *(element("li", _ranking(sweep, name)) for name in environments)))
    without = list(dict.fromkeys(final.learner for final in finals if not final.would_be_private))
    if without:
        parts.append(element("p", badge(private=False), f" {listed(without)}."))
    parts.append(element("p", meaning_of_regret(any(final.seeds > 1 for final in finals))))
    parts.append(element("p", NOTHING_PROMISED))
    return joined(*parts, *data_warning(sweep.parameters))


def _ranking(sweep: SweepFrame, environment: str) -> Html:
    """All learners for a middle number of items and a middle epsilon."""
    facet = middle(facets_of(sweep.finals), environment)
    members = sorted(longest(facet.members(sweep.finals)), key=lambda final: final.regret)
    rounds = max(final.rounds for final in members)
    texts = [
        f"{final.learner} {number(final.regret)}"
        + (f" (after {final.rounds:,})" if final.rounds < rounds else "")
        for final in members
    ]
    heading = element("strong", f"{facet.title}, {counted(rounds, 'round')}")
    return joined(heading, f": {listed(texts)}.")
