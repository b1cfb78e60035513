"""Tables in pages of documentation: each stands between two comments, and is replaced there.

``SOME COMMAND | python -m benchmarks.pages PAGE NAME`` puts what a command prints between

    <!-- table: NAME -->
    <!-- end of table -->
"""

import os
import pathlib
import re
import sys

from discreet.atomic_files import write_atomically

_TABLE = re.compile(r"<!-- table: (?P<name>[\w-]+) -->\n(?P<body>.*?)<!-- end of table -->", flags=re.DOTALL)


def tables_of(text: str) -> list[str]:
    r"""The names of the tables that a page has room for, in order.

    Examples:
        >>> tables_of("# Page\n<!-- table: speed -->\nold\n<!-- end of table -->\n")
        ['speed']
    """
    return [found["name"] for found in _TABLE.finditer(text)]


def body_of(text: str, name: str) -> str:
    r"""What stands between the comments of a table.

    Examples:
        >>> body_of("<!-- table: speed -->\n\n| a |\n\n<!-- end of table -->", "speed")
        '| a |'
    """
    (found,) = (each["body"].strip() for each in _TABLE.finditer(text) if each["name"] == name)
    return found


def filled(text: str, name: str, body: str) -> str:
    r"""The page with this between the comments of a table, and everything else as it was.

    Examples:
        >>> print(filled("<!-- table: speed -->\nold\n<!-- end of table -->", "speed", "new"))
        <!-- table: speed -->
        <BLANKLINE>
        new
        <BLANKLINE>
        <!-- end of table -->
    """
    if tables_of(text).count(name) != 1:
        raise ValueError(f"the page must have room for the table {name!r} once: <!-- table: {name} -->")

    def replaced(found: re.Match[str]) -> str:
        if found["name"] != name:
            return found[0]
        return f"<!-- table: {name} -->\n\n{body.strip()}\n\n<!-- end of table -->"

    return _TABLE.sub(replaced, text)


def fill(page: str | os.PathLike[str], name: str, body: str) -> None:
    """Put a table into the file of a page, whole or not at all."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    write_atomically(page, filled(text, name, body).encode())


def main() -> int:
    """From standard input into a page; nothing is written if nothing came in."""
    page, name = sys.argv[1:]
    body = sys.stdin.read()
    if not body.strip():
        print(f"nothing came in: {page} stays as it is", file=sys.stderr)
        return 1
    fill(page, name, body)
    return 0


if __name__ == "__main__":
    sys.exit(main())
