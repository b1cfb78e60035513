"""What a bare `import discreet` loads, and that every public name is there."""

import re
import subprocess
import sys
import tomllib

import pytest

import discreet
from code_blocks import ROOT

HEAVY = {
    "numba",
    "llvmlite",
    "scipy",
    "numpy",
    "cryptography",
    "matplotlib",
    "polars",
    "pyarrow",
    "opendp",
    "fastapi",
}


def modules_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.mark.process
def test_bare_import_loads_nothing_heavy() -> None:
    """Compilers, solvers and plots wait until they are used."""
    assert not modules_after("import discreet") & HEAVY


@pytest.mark.process
def test_a_client_needs_no_compiler() -> None:
    """Randomising a bit and sending it loads httpx2, no arrays, and none of what a server needs."""
    loaded = modules_after(
        "import discreet; discreet.Client, discreet.Pinned(1.0, (0, 1)).randomizer().release(1)"
    )
    assert not loaded & (HEAVY | {"sqlalchemy", "psycopg", "uvicorn", "sqlite3"})


def test_what_clients_consist_of_names_no_package() -> None:
    """Its modules import each other by relative names: they are in `discreet` and in `discreet_client`."""
    project = ROOT / "clients" / "python"
    wheel = tomllib.loads((project / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]
    named = [project / name for name in wheel["force-include"]]
    files = [file for path in named for file in (path.glob("*.py") if path.is_dir() else [path])]
    texts = {file: file.read_text() for file in files if file.suffix == ".py"}
    assert {"arguments.py", "asynchronous.py", "grid.py", "randomizers.py"} <= {file.name for file in texts}
    absolute = re.compile(r"^ *(?:from|import) discreet", re.MULTILINE)
    assert [file for file, text in texts.items() if absolute.search(text)] == []


def test_every_public_name_exists() -> None:
    """Everything in __all__ can be had, and dir() lists it."""
    assert all(hasattr(discreet, name) for name in discreet.__all__)
    assert set(discreet.__all__) <= set(dir(discreet))


def test_unknown_names_are_attribute_errors() -> None:
    """A typo is an AttributeError, as for any module."""
    with pytest.raises(AttributeError, match="no attribute 'minimise'"):
        _ = discreet.minimise
