"""The picture of the README is drawn from the demo's learners."""

import itertools
import pathlib

from examples.gallery.pictures import save

from benchmarks import earned_picture


def test_every_line_has_its_name_and_its_end(tmp_path: pathlib.Path) -> None:
    """One for what was possible and one per built-in learner; names do not collide."""
    axes = earned_picture.draw(rounds=400, seeds=2)
    names = [text.get_text().rsplit("  ", 1)[0] for text in axes.texts]
    assert sorted(names) == sorted([earned_picture.POSSIBLE, *earned_picture.NAMES.values()])
    for line, text in zip(axes.lines, axes.texts, strict=True):
        assert f"{line.get_ydata()[-1]:z,.0f}" == text.get_text().rsplit("  ", 1)[1]
    heights = [text.get_position()[1] for text in axes.texts]
    drawn = [value for line in axes.lines for value in line.get_ydata()]
    assert all(a - b > 0.05 * (max(drawn) - min(drawn)) for a, b in itertools.pairwise(heights))
    save(axes, tmp_path / "picture.svg")
    assert "<svg" in (tmp_path / "picture.svg").read_text()
