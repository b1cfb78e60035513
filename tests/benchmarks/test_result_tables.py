"""Tables of benchmarks: what they say, and how they get into docs/results.md."""

import doctest
import pathlib
from types import SimpleNamespace

import pytest
from benchmarks.measure import Row

from benchmarks import __main__ as command
from benchmarks import pages, tables

PAGE = """# Results
Words before.

<!-- table: noise -->
an old table
<!-- end of table -->

Words between.

<!-- table: audit -->
<!-- end of table -->
"""


@pytest.fixture
def page(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A page with two tables, and benchmarks that take no time and miss a figure."""
    rows = [
        Row("a step", 2e-6, limit=1e-5, peer="somebody", ratio=3.0, least_ratio=2.0),
        Row("a slow step", 2e-3, limit=1e-3),
        Row("an exponent", 0.5, unit="exponent"),
    ]
    made = SimpleNamespace(__doc__="What it is about.", rows=lambda: iter(rows))
    monkeypatch.setattr(command.importlib, "import_module", lambda name: made)
    path = tmp_path / "results.md"
    path.write_text(PAGE)
    return path


@pytest.mark.parametrize("module", [pages, tables], ids=lambda module: module.__name__)
def test_their_examples(module) -> None:  # type: ignore[no-untyped-def]
    """Doctests of modules outside `src`."""
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert not found.failed


def test_a_table_is_put_where_it_belongs(page: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One benchmark is run, printed, and written with its words and its command; the rest stays."""
    assert command.main(["noise", "--into", str(page)]) == 1
    text = page.read_text()
    assert "an old table" not in text
    assert text.index("Words before.") < text.index("| a step | 2 us |") < text.index("Words between.")
    assert "| a step | 2 us | 10 us | somebody | 3x | 2x | yes |  |" in text
    assert "| a slow step | 2 ms | 1 ms |  |  |  | MISSED |  |" in text
    assert "| an exponent | 0.5 |  |  |  |  |  | (exponent) |" in text
    assert "What it is about." in text
    assert "`python -m benchmarks noise --into docs/results.md`" in text
    assert text.endswith("<!-- table: audit -->\n<!-- end of table -->\n")
    assert "1 figure(s) missed" in capsys.readouterr().out
