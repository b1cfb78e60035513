"""What a bare `import discreet` loads, and that every public name is there."""

import subprocess
import sys

import pytest

import discreet

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


def test_every_public_name_exists() -> None:
    """Everything in __all__ can be had, and dir() lists it."""
    assert all(hasattr(discreet, name) for name in discreet.__all__)
    assert set(discreet.__all__) <= set(dir(discreet))


def test_unknown_names_are_attribute_errors() -> None:
    """A typo is an AttributeError, as for any module."""
    with pytest.raises(AttributeError, match="no attribute 'minimise'"):
        _ = discreet.minimise
