"""``discreet guarantee``: what a learner promises, from a description or a file."""

import json
import pathlib

import pytest
import yaml

import discreet
from commands import run


def test_a_description(capsys: pytest.CaptureFixture[str]) -> None:
    """The same promise as that of the learner it describes, as text and as data."""
    given = ["--epsilon", "0.5", "--local", "--rounds-per-person", "3"]
    code, out, _ = run(capsys, "guarantee", *given)
    learner = discreet.BanditLearner(4, 0.5, (-3, 1), mode="local", rounds_per_person=3)
    assert (code, " ".join(out.split())) == (0, str(learner.guarantee))
    found = json.loads(run(capsys, "guarantee", *given, "--json")[1])
    assert (found["epsilon"], found["local"], found["neighbours"]) == (0.5, True, "replace one round")
    full = discreet.FullInformationLearner(4, 0.5, (-3, 1)).guarantee
    assert " ".join(run(capsys, "guarantee", "--epsilon", "0.5", "--full")[1].split()) == str(full)


def test_a_file_is_only_read(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """A learner with secrets can be loaded afterwards; in the service who has reported is public."""
    learner = discreet.BanditLearner(["tea", "milk"], 0.25, (0, 1))
    learner.tell(learner.ask(), 0.5)
    promise, file = learner.guarantee, tmp_path / "shop.learner"
    learner.save(file)
    before = file.read_bytes()
    code, out, _ = run(capsys, "guarantee", file)
    assert (code, " ".join(out.split())) == (0, str(promise))
    assert file.read_bytes() == before
    entry = yaml.safe_load(run(capsys, "guarantee", file, "--service", "--registry")[1])
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.25}
    assert "reported" in entry["deployment"]["dp_variant"]["unprotected_quantities"]
    assert discreet.load(file).items == ("tea", "milk")


@pytest.mark.parametrize(
    "given",
    [
        [],
        ["nowhere.learner"],
        ["nowhere.learner", "--epsilon", "1"],
        ["nowhere.learner", "--local"],
        ["--epsilon", "1", "--full", "--local"],
        ["--epsilon", "-1"],
    ],
)
def test_what_describes_no_learner_is_refused(capsys: pytest.CaptureFixture[str], given: list[str]) -> None:
    """In one line."""
    code, out, err = run(capsys, "guarantee", *given)
    assert (code, out, err.count("\n")) == (2, "", 1)
