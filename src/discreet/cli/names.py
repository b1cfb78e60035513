"""The command ``discreet list``."""

import inspect

from discreet.auditing.builtin import builtin_targets, find
from discreet.cli.output import print_json, table
from discreet.environments import ENVIRONMENTS
from discreet.simulation.builtin_learners import BUILTIN_LEARNERS


def run(json: bool) -> None:
    """Print all environments with their parameters, all learners, and what can be audited."""
    streams = {
        name: {"about": (inspect.getdoc(make) or "").splitlines()[0], "parameters": _parameters(make)}
        for name, make in sorted(ENVIRONMENTS.items())
    }
    learners = {c.name: {"about": c.about, "feedback": c.feedback} for c in BUILTIN_LEARNERS.values()}
    entries = [find(name) for name in builtin_targets]
    audits = {entry.name: {"about": entry.about, "private": not entry.published} for entry in entries}
    if json:
        print_json({"streams": streams, "learners": learners, "audits": audits})
        return
    rows = [
        row
        for name, entry in streams.items()
        for row in ([name, str(entry["about"])], ["", ", ".join(entry["parameters"])])
    ]
    print(table(["stream", "about, and its parameters"], rows))
    print()
    print(
        table(["learner", "feedback", "about"], [[n, e["feedback"], e["about"]] for n, e in learners.items()])
    )
    print()
    print(table(["audit", "about"], [[name, str(entry["about"])] for name, entry in audits.items()]))


def _parameters(make: object) -> list[str]:
    signature = inspect.signature(make)  # type: ignore[arg-type] # a function from the registry
    return [
        name if parameter.default is parameter.empty else f"{name}={parameter.default}"
        for name, parameter in signature.parameters.items()
    ]
