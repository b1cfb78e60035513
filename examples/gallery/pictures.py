"""What all examples of the gallery share: their two options, and how a picture is written."""

import argparse
import pathlib

import matplotlib
from matplotlib.axes import Axes

from discreet.simulation.canvas import DPI, drawing


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
    """Write the figure that the axes are part of; the same numbers give the same file, byte for byte."""
    dates = {"Date": None} if path.suffix in (".svg", ".svgz") else {}
    with drawing(), matplotlib.rc_context({"svg.hashsalt": "discreet"}):  # ticks are made when it is written
        axes.get_figure(root=True).savefig(path, dpi=DPI, metadata=dates)  # type: ignore[union-attr]
    print(f"The picture: {path}")
