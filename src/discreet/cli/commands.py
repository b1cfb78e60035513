"""Commands by their names; other words that people try are answered with the right one."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

#: What people may call a command.
MEANT = {
    "benchmark": "compare",
    "check": "audit",
    "draw": "report",
    "ls": "list",
    "optimise": "minimize",
    "optimize": "minimize",
    "plot": "report",
    "predict": "plan",
    "run": "simulate",
    "server": "serve",
    "start": "serve",
    "sweep": "compare",
    "test": "audit",
}


class Commands(TyperGroup):
    """The commands of ``discreet``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that was named."""
        meant = MEANT.get(args[0])
        if meant is not None:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)
