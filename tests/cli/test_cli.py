"""The command line, as a user meets it: words, data, files, and one clear line for every mistake."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import numpy as np
import polars
import pytest

import discreet
from code_blocks import ROOT, blocks
from commands import run
from discreet.cli.app import show, table

QUICK = ["--rounds", "400", "--seeds", "2", "--n", "4"]


def test_simulate_prints_a_table_and_writes_files(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """A line per learner and what would be private when used; curves as Parquet; a report."""
    report, curves = tmp_path / "r.html", tmp_path / "c.parquet"
    files = ["--report", str(report), "--out", str(curves)]
    learners = ["-l", "bandit", "-l", "bandit-without-noise"]
    code, out, _ = run(capsys, "simulate", "modular", *learners, *QUICK, *files)
    assert code == 0
    assert out.splitlines()[-4:] == [
        "Would be private when used: BanditLearner (central, model, epsilon=1).",
        "NOT PRIVATE: BanditLearner (central, model, epsilon=inf).",
        f"The report: {report}",
        f"The curves: {curves}",
    ]
    assert report.read_text().lower().startswith("<!doctype html>")
    assert polars.read_parquet(curves)["learner"].n_unique() == 2


def test_json_is_data(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One document on standard output, nothing else there; the report goes to its file."""
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "simulate", "cuts", "-l", "full", *QUICK, "--set", "favoured=0.3", "--json")
    (entry,) = json.loads(out)
    assert (tmp_path / "discreet-simulate.html").exists()
    assert (code, entry["n"], entry["rounds"], entry["would_be_private"]) == (0, 4, 400, True)
    small = ("plan", "--n", "4", "--epsilon", "1", "--rounds", "1e4", "--json")
    found, unsure = (json.loads(run(capsys, *small, *more)[1]) for more in (("--effect", "0.02"), ()))
    assert found["options"][0]["learner"] == "BanditLearner"
    assert (found["effect"], found["enough"], unsure["effect"], unsure["enough"]) == (0.02, False, None, None)
    assert [effect for effect, _ in unsure["by_effect"]] == [0.5, 0.2, 0.05]
    code, out, _ = run(capsys, "list", "--json")
    assert "modular" in json.loads(out)["streams"]
    show(True, {"a": float("inf"), "b": {3, 1}, "c": np.array([1.5, np.nan])}, "")
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [1, 3], "c": [1.5, None]}


def test_plan_and_list_are_words(capsys: pytest.CaptureFixture[str]) -> None:
    """What to take, and what can be named."""
    _, out, _ = run(capsys, "plan", "--n", "4", "--epsilon", "1", "--rounds", "1000", "--full")
    assert "Take FullInformationLearner" in out
    assert "no effect was given" in out
    _, out, _ = run(capsys, "plan", "--n", "4", "--epsilon", "1", "--rounds", "1000", "--effect", "0.02")
    assert "1,000 rounds are not enough for an effect of 0.02." in " ".join(out.split())
    back = ("plan", "--n", "4", "--epsilon", "1", "--rounds", "1e5", "--rounds-per-person", "3")
    found = json.loads(run(capsys, *back, "--local", "--delta", "1e-6", "--json")[1])["options"]
    assert [option["arguments"]["delta"] for option in found] == [1e-6]
    _, out, _ = run(capsys, "list")
    assert "priced-cuts" in out
    assert "paper-bandit" in out
    assert table(["a", "b"], [["x", "10"], ["long", "9"]]) == "a      b\nx     10\nlong   9"


def test_minimize_reads_json(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """The best set with its certificate; what is no description is refused."""
    path = tmp_path / "f.json"
    path.write_text('{"kind": "Modular", "weights": [1, -2, 3]}')
    code, out, _ = run(capsys, "minimize", str(path))
    assert (code, "[1]" in out) == (0, True)
    code, out, _ = run(capsys, "minimize", str(path), "--json")
    assert json.loads(out)["set"] == [1]
    for text, message in (("{", "not JSON"), ("[]", "no JSON object"), ('{"kind": "Nothing"}', "Nothing")):
        path.write_text(text)
        code, _, err = run(capsys, "minimize", str(path))
        assert code == 2
        assert message in err


@pytest.mark.seconds
def test_compare_writes_goes_on_and_reports(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """Flags or a file; the second time nothing is run; a failed cell is exit code 1."""
    out_file, report = tmp_path / "s.parquet", tmp_path / "s.html"
    flags = ["-s", "modular", "-l", "bandit", "-l", "random", "--n", "3", "--rounds", "200", "--seeds", "2"]
    code, out, _ = run(
        capsys, "compare", *flags, "--out", str(out_file), "--workers", "1", "--report", str(report)
    )
    assert code == 0
    assert "modular / bandit" in out
    assert report.exists()
    before = out_file.stat().st_mtime_ns
    assert run(capsys, "compare", *flags, "--out", str(out_file), "--no-report")[0] == 0
    assert out_file.stat().st_mtime_ns == before
    page = report.read_text()
    report.unlink()
    assert run(capsys, "report", str(out_file))[0] == 0
    assert report.read_text().count("<svg") == page.count("<svg")
    sweep = tmp_path / "s.toml"
    sweep.write_text(
        'streams = ["modular"]\nlearners = ["exponential-weights"]\nn = [13]\nrounds = 50\nseeds = 1\n'
    )
    code, _, err = run(capsys, "compare", str(sweep), "--out", str(tmp_path / "t.parquet"), "--workers", "1")
    assert code == 1
    assert "failed: exponential-weights in modular" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "modlar"], "Did you mean 'modular'?"),
        (["simulate", "modular", "-l", "nobody"], "no learner called 'nobody'"),
        (["simulate", "priced-cuts", "--n", "21"], "from 1 to 20"),
        (["simulate", "modular", "--rounds", "0"], "'rounds'"),
        (["simulate", "modular", "--seeds", "0"], "'seeds'"),
        (["simulate", "modular", "--epsilon", "-1"], "The 'epsilon' of BanditLearner must"),
        (["simulate", "modular", "--set", "gap"], "NAME=VALUE"),
        (["simulate", "modular", "--set", "gap=2"], "The 'gap' of modular must"),
        (["simulate", "checkout", "--n", "1"], "The 'n' of checkout must"),
        (["simulate", "modular", "--out", "/nowhere/at/all.parquet", *QUICK], "/nowhere/at"),
        (["simulate"], "Missing argument"),
        (["simulate", "modular", "--wrong"], "No such option"),
        (["compare"], "at least one of 'streams'"),
        (["compare", "none.toml"], "Cannot read none.toml"),
        (["compare", "none.toml", "-l", "bandit"], "not both"),
        (["minimize", "none.json"], "none.json"),
        (["report", "none.parquet"], "Cannot read none.parquet"),
        (["plan", "--n", "0", "--epsilon", "1", "--rounds", "10"], "'n' of plan"),
        (["nothing"], "No such command"),
        (["audit", "one-bat"], "Did you mean 'one-bit'"),
        (["audit", "nowhere:Thing"], "Cannot find nowhere:Thing"),
        (["audit", "one-bit", "--runs", "0"], "'runs'"),
        (["audit", "one-bit", "--runs", "127"], "at least 128"),
        (["audit", "one-bit", "--plot", "a.txt"], "svg, png or pdf"),
        (["simulat"], "Did you mean 'simulate'?"),
        (["simulate", "modular", "--rounds", "10,00"], "such as 65536, 1e6 or 1,000,000. Got '10,00'"),
        (["simulate", "modular", "--rounds", "1.5"], "an integer is needed"),
        (["simulate", "modular", "--rounds", "1e999999999"], "an integer is needed"),
        (["simulate", "modular", "--rounds", "many"], "an integer is needed"),
    ],
)
def test_mistakes_are_one_line_and_code_2(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is half-written."""
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("discreet: ")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [[], ["store"], ["keys"]])
def test_without_arguments_there_is_help_as_it_is(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The same lines that --help prints, and the code of a mistake."""
    _, help_, _ = run(capsys, *command, "--help")
    code, out, err = run(capsys, *command)
    assert (code, out.rstrip(), err) == (2, help_.rstrip(), "")


def test_one_stream_with_two_parameters_is_told_apart(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its parameters, in the table and in the report."""
    file, out = tmp_path / "sweep.toml", tmp_path / "sweep.parquet"
    streams = '[{name = "modular", gap = 0.1}, {name = "modular", gap = 0.5}]'
    file.write_text(f'streams = {streams}\nlearners = ["random"]\nn = 3\nrounds = 64\nseeds = 1\n')
    code, shown, _ = run(capsys, "compare", str(file), "--out", str(out), "--workers", "1", "--quiet")
    assert code == 0
    for name in ("modular (gap=0.1)", "modular (gap=0.5)"):
        assert f"{name} / random" in shown
        assert name in out.with_suffix(".html").read_text()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """That of the package, which the changelog describes."""
    code, out, _ = run(capsys, "--version")
    assert (code, out) == (0, f"{discreet.__version__}\n")
    changelog = (pathlib.Path(__file__).parents[2] / "CHANGELOG.md").read_text()
    assert re.search(rf"^## {re.escape(discreet.__version__)} - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE)


@pytest.mark.process
def test_ctrl_c_ends_with_130_and_leaves_no_file(tmp_path: pathlib.Path) -> None:
    """A real process and a real signal."""
    command = ["simulate", "modular", "--n", "100", "--rounds", "3e7", "--seeds", "1", "--report", "r.html"]
    # With polars, whose handling of signals leaves a waiting main thread asleep.
    code = "import sys, threading, os, signal, polars; from discreet.cli import main; "
    code += "threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start(); main(sys.argv[1:])"
    ended = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 130
    assert ended.stderr.endswith("discreet: interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sample
@pytest.mark.slow
def test_the_demo_shows_that_private_learning_works(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """The private learner earns most of what is possible; the report and the README say the same.

    Without privacy only the best learner is shown, which earns more.
    """
    report = tmp_path / "demo.html"
    code, out, _ = run(capsys, "demo", "--quiet", "--report", str(report))
    assert code == 0
    (quoted,) = (block for block in blocks(ROOT / "README.md") if block.language == "text")
    assert [line for line in quoted.text.splitlines() if line not in out.splitlines()] == []
    rows = re.findall(r"^(\S.*?)  +(-?[\d,]+)(?:  |$)", out, flags=re.MULTILINE)
    euros = {name: int(money.replace(",", "")) for name, money in rows}
    ours = euros["BanditLearner (central, model, epsilon=1)"]
    possible = euros["the best fixed set, in hindsight"]
    public = [money for name, money in euros.items() if "epsilon=inf" in name]
    assert 0.9 * possible < ours < max(public) <= possible
    assert len(public) == 1
    assert max(euros[name] for name in ("empty set", "full set", "random set")) < 0.1 * possible
    said, page = f"{ours:,} of {possible:,} possible euros", report.read_text()
    assert said in " ".join(out.split())
    assert said in page
    assert f"{ours / 20_000:.3f}" in page  # per round
    cells = re.findall(r"<tr><th scope=\"row\">BanditLearner \(central[^<]*</th>(.*?)</tr>", page, re.DOTALL)[
        0
    ]
    shown = re.findall(r">([^<]*)</td>", cells)
    idle = max(euros[name] for name in ("empty set", "full set", "random set"))
    assert shown[:3] == [f"{ours:,}", str(100 * ours // possible), f"{ours - idle:,}"]
    low, high = (float(end.replace(",", "")) for end in shown[3].split(" to "))
    assert 0 < low < ours - idle < high
    assert float(shown[4]) == pytest.approx(100 * (ours - idle) / 20_000, abs=0.06)
    assert all(part in page for part in ("Differentially private", "NOT PRIVATE", "epsilon", "coffee"))


@pytest.mark.seconds
def test_a_demo_with_too_few_customers_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """Instead of a share below nothing; with the number of customers that a plan predicts for its effect.

    As data there is nothing but JSON on standard output; the report is written all the same.
    """
    report = tmp_path / "demo.html"
    few = ["--n", "4", "--rounds", "300", "--epsilon", "0.1", "--seeds", "2", "--quiet", "--json"]
    code, out, _ = run(capsys, "demo", *few, "--report", str(report))
    found = json.loads(out)
    assert (code, found["report"], report.exists()) == (0, str(report), True)
    assert found["learners"][0]["rounds"] == 300
    assert {"chosen", "best"} < found.keys()
    words = found["summary"]
    assert words.startswith("The private learner did not learn in 300 customers")
    assert re.search(
        r"better by 0\.\d+ euros per customer. 'discreet plan' predicts .* about [\d,]+00 ", words
    )
    assert "of the way" not in words


OWN_STREAM = """
import random

import discreet

def prices(n, rounds, seed, high=1.0):
    rng = random.Random(seed)
    for _ in range(rounds):
        price = rng.uniform(0, high)
        yield lambda chosen, price=price: price * len(chosen) / n - (0 in chosen)

prices.cost_range = (-1, 1)
short = [lambda chosen: 1.0 if chosen else 0.0] * 30
fixed = discreet.environments.modular(5)
"""


def test_a_stream_in_plain_python_is_simulated_and_compared(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By MODULE:NAME, from the working directory; a sweep runs it in other processes."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(OWN_STREAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    simulate = ["simulate", f"{name}:prices", "-l", "random", "--no-report"]
    code, out, _ = run(capsys, *simulate, *QUICK, "--set", "high=0.5", "--json")
    (entry,) = json.loads(out)
    assert (code, entry["environment"], entry["n"], entry["rounds"]) == (0, f"{name}:prices", 4, 400)
    code, out, _ = run(
        capsys, "simulate", f"{name}:short", "-l", "empty", "--n", "2", "--no-report", "--json"
    )
    (entry,) = json.loads(out)
    assert (code, entry["rounds"], entry["cost"]) == (0, 30, 0.0)
    flags = ["-s", f"{name}:prices", "-s", f"{name}:fixed", "-l", "random", "--n", "2", "--n", "3"]
    flags += ["--rounds", "10"]
    code, out, err = run(capsys, "compare", *flags, "--seeds", "2", "--workers", "2", "--no-report", "--json")
    assert (code, err) == (0, "")
    found = [(row["environment"], row["n"], row["seeds"]) for row in json.loads(out)]
    assert found == [(f"{name}:fixed", 5, 2), (f"{name}:prices", 2, 2), (f"{name}:prices", 3, 2)]
    for arguments, message in (
        ([f"{name}:nothing"], f"Cannot find {name}:nothing"),
        (
            [f"{name}:prices", "--n", "3", "--set", "low=1"],
            "no parameter 'low'. It has: n, rounds, seed, high.",
        ),
        ([f"{name}:prices"], "needs the parameter 'n'"),
        ([f"{name}:fixed", "--n", "3"], "fixed has 5 items, not 3"),
    ):
        code, _, err = run(capsys, "simulate", *arguments, "-l", "random", "--rounds", "10")
        assert (code, err.count("\n"), message in err) == (2, 1, True), err


@pytest.mark.process
def test_ctrl_c_in_a_sweep_says_how_to_go_on(tmp_path: pathlib.Path) -> None:
    """A real signal to all its processes, as a terminal sends it: no traceback, and what was done is kept."""
    flags = ["compare", "-s", "modular", "-l", "random", "--n", "2", "--seeds", "3000", "--workers", "2"]
    running = subprocess.Popen(
        [sys.executable, "-m", "discreet", *flags, "--rounds", "65536", "--no-report", "--quiet"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    parts = tmp_path / "sweep.parquet.parts"
    deadline = time.monotonic() + 120
    while not list(parts.glob("*.parquet")):
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    kept, said = err.splitlines()
    assert kept.startswith("what was finished is in sweep.parquet")
    assert said == "discreet: interrupted"
    assert [entry.name for entry in tmp_path.iterdir()] == ["sweep.parquet"]


@pytest.mark.seconds
def test_audit_of_what_is_sound(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """Exit code 0, a line each, a picture; as data and as a table for documentation too."""
    picture = tmp_path / "audits.svg"
    small = ["audit", "one-bit", "laplace", "--runs", "2000", "--seed", "1"]
    code, out, _ = run(capsys, *small, "--plot", str(picture))
    assert code == 0
    assert "none of 2 claims refuted" in out
    assert picture.read_text().lstrip().startswith("<?xml")
    small.remove("laplace")
    _, out, _ = run(capsys, *small, "--json")
    assert [entry["name"] for entry in json.loads(out)] == ["one-bit"]
    _, out, _ = run(capsys, *small, "--markdown")
    assert out.count("\n| `") == 1
    _, out, _ = run(capsys, *small, "--epsilon", "0.5")
    assert "epsilon = 0.5" in out
    assert "not refuted" in out


@pytest.mark.seconds
def test_audit_of_what_is_broken(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1: the published tree, and a mechanism from the user's own file."""
    code, out, _ = run(capsys, "audit", "paper-tbap-published", "--n", "1", "--runs", "60000", "--seed", "1")
    assert code == 1
    assert "VIOLATED" in out
    (tmp_path / "leaking.py").write_text(
        "import numpy as np\n"
        "from discreet.privacy import Guarantee\n"
        "class Leak:\n"
        "    def claim(self): return Guarantee(epsilon=1.0)\n"
        "    def neighbours(self): return 0.0, 1.0\n"
        "    def observe(self, data, runs, seed): return np.full((runs, 1), data)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    code, out, _ = run(capsys, "audit", "leaking:Leak", "one-bit", "--runs", "4000", "--seed", "1")
    assert code == 1
    assert "1 of 2 claims refuted" in out


def test_a_file_is_played_to_its_end(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a number of rounds; more than there are is an error with their number. The data are real."""
    monkeypatch.chdir(tmp_path)
    pathlib.Path("day.csv").write_text("tea,milk\ntea\nmilk,jam\n" * 20)
    given = ["simulate", "baskets", "--set", "path=day.csv", "--n", "3", "--no-report", "--quiet"]
    code, out, _ = run(capsys, *given)
    assert (code, out.splitlines()[0]) == (
        0,
        "baskets, 3 items, 60 rounds, 5 seeds; regret and cost per round",
    )
    assert "exact sums of the data in day.csv, without noise: treat them like the data." in " ".join(
        out.split()
    )
    code, out, err = run(capsys, *given, "--rounds", "61")
    assert (code, out) == (2, "")
    assert "The 'rounds' of baskets must be an integer from 1 to 60. Got 61 instead." in err
    pathlib.Path("sweep.toml").write_text(
        'streams = [{name = "baskets", path = "day.csv"}]\nlearners = ["random"]\nn = 3\nseeds = 1\n'
    )
    code, out, _ = run(capsys, "compare", "sweep.toml", "--workers", "1", "--quiet")
    assert code == 0
    assert "treat them like the data" in " ".join(out.split())
    assert "treat them like the data" in pathlib.Path("sweep.html").read_text()
