"""Optional dependencies: what to install where they are missing."""

import importlib.util

from discreet.errors import MissingExtra


def require_extra(extra: str, who: str, *modules: str) -> None:
    """Raise `MissingExtra` unless the modules that an extra installs can be found. None is imported.

    Args:
        extra: Its name.
        who: The beginning of the message, such as "A client needs".
        modules: The modules to look for.
    """
    if any(importlib.util.find_spec(module) is None for module in modules):
        raise MissingExtra(f"{who} the extra {extra!r}: pip install 'discreet[{extra}]'.", extra)
