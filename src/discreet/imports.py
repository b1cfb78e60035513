"""What may be imported: objects of a user, named MODULE:NAME, and modules that an extra installs."""

import contextlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from typing import Any

from .errors import InvalidArgument, MissingExtra, UnknownName

#: The extras that can be installed, and the modules that the package imports of each.
EXTRAS = {
    "accounting": ("dp_accounting",),
    "cli": ("rich", "typer"),
    "client": ("anyio", "httpx2"),
    "cluster": ("dask", "distributed"),
    "ray": ("ray",),
    "report": ("jinja2", "joblib", "matplotlib", "polars"),
    "service": ("fastapi", "prometheus_client", "psycopg", "sqlalchemy", "uvicorn"),
}


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


def missing(extra: str) -> list[str]:
    """The modules of an extra that are not installed."""
    return [module for module in EXTRAS[extra] if importlib.util.find_spec(module) is None]


def require_extra(extra: str, who: str, *modules: str) -> None:
    """Raise `MissingExtra` unless an extra, or these modules of it, can be found.

    `who` begins the message: "A client needs".
    """
    if set(modules or EXTRAS[extra]) & set(missing(extra)):
        raise _missing(extra, who)


@contextlib.contextmanager
def imported_from(extra: str, who: str) -> Iterator[None]:
    """Around imports of what an extra installs: `MissingExtra` if one of them fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise _missing(extra, who) from error


def _missing(extra: str, who: str) -> MissingExtra:
    return MissingExtra(f"{who} the extra {extra!r}: pip install 'discreet[{extra}]'.", extra)
