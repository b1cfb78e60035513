"""Tables of benchmarks: what they say, and how they get into docs/results.md."""

import doctest
import io
import pathlib
import sys
from types import SimpleNamespace

import pytest
from benchmarks.measure import Row

from benchmarks import __main__ as command
from benchmarks import pages, tables

ROOT = pathlib.Path(__file__).parents[2]
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


def test_the_page_has_room_for_every_benchmark() -> None:
    """Each once, and for nothing else; so `make results` fills the whole page."""
    listed = pages.tables_of((ROOT / "docs" / "results.md").read_text())
    assert sorted(listed) == command.NAMES


def test_the_makefile_fills_tables_that_are_there() -> None:
    """Those of other pages are named in the Makefile."""
    recipe = (ROOT / "Makefile").read_text()
    errata = ["e1_bandit_privacy", "e2_full_information_tuning", "e3_neighbours", "e8_any_lipschitz_bound"]
    filled = {"theorems": ["exponents"], "audit": ["shipped", "published"], "errata": errata}
    for name, expected in filled.items():
        assert pages.tables_of((ROOT / "docs" / f"{name}.md").read_text()) == expected
        assert all(f"benchmarks.pages docs/{name}.md {table}" in recipe for table in expected)


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


def test_filling_twice_changes_nothing_more(page: pathlib.Path) -> None:
    """The comments stay, so the command can be given again."""
    command.main(["noise", "audit", "--into", str(page)])
    once = page.read_text()
    command.main(["noise", "audit", "--into", str(page)])
    assert page.read_text() == once


def test_a_page_without_room_is_refused_before_anything_runs(
    page: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By name; the page stays as it was."""
    with pytest.raises(SystemExit):
        command.main(["noise", "regret", "--into", str(page)])
    assert "'regret'" in capsys.readouterr().err
    assert page.read_text() == PAGE
    with pytest.raises(ValueError, match="speed"):
        pages.fill(page, "speed", "| a |")


def test_what_another_command_prints_can_be_filled_in(
    page: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From standard input; where nothing comes in, the old table stays."""
    monkeypatch.setattr(sys, "argv", ["pages", str(page), "audit"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("| b |\n|---|\n"))
    assert pages.main() == 0
    filled = page.read_text()
    assert "<!-- table: audit -->\n\n| b |\n|---|\n\n<!-- end of table -->" in filled
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert pages.main() == 1
    assert page.read_text() == filled
