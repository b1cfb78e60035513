"""What the examples share: two options, lines with names at their ends, and how a picture is written."""

import argparse
import pathlib
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

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


def draw_euros(
    customers: Sequence[float], euros: Mapping[str, Sequence[float]], looks: Mapping[str, tuple[str, str]]
) -> Axes:
    """Euros so far against customers, from 0 on; each line has its name and what it came to at its end.

    `looks` has the colour and the dashes of each line. The first line is the most important one.
    """
    with canvas.drawing():
        axes = canvas.new_axes((7.6, 4.0))
        lines = {name: [0.0, *sums] for name, sums in euros.items()}
        gap = 0.06 * (max(map(max, lines.values())) - min(map(min, lines.values())))
        height = float("inf")
        for name, sums in sorted(lines.items(), key=lambda line: -line[1][-1]):
            colour, dashes = looks[name]
            axes.plot([0, *customers], sums, color=colour, linestyle=dashes, linewidth=2)
            height = min(sums[-1], height - gap)
            end = (1.015 * customers[-1], height)
            weight = "bold" if name == next(iter(euros)) else "normal"
            text = f"{name}  {sums[-1]:z,.0f}"
            axes.annotate(text, end, color=colour, weight=weight, va="center", annotation_clip=False)
        axes.set_xlim(0, customers[-1])
        axes.set_xlabel("customers")
        axes.set_title("Euros earned so far", loc="left", fontsize=11)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:z,.0f}"))
    return axes


def save(axes: Axes, path: pathlib.Path) -> Axes:
    """Write the figure that the axes are part of, and say so; a notebook shows what is given back."""
    canvas.save(axes, path)
    print(f"The picture: {path}")
    return axes
