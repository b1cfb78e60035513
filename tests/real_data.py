"""Where real data are found."""

import os
import pathlib

import pytest


def data_file(name: str) -> pathlib.Path:
    """A file of the folder that DISCREET_DATA names; without it the test is skipped."""
    folder = os.environ.get("DISCREET_DATA")
    if not folder or not (pathlib.Path(folder) / name).exists():
        pytest.skip("DISCREET_DATA names no folder with the data")
    return pathlib.Path(folder) / name
