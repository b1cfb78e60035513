"""Every code block of the README and the docs is run: programs, sessions, shell commands with small sizes."""

import os
import pathlib
import shutil
import subprocess

import pytest

from code_blocks import (
    PAGES,
    ROOT,
    Block,
    blocks,
    is_there,
    run_discreet,
    run_program,
    run_python,
    statements,
)

BLOCKS = [block for page in PAGES for block in blocks(page)]
#: What runs a block, by language and page: a test here, or one that knows the page. There are no others.
RUN_BY = {
    ("pycon", "docs/service.md"): "tests/docs/test_service_page.py::test_its_commands_work",
    ("pycon", ""): "tests/docs/test_blocks.py::test_sessions",
    ("python", "docs/tutorial.md"): "tests/examples/test_tutorial.py::test_the_page_quotes_the_program",
    ("python", "docs/gallery.md"): "tests/examples/test_gallery.py::test_what_can_be_copied_runs",
    ("python", ""): "tests/docs/test_blocks.py::test_programs",
    ("python", "docs/device.md"): "tests/clients/test_device_page.py::test_a_message_from_a_backend_is_told",
    ("js", "docs/device.md"): "tests/clients/test_device_page.py::test_a_message_from_a_backend_is_told",
    ("sh", "docs/service.md"): "tests/docs/test_service_page.py::test_every_command_is_run",
    ("sh", ""): "tests/docs/test_blocks.py::test_shell_blocks",
    ("yaml", "docs/nist.md"): "tests/docs/test_project_files.py::test_the_registry_entry_is_yaml",
    ("text", "README.md"): "tests/cli/test_cli.py::test_the_demo_shows_that_private_learning_works",
    (
        "text",
        "docs/tutorial.md",
    ): "tests/examples/test_tutorial.py::test_the_page_says_what_real_baskets_gave",
    ("text", "docs/gallery.md"): "tests/examples/test_gallery.py::test_all_that_the_page_quotes_is_compared",
    (
        "json",
        "docs/service.md",
    ): "tests/service/test_admin_log.py::test_everything_that_admins_do_is_logged",
    ("ini", "docs/service.md"): "tests/docs/test_service_page.py::test_the_unit_of_systemd_starts_a_server",
    (
        "nginx",
        "docs/service.md",
    ): "tests/docs/test_service_page.py::test_the_proxy_is_the_one_that_is_shipped",
}
#: Options that make a command quick, by command; a command that is not here runs as it is written.
QUICK = {"audit": ["--runs", "2000", "--seed", "1"]}
#: Commands that take minutes or change the machine, and the tests that run what is in them.
ELSEWHERE = {
    "discreet demo": "tests/cli/test_cli.py::test_the_demo_shows_that_private_learning_works",
    "discreet audit": "tests/auditing/test_builtin.py::test_it_keeps_its_promise",
    "discreet audit bandit full --epsilon 0.5": "tests/auditing/test_builtin.py::test_it_keeps_its_promise",
    "pip install .": "tests/test_wheel.py::test_it_runs_with_what_it_declares",
    "pip install '.[cli,report]'": "tests/test_wheel.py::test_it_runs_with_what_it_declares",
    "python -m examples.tutorial": "tests/examples/test_tutorial.py::test_your_own_file",
    "python -m examples.theorems --out theorems": "tests/examples/test_theorems.py::test_it_makes_all",
}
#: What targets of the Makefile come to. They are not made: they would run this test, or for an hour.
PARTS = {
    "make demo": ["discreet demo"],
    "make test": ["ruff check .", "mypy", "lint-imports", "zensical build --strict", "pytest -n 2"],
    "make results": ["python -m benchmarks --into docs/results.md", "discreet audit --markdown"],
}


def of_language(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def where(block: Block) -> str:
    return f"{block.page}:{block.line}"


def run_by(block: Block) -> str | None:
    return RUN_BY.get((block.language, block.page), RUN_BY.get((block.language, "")))


def test_something_runs_every_block() -> None:
    """Its language is known on its page, and the test that runs it is there; no rule is left over."""
    assert [where(block) for block in BLOCKS if run_by(block) is None] == []
    assert {run_by(block) for block in BLOCKS} == set(RUN_BY.values())
    assert all(is_there(test) for test in RUN_BY.values())
    commands = {command for block in of_language("sh") for command in block.commands}
    assert set(ELSEWHERE) | set(PARTS) <= commands
    assert {command.split()[1] for command in commands if command.startswith("discreet")} >= set(QUICK)


def test_sessions_are_run_as_a_whole() -> None:
    """They have statements, and nothing that is not run."""
    assert all(statements(block) for block in of_language("pycon"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", sorted({b.page for b in of_language("pycon")} - {"docs/service.md"}), ids=lambda page: page
)
def test_sessions(page: str) -> None:
    """All sessions of a page run one after the other and print what the page says."""
    assert run_python(ROOT / page) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "block", [b for b in of_language("python") if ("python", b.page) not in RUN_BY], ids=where
)
def test_programs(block: Block) -> None:
    """They have no prompts, which a reader would copy, and print what their comments say."""
    assert ">>>" not in block.text
    run_program(block)


@pytest.mark.slow
@pytest.mark.parametrize("block", [b for b in of_language("sh") if b.page != "docs/service.md"], ids=where)
def test_shell_blocks(block: Block, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of this package in a block ends well (or with 1, where an audit refutes a claim)."""
    monkeypatch.chdir(tmp_path)
    assert block.commands
    for command in block.commands:
        if command in ELSEWHERE:
            assert is_there(ELSEWHERE[command])
        elif command in PARTS:
            recipe = recipe_of(command)
            assert all(part in recipe for part in PARTS[command]), recipe
        else:
            name = command.split()[1]
            ended = run_discreet(command, *QUICK.get(name, []))
            assert ended in ((0, 1) if name == "audit" else (0,)), command


def recipe_of(command: str) -> str:
    """What `make` would do for a target."""
    program = shutil.which("make")
    assert program is not None
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    dry = [program, "--dry-run", *command.split()[1:]]
    return subprocess.run(dry, cwd=ROOT, env=quiet, check=True, capture_output=True, text=True).stdout
