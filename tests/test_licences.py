"""What is installed to run discreet has licences that allow it: none is the GPL, with or without an A."""

import importlib.metadata
import re
import tomllib
from collections.abc import Iterable

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from code_blocks import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|ISC\b|ISCL|PSF|Python Software Foundation|Zlib|0BSD|CC0|Unlicense|Artistic|MPL|Mozilla",
    re.I,
)
#: Loaded as it is, and replaceable, as the lesser licence asks.
LESSER = {"psycopg", "psycopg-binary"}


def run_time() -> list[str]:
    """All requirements of users, with every extra but that of developers."""
    extras = PROJECT["optional-dependencies"]
    return PROJECT["dependencies"] + [line for name in extras if name != "dev" for line in extras[name]]


def reached(requirements: Iterable[str], extra: str = "") -> dict[str, importlib.metadata.Distribution]:
    """Everything that these lead to and that is installed here, by name."""
    found: dict[str, importlib.metadata.Distribution] = {}
    waiting = [(Requirement(line), extra) for line in requirements]
    seen: set[tuple[str, str]] = set()
    while waiting:
        wanted, within = waiting.pop()
        name = canonicalize_name(wanted.name)
        if wanted.marker and not wanted.marker.evaluate({"extra": within}):
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system, or an extra that is not installed here
        for inner in ["", *wanted.extras]:
            if (name, inner) not in seen:
                seen.add((name, inner))
                waiting += [(Requirement(line), inner) for line in found[name].requires or []]
    return found


def licence_of(metadata: importlib.metadata.PackageMetadata) -> str:
    """What a distribution says about its licence, in one line."""
    classifiers = [line for line in metadata.get_all("Classifier") or [] if line.startswith("License ::")]
    said = [
        metadata.get("License-Expression"),
        *classifiers,
        (metadata.get("License") or "").partition("\n")[0],
    ]
    return "; ".join(filter(None, said))


def verdict(name: str, licence: str) -> str:
    """Empty if a distribution may be used, else why not."""
    choices = re.split(r" OR |; ", licence)
    if any(PERMISSIVE.search(choice) and "GPL" not in choice for choice in choices):
        return ""
    if name in LESSER and "LGPL" in licence.replace("Lesser General Public License", "LGPL"):
        return ""
    return f"{name}: {licence or 'no licence'}"


DISTRIBUTIONS = reached(run_time())


def test_no_dependency_forbids_use() -> None:
    """Of any extra that is installed here; all that the core needs is."""
    assert {"numpy", "numba", "scipy", "cryptography", "fastapi", "psycopg"} <= set(DISTRIBUTIONS)
    refused = [verdict(name, licence_of(found.metadata)) for name, found in DISTRIBUTIONS.items()]
    assert list(filter(None, refused)) == []
