"""What others read: CITATION.cff, the description made of the README, the entry for a registry."""

import re
import subprocess
import sys

import yaml

import discreet
from code_blocks import ROOT, blocks

sys.path.insert(0, str(ROOT))
from hatch_build import portable

README = (ROOT / "README.md").read_text()


def test_the_citation_is_of_this_version() -> None:
    """In the format of CITATION.cff, with the version and the date that the changelog has."""
    file = ROOT / "CITATION.cff"
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format"]
    subprocess.run([*command, str(file)], check=True, capture_output=True)
    cited = yaml.safe_load(file.read_text())
    assert cited["version"] == discreet.__version__
    assert f"## {cited['version']} - {cited['date-released']}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_description_has_no_relative_links() -> None:
    """Each file that the README links to is linked by the address of the repository, pictures as they are."""
    linked = re.findall(r"\]\((?!https?://)([^)#]+)", README)
    assert len(linked) > 8
    text = portable(README, "https://example.org/shop")
    assert re.findall(r"\]\((?!https?://)", text) == []
    for target in linked:
        kind = "raw" if target.endswith(".svg") else "blob"
        assert f"](https://example.org/shop/{kind}/main/{target}" in text


def test_the_registry_entry_is_yaml() -> None:
    """With all sections of the registry of deployments; what is left to fill in is marked, and only that."""
    (entry,) = [block.text for block in blocks(ROOT / "docs" / "nist.md") if block.language == "yaml"]
    sections = "basic dp_variant privacy_loss deployment_model accounting implementation administrative"
    assert set(yaml.safe_load(entry)["deployment"]) == set(sections.split())
    marked = [line for line in entry.splitlines() if line.endswith("# fill in")]
    assert len(marked) == len(re.findall("FILL IN|fill_in|1900", entry))
