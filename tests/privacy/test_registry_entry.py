"""Entries for the registry of deployments: the fields that it has, filled with what a guarantee says."""

from typing import Any

import pytest
import yaml

from discreet import BanditLearner, FullInformationLearner
from discreet.errors import InvalidArgument
from discreet.paper import SubmodPFTAL
from discreet.privacy import Guarantee
from discreet.privacy.registry import registry_entry, registry_yaml

#: The sections and fields of the registry's schema of July 2026, without some that may be left out.
FIELDS = {
    "basic": "name data_curators description intended_use data_product_type data_product_region "
    "publication_date",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details privacy_parameters privacy_parameters_details",
    "deployment_model": "model_name actors release_type release_type_details data_source_type "
    "data_source_type_details access_type access_type_details",
    "accounting": "post_processing composition",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms justification",
    "administrative": "sources notes registry_authors",
}
#: Fields that have one of a few values.
CHOICES = {
    "data_product_type": {"Summary statistics", "Machine learning model", "Dataset", "Interactive API"},
    "variant_name": {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"},
    "model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
    "release_type": {"One release", "Many releases"},
    "data_source_type": {"Static", "Dynamic"},
    "access_type": {"Interactive", "Non-interactive"},
}
LEARNERS = {
    "central": BanditLearner(2, 1.0, (0, 1)),
    "local": BanditLearner(2, 0.5, (0, 1), mode="local", rounds_per_person=3),
    "local with a delta": BanditLearner(2, 2.0, (0, 1), mode="local", rounds_per_person=90, delta=1e-6),
    "full": FullInformationLearner(2, 1.0, (0, 1)),
    "tree": SubmodPFTAL(2, 100, 1.0),
}
PROMISES = {name: learner.guarantee for name, learner in LEARNERS.items()}
PROMISES["zero-concentrated"] = Guarantee(rho=0.125)


@pytest.mark.parametrize("name", PROMISES)
def test_an_entry_has_the_fields_of_the_registry(name: str) -> None:
    """In YAML as in the mapping, with texts that are not empty, and values that the schema knows."""
    entry: dict[str, Any] = yaml.safe_load(registry_yaml(PROMISES[name]))
    assert entry == registry_entry(PROMISES[name])
    assert (entry["status"], entry["tier"], set(entry)) == (
        "Draft",
        3,
        {"url_slug", "status", "tier", "deployment"},
    )
    assert {section: set(fields) for section, fields in entry["deployment"].items()} == {
        section: set(fields.split()) for section, fields in FIELDS.items()
    }
    every = {field: value for fields in entry["deployment"].values() for field, value in fields.items()}
    assert all(every.values())
    assert {field for field in CHOICES if every[field] not in CHOICES[field]} == set()
    assert isinstance(every["publication_date"], str)
    assert all(isinstance(value, float) for value in every["privacy_parameters"].values())


def test_an_entry_says_what_the_guarantee_says() -> None:
    """Its parameters, who is trusted, for how long, and what is not hidden."""
    found = {name: registry_entry(promise)["deployment"] for name, promise in PROMISES.items()}
    parameters = {name: entry["privacy_loss"]["privacy_parameters"] for name, entry in found.items()}
    assert parameters["central"] == {"epsilon": 1.0}
    assert parameters["local with a delta"] == {"epsilon": 2.0, "delta": 1e-6}
    assert parameters["zero-concentrated"] == {"rho": 0.125}
    assert found["local"]["deployment_model"]["model_name"] == "Local"
    assert found["central"]["deployment_model"]["model_name"] == "Central"
    assert found["local"]["privacy_loss"]["privacy_unit"] == "A person's data in up to 3 rounds"
    assert "100 rounds" in found["tree"]["deployment_model"]["release_type_details"]
    assert [
        name for name, entry in found.items() if "reported" in entry["dp_variant"]["unprotected_quantities"]
    ] == [name for name, promise in PROMISES.items() if not promise.absence_hidden]


def test_what_is_left_to_people_is_marked() -> None:
    """Once per field that no guarantee knows, and only there."""
    lines = registry_yaml(PROMISES["central"]).splitlines()
    assert [line for line in lines if ("FILL IN" in line) and not line.endswith("# fill in")] == []
    assert sum(line.endswith("# fill in") for line in lines) == 10


def test_what_is_not_private_cannot_be_registered() -> None:
    """The reason is given."""
    seeded = BanditLearner(2, 1.0, (0, 1), seed=1)
    with pytest.raises(InvalidArgument, match="Only what is private"):
        registry_entry(seeded.guarantee)
