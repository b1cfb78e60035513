"""Objects of a user, named MODULE:NAME on the command line."""

import importlib
import os
import sys
from typing import Any

from discreet.errors import InvalidArgument, UnknownName


def load_object(name: str) -> Any:
    """The object that MODULE:NAME names; the module may be a file in the working directory.

    Examples:
        >>> load_object("math:floor")(2.5)
        2
    """
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
