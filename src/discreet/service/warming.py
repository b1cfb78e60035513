"""Call everything compiled once, so that the first request does not wait for it to load."""

from __future__ import annotations

from discreet.learners.host import Host

_ARGUMENTS = {"epsilon": 1.0, "cost_range": [0, 1]}


def warm_up() -> None:
    """Deal, report and apply, with learners that are not stored."""
    for kind in ("bandit", "full_information"):
        host = Host({"kind": kind, "items": 2, "arguments": _ARGUMENTS})
        state = host.start()
        tickets = [dealt.ticket for dealt in host.deal(state, 2)]
        if host.local:
            reports = [bytes((bit,)) for bit in host.bits([0.5, 0.5])]
        else:
            reports = [host.chain_costs(ticket, {"kind": "Modular", "weights": [0, 1]}) for ticket in tickets]
        host.summary(host.decode(host.encode(host.apply(state, tickets, reports))))
