"""Optional dependencies: what to install where they are missing."""

import importlib.util

from discreet.errors import MissingExtra


def require_extra(extra: str, who: str, *modules: str) -> None:
    """Refuse to go on without the modules that an extra installs. None of them is imported.

    Args:
        extra: Its name.
        who: Who needs it, with the verb: the first words of the message.
        modules: What must be there.
    """
    if any(importlib.util.find_spec(module) is None for module in modules):
        raise MissingExtra(f"{who} the extra {extra!r}: pip install 'discreet[{extra}]'.", extra)
