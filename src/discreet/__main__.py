"""The script ``discreet``, and ``python -m discreet``: the command line, or how to install it."""

import sys

from discreet.errors import MissingExtra
from discreet.imports import require_extra


def main() -> None:
    """Run the command line."""
    try:
        require_extra("cli", "The command line needs")
    except MissingExtra as error:
        print(f"discreet: {error}", file=sys.stderr)
        sys.exit(2)
    from discreet.cli import main

    main()


if __name__ == "__main__":
    main()
