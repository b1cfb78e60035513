"""The notebooks: as the programs are, and they run from top to bottom."""

import json
import linecache
import pathlib
import sys
import types
from typing import Any

import pytest
from examples.notebooks import __main__ as notebooks

PROGRAMS = notebooks.programs()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_notebook_is_that_of_its_program(program: pathlib.Path) -> None:
    """Made again after the last change of the program; `python -m examples.notebooks` does that."""
    written = (notebooks.HERE / f"{program.stem}.ipynb").read_text()
    assert written == notebooks.notebook(program.read_text())


def test_every_notebook_has_a_program() -> None:
    """None is left over."""
    assert {path.stem for path in notebooks.HERE.glob("*.ipynb")} == {path.stem for path in PROGRAMS}


def run(cells: list[dict[str, Any]], module: types.ModuleType, arguments: list[str]) -> None:
    """All cells of code in a module, each as a kernel would run it, with few rounds."""
    for cell in cells:
        if cell["cell_type"] == "code":
            file, text = f"<{module.__name__} {cell['id']}>", "".join(cell["source"])
            text = text.replace("main([])", f"main({arguments!r})")
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
            exec(compile(text, file, "exec"), vars(module))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_notebook_runs(
    program: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the format of notebooks, without outputs; all cells, and the picture is there."""
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    monkeypatch.setattr(sys, "path", sys.path[:])
    arguments = ["--quick", "--out", str(tmp_path / "picture.svg")]
    monkeypatch.setattr(sys, "argv", ["kernel", *arguments])
    document = json.loads((notebooks.HERE / f"{program.stem}.ipynb").read_text())
    assert (document["nbformat"], document["cells"][0]["cell_type"]) == (4, "markdown")
    assert all(cell.get("outputs", []) == [] for cell in document["cells"])
    module = types.ModuleType(f"notebook_{program.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # where the classes of its cells are from
    run(document["cells"], module, arguments)
    assert "<svg" in (tmp_path / "picture.svg").read_text()
