"""Call everything compiled once, so that the first request does not wait for it to load."""

from __future__ import annotations

from discreet.learners.host import Host

_ARGUMENTS = {"epsilon": 1.0, "cost_range": [0, 1]}
_KINDS: tuple[tuple[str, dict[str, str]], ...] = (
    ("bandit", {"mode": "local", "method": "worst-case"}),
    ("bandit", {"mode": "central"}),
    ("full_information", {}),
)


def warm_up() -> None:
    """Deal, report, apply and close, with learners that are not stored."""
    for kind, others in _KINDS:
        host = Host({"kind": kind, "items": 2, "arguments": _ARGUMENTS | others})
        state = host.start()
        plan = host.plan(state)
        number = -1 if host.is_inline(plan) else 0
        tickets = [host.dealt(plan, number, place, None).ticket for place in range(plan.total)]
        reports = [_report(host, ticket) for ticket in tickets]
        state, sums = host.apply(state, tickets, reports, {0: plan}, {})
        for each in sums.values():
            state = host.closed(state, plan, each)
        host.summary(host.decode(host.encode(state)))


def _report(host: Host, ticket: bytes) -> bytes:
    if host.local:
        return bytes(host.bits([0.5]))
    if host.whole:
        return host.function_report(ticket, {"kind": "Modular", "weights": [0, 1]})
    return host.cost_report(0.5)
