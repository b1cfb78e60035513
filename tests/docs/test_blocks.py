"""Every code block of the README and the docs is run: Python as doctests, shell commands with small sizes."""

import doctest
import pathlib
import re
import shlex

import pytest

from discreet.cli import main

ROOT = pathlib.Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
#: Options that make a command quick, by command; a command that is not here runs as it is written.
QUICK = {
    "demo": ["--quick", "--quiet"],
    "simulate": ["--rounds", "300", "--seeds", "1", "--no-report"],
    "audit": ["--runs", "2000", "--seed", "1"],
}
#: Commands that other tests run, because they need a server, a cluster, minutes, or change the machine.
ELSEWHERE = re.compile(
    r"make |pip install|python -m (examples|benchmarks)|discreet (serve|store|keys|compare)|discreet audit$"
    r"|curl |pg_dump|export |systemctl|sqlite3 |cp |\{|DISCREET_|#"
)


def blocks(kind: str) -> list[pytest.param]:  # type: ignore[valid-type] # a helper of parametrize
    found = []
    for page in PAGES:
        for k, (language, text) in enumerate(BLOCK.findall(page.read_text())):
            if language == kind:
                found.append(pytest.param(text, id=f"{page.stem}-{k}"))
    return found


@pytest.mark.parametrize("page", [p for p in PAGES if p.stem != "service"], ids=lambda page: page.stem)
def test_python_blocks(page: pathlib.Path) -> None:
    """All Python blocks of a page run one after the other and print what the page says.

    Those of the service need a server: `test_service_page` runs them.
    """
    text = "\n".join(code for language, code in BLOCK.findall(page.read_text()) if language == "python")
    assert not re.search(r"^(?!>>>|\.\.\.)\w+ = ", text, flags=re.MULTILINE), "Python blocks are doctests"
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner = doctest.DocTestRunner(optionflags=flags)
    reports: list[str] = []
    runner.run(examples, out=reports.append)
    assert runner.failures == 0, "".join(reports)


@pytest.mark.parametrize("text", blocks(""))
def test_shell_blocks(text: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of this package in a block ends well (or with 1, where an audit refutes a claim)."""
    monkeypatch.chdir(tmp_path)
    for line in text.replace("\\\n", " ").splitlines():
        command = line.split("  #")[0].strip()
        if not command or ELSEWHERE.match(command):
            continue
        words = shlex.split(command)
        assert words[0] == "discreet", f"do not know how to run {command!r}"
        with pytest.raises(SystemExit) as end:
            main([*words[1:], *QUICK.get(words[1], [])])
        assert end.value.code in ((0, 1) if words[1] == "audit" else (0,)), command
