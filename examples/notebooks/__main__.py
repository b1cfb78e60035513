"""Write the gallery and the tutorial as notebooks into this folder: ``python -m examples.notebooks``.

A program with cells (`# %%`) keeps them: what follows the mark is text. Of any other program each function
becomes a cell, and the last cell runs `main`.
"""

import ast
import json
import pathlib
from typing import Any, NamedTuple

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parent
#: Programs that are no examples.
PARTS = {"__init__", "pictures"}
SETUP = """import sys

sys.path.insert(0, "../..")  # the clone of the repository that this notebook is in"""


class Cell(NamedTuple):
    """`kind` is "markdown" or "code"."""

    kind: str
    text: str


def programs() -> list[pathlib.Path]:
    """What becomes a notebook, in order."""
    gallery = (path for path in (EXAMPLES / "gallery").glob("*.py") if path.stem not in PARTS)
    return [EXAMPLES / "tutorial.py", *sorted(gallery)]


def cells_of(source: str) -> list[Cell]:
    r"""Text and code, in the order in which a notebook runs it.

    Examples:
        >>> source = '"What it is.\n\nMore."\n\n# %% Add. Numbers.\nimport math\n\nx = 1 + math.pi\n'
        >>> for cell in cells_of(source):
        ...     print(cell)
        Cell(kind='markdown', text='# What it is\n\nMore.')
        Cell(kind='markdown', text='## Add\n\nNumbers.')
        Cell(kind='code', text='import math\n\nx = 1 + math.pi')
        >>> [cell.text for cell in cells_of('"A."\nN = 1\ndef main():\n    pass\nif N:\n    main()\n')]
        ['# A', 'N = 1', 'def main():\n    pass', 'main([])']
    """
    tree = ast.parse(source)
    title, _, about = (ast.get_docstring(tree) or "").partition("\n")
    lines, first = source.splitlines(), tree.body[0].end_lineno or 0
    found = [Cell("markdown", f"# {title.rstrip('.:')}\n{about}".rstrip())]
    if "# %% " in source:
        return found + _marked(lines[first:])
    start = first
    for k, node in enumerate(tree.body[1:], 1):
        after = tree.body[k + 1] if k + 1 < len(tree.body) else None
        if isinstance(node, ast.If):  # of a program; a notebook has nothing to ask
            found.append(Cell("code", "main([])"))
        elif isinstance(node, _OWN) or isinstance(after, (*_OWN, ast.If)):
            text = "\n".join(lines[start : node.end_lineno]).strip()
            found.append(Cell("code", text))
            start = node.end_lineno or start
    return found


_OWN = (ast.FunctionDef, ast.ClassDef)  # each has a cell of its own


def _marked(lines: list[str]) -> list[Cell]:
    found = []
    for part in "\n".join(lines).split("# %% ")[1:]:
        rows = part.splitlines()
        size = next(k for k, row in enumerate(rows) if k and not row.startswith("# "))
        text = "\n".join([rows[0], *(row[2:] for row in rows[1:size])])
        title, _, about = text.partition(". ")
        found.append(Cell("markdown", f"## {title.rstrip('.')}\n\n{about}".rstrip()))
        found.append(Cell("code", "\n".join(rows[size:]).strip()))
    return found


def notebook(source: str) -> str:
    """The notebook of a program, as it is in its file: nothing was run."""
    head, *rest = cells_of(source)
    cells = [_entry(k, cell) for k, cell in enumerate([head, Cell("code", SETUP), *rest])]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _entry(number: int, cell: Cell) -> dict[str, Any]:
    entry: dict[str, Any] = {"cell_type": cell.kind, "id": f"cell-{number}", "metadata": {}}
    if cell.kind == "code":
        entry |= {"execution_count": None, "outputs": []}
    return entry | {"source": cell.text.splitlines(keepends=True)}


if __name__ == "__main__":
    for program in programs():
        (HERE / f"{program.stem}.ipynb").write_text(notebook(program.read_text()))
