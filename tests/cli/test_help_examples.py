"""The examples in the help texts: each is run as it stands, with files of the documented names."""

import contextlib
import itertools
import json
import pathlib
import random
import shlex
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from commands import run
from discreet.cli import app
from discreet.service import server
from discreet.service.learner_service import LearnerService
from discreet.simulation import sweep

pytestmark = pytest.mark.docs

#: Added to what would take long; a later option replaces an earlier one.
SHORTER = {
    "demo": ["--n", "3", "--rounds", "500", "--seeds", "1"],
    "simulate": ["--rounds", "300", "--seeds", "1"],
    "compare": ["--rounds", "100", "--seeds", "1", "--workers", "1"],
    "compare sweep.toml": ["--workers", "1"],  # a file takes no other settings
    "audit": ["--runs", "256"],
    "audit --plot": ["one-bit", "laplace", "--runs", "256"],  # without names it audits everything
}
#: Places that exist nowhere, and what is there instead.
DATABASE = "postgresql://me@db/shop"
ELSEWHERE = {"/var/lib/discreet/": "", "/etc/": ""}
#: Learners whose sessions take long to audit (as tests/auditing does), and releases that do not.
AUDITED = {"audit bandit full": "audit one-bit laplace"}
#: What must have been run before.
BEFORE = {
    "store restore": ["discreet store backup shop-backup.db --store shop.db"],
    "report": ["discreet compare sweep.toml --out sweep.parquet --no-report --workers 1"],
}
ITEMS = ["milk", "bread", "butter", "jam", "tea", "coffee", "sugar", "eggs", "rice", "beer", "soap", "salt"]
MECHANISM = """
import numpy as np
from discreet.privacy import Guarantee

class MyMechanism:
    def claim(self):
        return Guarantee(epsilon=1.0)

    def neighbours(self):
        return 0.0, 1.0

    def observe(self, data, runs, seed):
        return np.random.default_rng(seed).laplace(data, 1.0, (runs, 1))
"""


def examples(command: Any) -> Iterator[str]:
    """All lines of all help texts that are commands."""
    for line in (command.epilog or "").splitlines():
        if line.startswith("  "):
            yield line.strip()
    for one in getattr(command, "commands", {}).values():
        yield from examples(one)


#: All but one that tests/cli/test_cli.py runs as it is.
EXAMPLES = [line for line in examples(typer.main.get_command(app)) if line != "discreet demo"]


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The working directory, with the files that examples name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    drawn = random.Random(0)
    baskets = [drawn.sample(ITEMS, drawn.randint(1, 6)) for _ in range(300)]
    pathlib.Path("groceries.csv").write_text("".join(",".join(basket) + "\n" for basket in baskets))
    pathlib.Path("sweep.toml").write_text(
        'streams = ["modular"]\nlearners = ["bandit", "random"]\nn = 3\nrounds = 64\nseeds = 2\n'
    )
    pathlib.Path("mymodule.py").write_text(MECHANISM)
    return tmp_path


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.usefixtures("folder")
def test_an_example_works(
    example: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    """It ends well, and what it names is written. Servers and clusters are not started."""
    for documented, real in (ELSEWHERE | AUDITED).items():
        example = example.replace(documented, real)
    monkeypatch.setattr(sweep, "_dask", lambda address: contextlib.nullcontext(address))
    monkeypatch.setattr(server, "serve", lambda options: print(options))
    if DATABASE in example and " serve " not in example:
        example = example.replace(DATABASE, request.getfixturevalue("postgres"))
    before, _, line = example.rpartition("; ")
    subprocess.run(["sh", "-c", before], check=True)
    words = shlex.split(line)[1:]
    name = " ".join(words[:2])
    if words[0] in ("store", "keys"):
        make_store(words)
    if name == "keys revoke":
        words[2] = json.loads(run(capsys, "keys", "list", "--json")[1])[0]["id"]
    for prepared in BEFORE.get(name, BEFORE.get(words[0], [])):
        assert run(capsys, *shlex.split(prepared)[1:])[0] == 0
    code, out, err = run(capsys, *words, *SHORTER.get(name, SHORTER.get(words[0], [])))
    assert code in ((0, 1) if "published" in name else (0,)), err  # what is broken may be found out
    assert out
    for option, file in itertools.pairwise(words):
        assert option not in ("--out", "--report", "--plot") or pathlib.Path(file).exists()


def make_store(words: list[str]) -> None:
    """The store that a command looks after, or the one whose export is imported, with a key to be revoked."""
    given = dict(itertools.pairwise(words))
    store = "shop.db" if words[1] == "import" else given.get("--store", "discreet.db")
    with LearnerService.open(
        store, key_file=given.get("--key-file", "shop.key" if "://" in store else None)
    ) as service:
        service.api_keys.create("read", "of a till")
