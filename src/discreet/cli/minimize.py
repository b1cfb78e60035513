"""The command ``discreet minimize``."""

import json as json_module
import pathlib

from discreet import minimize
from discreet.cli.output import print_json
from discreet.errors import InvalidArgument
from discreet.set_functions import SetFunction


def run(file: pathlib.Path, json: bool) -> None:
    """Read a set function and print its best set."""
    try:
        described = json_module.loads(file.read_text())
    except ValueError as error:
        raise InvalidArgument(f"The file {file} is not JSON: {error}.") from None
    if not isinstance(described, dict):
        raise InvalidArgument(f"The file {file} does not describe a set function: it holds no JSON object.")
    found = minimize(SetFunction.from_dict(described))
    if json:
        print_json(found)
        return
    print(f"set    {sorted(found.set)}")
    print(f"value  {found.value:.12g}")
    print(f"bound  {found.lower_bound:.12g} ({found.method}, {found.stopped})")
