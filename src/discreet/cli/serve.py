"""The command ``discreet serve``."""

from typing import Any


def run(**options: Any) -> None:
    """Serve until a signal ends it; options that are None have their defaults."""
    from discreet.service.server import Options, serve

    serve(Options(**{name: value for name, value in options.items() if value is not None}))
