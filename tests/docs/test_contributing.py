"""What CONTRIBUTING.md names in code is there: files, targets of the Makefile, names in programs."""

import functools
import pathlib
import re

import pytest

from code_blocks import ROOT

NAMED = re.findall(r"`([^`]+)`", (ROOT / "CONTRIBUTING.md").read_text())
#: Commands of others, which nothing here can check.
OTHERS = {"apt", "git", "npm", "sha256sum", "sigstore"}
#: Beginnings of what is made, or is to be written.
NOT_YET = (".venv/", "dist/", "src/discreet/policies/<name>", "examples/gallery/name.py")
_FILE = re.compile(r".*/.*|.*\.(?:cff|md|py|toml|txt)")
_WORD = re.compile(r"[A-Za-z_]\w*")


@functools.cache
def sources() -> dict[pathlib.Path, set[str]]:
    """The words of each program, and of the files that configure them."""
    programs = [path for top in ("src", "tests", "examples") for path in (ROOT / top).rglob("*.py")]
    files = [*programs, ROOT / "Makefile", ROOT / "pyproject.toml"]
    return {path: set(_WORD.findall(path.read_text())) for path in files if path != pathlib.Path(__file__)}


def is_file(word: str) -> bool:
    """In the repository, in the package, or a name without a folder that some file has."""
    alone = "/" not in word and any(path.name == word for path in sources())
    return alone or any((top / word).exists() for top in (ROOT, ROOT / "src" / "discreet"))


def is_name(word: str) -> bool:
    """Each part is a word of some program; where the first part is a module, the last is in its files."""
    first, *others = _WORD.findall(word.removeprefix("discreet.")) or [""]
    modules = [words for path, words in sources().items() if first in (path.stem, path.parent.name)]
    inside = modules if others and modules else sources().values()
    known = set[str]().union(*inside)
    return all(part in known for part in others or [first] if part)


def missing(named: str) -> list[str]:
    """What is not there of the words between two backticks."""
    command, *arguments = named.split()
    if command in OTHERS:
        return []
    if command == "make":
        return [target for target in arguments if f"\n{target}:" not in (ROOT / "Makefile").read_text()]
    words = [word for word in (command, *arguments) if not word.startswith(NOT_YET)]
    return [word for word in words if not (is_file if _FILE.fullmatch(word) else is_name)(word)]


def test_all_that_it_names_exists() -> None:
    """Somebody who follows it finds what it speaks of."""
    assert len(NAMED) > 80
    assert [word for named in NAMED for word in missing(named)] == []


@pytest.mark.parametrize(
    "named",
    ["NoSuchStore", "simulation/lost.py", "lost.py", "compiled.lost_word", "make lost", "discreet lost_word"],
)
def test_what_does_not_exist_is_noticed(named: str) -> None:
    """Of each kind."""
    assert len(missing(named)) == 1


def test_names_of_modules_and_of_their_contents_are_found() -> None:
    """With the package's name or without."""
    assert all(is_name(name) for name in ("discreet.compiled.kernel", "compiled.generic", "discreet.checks"))
