"""Links from code to proofs, and between pages, lead somewhere."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = [*ROOT.glob("docs/*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]


def anchors(page: pathlib.Path) -> set[str]:
    """The names that headings can be linked by."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_proof_that_the_code_names_is_written() -> None:
    """`docs/guarantees.md#...` in any docstring or guarantee is a heading there."""
    known = anchors(ROOT / "docs" / "guarantees.md")
    named = set()
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text()
        named |= set(re.findall(r"docs/guarantees\.md#([\w-]+)", text))
        named |= set(re.findall(r'proof="([a-z-]+)"', text))
    assert len(named) >= 7
    assert named <= known, named - known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: pathlib.Path) -> None:
    """Relative links name files that exist."""
    for target in re.findall(r"\]\((?!https?://)([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_names_in_the_notation_table_exist() -> None:
    """What docs/notation.md says is in the code can be had from the package."""
    import discreet

    text = (ROOT / "docs" / "notation.md").read_text()
    for module, name in set(re.findall(r"`(paper|bounds|baselines|kernel|policies)\.(\w+)", text)):
        if (ROOT / "src" / "discreet" / module / f"{name}.py").exists():
            continue
        assert hasattr(getattr(discreet, module), name), f"{module}.{name}"


def test_the_table_of_audits_has_everything_that_can_be_audited() -> None:
    """A new mechanism must be measured before it is documented."""
    from discreet.auditing import builtin_targets

    listed = re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs" / "audit.md").read_text(), flags=re.MULTILINE)
    assert sorted(listed) == sorted(builtin_targets)
