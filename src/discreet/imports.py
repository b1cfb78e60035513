"""What may be imported: objects of a user, named MODULE:NAME, and modules that an extra installs."""

import importlib
import importlib.util
import os
import sys
from typing import Any

from discreet.errors import InvalidArgument, MissingExtra, UnknownName


def load_object(name: str) -> Any:
    """The object that MODULE:NAME names; the module may be a file in the working directory."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InvalidArgument(f"A custom object is written MODULE:NAME. Got {name!r} instead.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UnknownName(f"Cannot find {name}: {error}.") from None
    except Exception as error:
        raise failed(f"Importing {module}", error) from error


def failed(action: str, error: Exception) -> InvalidArgument:
    """The error to raise when a user's code fails: one line that quotes what went wrong."""
    return InvalidArgument(f"{action} failed: {type(error).__name__}: {error}".rstrip(".: ") + ".")


def require_extra(extra: str, who: str, *modules: str) -> None:
    """Raise `MissingExtra` unless the modules of an extra can be found; `who` is like "A client needs"."""
    if any(importlib.util.find_spec(module) is None for module in modules):
        raise MissingExtra(f"{who} the extra {extra!r}: pip install 'discreet[{extra}]'.", extra)
