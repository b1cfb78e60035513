"""The command line: ``discreet demo | simulate | compare | plan | audit | serve`` and more."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from discreet.cli import experiments, service, tools  # noqa: F401 # these add their commands
from discreet.cli.app import app
from discreet.errors import DiscreetError

__all__ = ["app", "main"]

INTERRUPTED = 130  # what a shell expects of a program that was stopped with Ctrl-C


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command. Errors that a user can mend are one line and exit code 2; Ctrl-C is 130."""
    import typer

    try:
        ended = app(args=None if arguments is None else list(arguments), standalone_mode=False)
        code = ended if isinstance(ended, int) else 0
    except typer.Exit as end:
        code = end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}." if error.filename else str(error))
    except DiscreetError as error:
        _fail(str(error))
    except Exception as error:
        # Wrong options: typer's own exceptions, which it keeps in a private module.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        if not message:  # nothing was said to do, and the help was shown
            sys.exit(2)
        context = getattr(error, "ctx", None)
        command = "discreet" if context is None else context.command_path
        _fail(f"{message}{'' if message.endswith(('.', '?')) else '.'} Try '{command} --help'.")
    if code == INTERRUPTED:
        print("discreet: interrupted", file=sys.stderr)
    sys.exit(code)


def _fail(message: str) -> NoReturn:
    print("discreet: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(2)
