"""All code blocks of the README, of CONTRIBUTING and of the docs, whatever their language and indent.

A block of `python` is a program, one of `pycon` a session with `>>>`, which the site shows without.
"""

import contextlib
import doctest
import io
import pathlib
import re
import shlex
from typing import NamedTuple

import pytest

from discreet.cli import main

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BEFORE = r"(?P<before>[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?)"
_FENCE = re.compile(_BEFORE + r"(?P<marks>`{3,}(?!.*`)|~{3,})(?P<info>.*)")


class Block(NamedTuple):
    """What stands between two fences, without the indent of the first."""

    page: str
    line: int
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """A line each, without comments; lines that go on are one."""
        lines = (re.sub(r"(^|\s+)#.*", "", line) for line in self.text.replace("\\\n", " ").splitlines())
        return [" ".join(line.split()) for line in lines if line.strip()]


def blocks_of(page: str, text: str) -> list[Block]:
    """All blocks, in order."""
    found, lines = [], iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        if not (opening := _FENCE.fullmatch(line)):
            continue
        indent, inside = len(opening["before"]), []
        for _, within in lines:
            before, rest = within[:indent], within[indent:]
            inside.append(within if before.strip(" \t>") else rest)
            closing = inside[-1].strip(" \t>")
            if closing.startswith(opening["marks"]) and set(closing) == set(opening["marks"]):
                break
        else:
            raise ValueError(f"the block in line {number} of {page} has no end")
        language = (opening["info"].split() or [""])[0]
        found.append(Block(page, number, language, "".join(f"{each}\n" for each in inside[:-1])))
    return found


def blocks(page: pathlib.Path) -> list[Block]:
    """All blocks of a file."""
    return blocks_of(page.relative_to(ROOT).as_posix(), page.read_text())


def statements(block: Block) -> list[doctest.Example]:
    """What a session runs. Text that would not be run, or that is skipped, is refused."""
    parts = doctest.DocTestParser().parse(block.text)
    found = [part for part in parts if isinstance(part, doctest.Example)]
    ignored = [part for part in parts if isinstance(part, str) and part.strip()]
    if not found or ignored or any(part.options for part in found):
        raise ValueError(f"the block in line {block.line} of {block.page} is not run as a whole")
    return found


def run_program(block: Block) -> None:
    """Run a whole program, as a reader would; a comment behind a `print` says what it prints."""
    said, expected = io.StringIO(), re.findall(r"^ *print\(.*\)  # (.+)$", block.text, flags=re.MULTILINE)
    with contextlib.redirect_stdout(said):
        exec(compile(block.text, f"{block.page}:{block.line}", "exec"), {})
    printed = said.getvalue().splitlines()
    assert len(printed) == len(expected), printed
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    for line, comment in zip(printed, expected, strict=True):
        assert doctest.OutputChecker().check_output(comment, line, flags), f"{line!r} is not {comment!r}"


def run_python(page: pathlib.Path) -> int:
    """Run all sessions of a page one after the other. The number of statements; each did as it says."""
    examples = []
    for block in blocks(page):
        if block.language == "pycon":
            for example in statements(block):
                example.lineno += block.line
                examples.append(example)
    test = doctest.DocTest(examples, {}, page.name, str(page), 0, page.read_text())
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    reports: list[str] = []
    ended = runner.run(test, out=reports.append)
    assert ended.failed == 0, "".join(reports)
    assert ended.attempted == len(examples)
    return len(examples)


def run_discreet(command: str, *more: str) -> int:
    """The exit code of a command of this package, here and in this process."""
    words = shlex.split(command)
    assert words[0] == "discreet", f"do not know how to run {command!r}"
    with pytest.raises(SystemExit) as end:
        main([*words[1:], *more])
    return int(end.value.code or 0)


def is_there(test: str) -> bool:
    """Whether there is a test of this name: `tests/file.py::function`."""
    file, name = test.split("::")
    return (ROOT / file).exists() and f"\ndef {name}(" in (ROOT / file).read_text()
