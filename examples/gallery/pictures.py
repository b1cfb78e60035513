"""What all examples of the gallery share: their two options, and how a picture is written."""

import argparse
import pathlib

from matplotlib.axes import Axes

from discreet.plots import canvas


def options(description: str | None, picture: str) -> argparse.ArgumentParser:
    """A parser with `--out` and `--quick`; an example may add options of its own."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path(picture), help="where the picture is written"
    )
    parser.add_argument("--quick", action="store_true", help="few rounds: only to see that it runs")
    return parser


def save(axes: Axes, path: pathlib.Path) -> None:
    """Write the figure that the axes are part of, and say so."""
    canvas.save(axes, path)
    print(f"The picture: {path}")
