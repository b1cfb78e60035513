"""The command ``discreet minimize``."""

import pathlib

from discreet import minimize
from discreet.cli.output import print_json
from discreet.errors import InvalidArgument
from discreet.set_functions import from_json


def run(file: pathlib.Path, json: bool) -> None:
    """Read a set function and print its best set."""
    try:
        text = file.read_text()
    except UnicodeDecodeError:
        raise InvalidArgument(f"The file {file} is not text.") from None
    found = minimize(from_json(text))
    if json:
        print_json(found)
        return
    print(f"set    {sorted(found.set)}")
    print(f"value  {found.value:.12g}")
    print(f"bound  {found.lower_bound:.12g} ({found.method}, {found.stopped})")
