"""The gallery: every example runs and draws, and says what its page says that it says."""

import pathlib
import re
import runpy
import subprocess
import sys

import pytest
from examples.gallery import (
    baskets_from_file,
    broken_mechanism,
    checkout_bundles,
    client_side_randomising,
    own_policy,
    own_set_function,
    own_stream,
)

import discreet
from code_blocks import ROOT, blocks_of
from discreet.set_functions import is_submodular

PAGE = (ROOT / "docs" / "gallery.md").read_text()
SCRIPTS = [
    baskets_from_file,
    broken_mechanism,
    checkout_bundles,
    client_side_randomising,
    own_policy,
    own_set_function,
    own_stream,
]
#: The sections with code to copy, and how what is not imported begins.
STARTS = {"own_policy": "class OneByOne", "own_set_function": "class Farthest", "own_stream": "LAMPS = 12"}
NAMES = sorted(path.stem for path in (ROOT / "examples" / "gallery").glob("*.py"))
NAMES = [name for name in NAMES if name not in ("__init__", "pictures")]


def name_of(script) -> str:  # type: ignore[no-untyped-def]
    return str(script.__name__.rsplit(".", 1)[1])


def section(name: str) -> str:
    """The part of the page that is about one example."""
    (found,) = (part for part in PAGE.split("\n## ") if f"(gallery/{name}.svg)" in part)
    return found


def quoted_of(name: str) -> list[str]:
    """The lines of output that the page shows for an example."""
    blocks = [block for block in blocks_of(name, section(name)) if block.language == "text"]
    return [line for block in blocks for line in block.text.splitlines() if line.strip()]


@pytest.fixture(autouse=True)
def _without_real_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_DATA", raising=False)


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_an_example_draws_and_prints_what_the_page_shows(  # type: ignore[no-untyped-def]
    script, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With all rounds where the page quotes it, else with few: all are seeded."""
    quoted = quoted_of(name_of(script))
    script.main(["--out", str(tmp_path / "picture.svg"), *([] if quoted else ["--quick"])])
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in quoted if line not in printed] == []
    drawn = (tmp_path / "picture.svg").read_text()
    assert "<svg" in drawn
    assert "<dc:date>" not in drawn


def test_all_that_the_page_quotes_is_compared() -> None:
    """Each block of text is that of an example that is run; the broken mechanism is compared below."""
    quoted = [name for name in NAMES if quoted_of(name)]
    blocks = [block for block in blocks_of("gallery.md", PAGE) if block.language == "text"]
    assert len(quoted) == len(blocks)
    assert set(quoted) == {name_of(script) for script in SCRIPTS} - {
        "baskets_from_file",
        "broken_mechanism",
    }


@pytest.mark.process
@pytest.mark.parametrize("name", STARTS)
def test_what_can_be_copied_runs(name: str, tmp_path: pathlib.Path) -> None:
    """The code of a section, copied into a file, by itself; what is more than a call is in the program."""
    copied = [block.text for block in blocks_of(name, section(name)) if block.language == "python"]
    program = (ROOT / "examples" / "gallery" / f"{name}.py").read_text()
    (defined,) = (STARTS[name] + text.partition(STARTS[name])[2] for text in copied if STARTS[name] in text)
    assert defined.strip() in program
    file = tmp_path / "copied.py"
    file.write_text("\n\n".join(copied).replace("50_000", "2_000"))
    ended = subprocess.run([sys.executable, file], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout


def test_the_tour_runs_from_top_to_bottom(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a program; its cells are statements, so there is nothing to import."""
    monkeypatch.setattr(sys, "argv", ["tour", "--quick", "--out", str(tmp_path / "picture.svg")])
    left = runpy.run_module("examples.gallery.tour", run_name="__main__")
    assert left["best"].set == {0, 1}
    assert left["audit"].passed
    assert (tmp_path / "picture.svg").stat().st_size > 1000


def test_the_page_shows_every_example() -> None:
    """Its picture, not too large and without a date, and the command that makes it."""
    for name in NAMES:
        assert f"python -m examples.gallery.{name} --out docs/gallery/{name}.svg" in section(name)
        drawn = (ROOT / "docs" / "gallery" / f"{name}.svg").read_text()
        assert len(drawn) < 150_000
        assert "<dc:date>" not in drawn


def test_audits_tell_broken_from_mended(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seeded: both breaches are proved, as the page says, and neither mended one is refuted.

    The scores are trained, so the last digits depend on the machine.
    """
    broken_mechanism.main(["--out", str(tmp_path / "picture.svg")])
    printed = capsys.readouterr().out
    verdicts = re.findall(r": (VIOLATED|not refuted)", printed)
    assert verdicts == ["VIOLATED", "not refuted"] * 2
    losses = [float(loss) for loss in re.findall(r"measured +epsilon >= ([\d.]+)", printed)]
    quoted = [float(loss) for loss in re.findall(r"at least (\d\.\d+)", section("broken_mechanism"))]
    assert losses[::2] == pytest.approx(quoted, abs=0.02)


def test_the_longest_way_is_submodular_and_the_shortest_is_not() -> None:
    """The example's function against its slow definition, and one that must be refused."""
    distances = [0.3, 0.1, 0.2]
    longest = own_set_function.Farthest(distances)
    assert is_submodular(longest)
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        prefixes = [max((distances[i] for i in order[:k]), default=0.0) for k in range(4)]
        assert longest.chain_values(order).tolist() == prefixes
        assert [longest(order[:k]) for k in range(4)] == prefixes
    shortest = discreet.set_functions.FromCallable(
        lambda chosen: min((distances[i] for i in chosen), default=9), 3
    )
    assert not is_submodular(shortest)


def test_a_custom_policy_is_saved_and_loaded(tmp_path: pathlib.Path) -> None:
    """By the name of its class; it goes on where it was."""
    learner = discreet.PolicyLearner(3, own_policy.OneByOne, 1.0, (0, 1), seed=3)
    for _ in range(200):
        learner.tell(learner.ask(), 0.5)
    learner.save(tmp_path / "learner")
    loaded = discreet.load(tmp_path / "learner")
    assert loaded.point.tolist() == learner.point.tolist()
    assert [loaded.ask().subset for _ in range(50)] == [learner.ask().subset for _ in range(50)]


def test_a_custom_policy_needs_no_compiler_of_its_own() -> None:
    """It learns which items lower the cost, from released sums alone: plain Python and numpy."""
    learner = discreet.PolicyLearner(4, own_policy.OneByOne, 8.0, (-1, 1), seed=1)
    for _ in range(3000):
        decision = learner.ask()
        learner.tell(decision, 0.2 * len(decision.subset & {0, 1}) - 0.2 * len(decision.subset & {2, 3}))
    assert learner.best == {2, 3}
