"""A guarantee as an entry of the public registry of deployments of differential privacy.

The registry is at https://registry.opendp.org, its schema at https://github.com/opendp/deployments-registry-data.
An entry has what follows from the guarantee; what only the people who deploy it know is left to fill in.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from discreet.errors import InvalidArgument
from discreet.privacy.guarantee import Guarantee, Neighbours

FILL_IN = "FILL IN"
_DATE = "1900-01-01"  # the registry's own placeholder: a date is required

_LOCAL_ACTORS = (
    "Each person's device, or the process that is told, sees one exact value and turns it into one random "
    "bit at once; it is trusted with that value only. Whoever collects or reads the bits is not trusted."
)
_CENTRAL_ACTORS = (
    "Whoever runs the learner sees exact values, keeps their sums in memory until noise is added, and is "
    "trusted. Whoever sees the chosen sets, reports or released sums is not trusted."
)
_MEASURES = (
    "Noise is sampled exactly, on integers, from cryptographic random bits, so there is no floating-point "
    "error; bounds are enforced for every input. Running time is not protected."
)


def registry_entry(guarantee: Guarantee) -> dict[str, Any]:
    """The entry as nested mappings; what it cannot know says ``FILL IN``.

    Examples:
        >>> entry = registry_entry(Guarantee(epsilon=0.5, local=True))
        >>> entry["deployment"]["privacy_loss"]["privacy_parameters"]
        {'epsilon': 0.5}
        >>> entry["deployment"]["deployment_model"]["model_name"]
        'Local'
    """
    if not guarantee.private:
        raise InvalidArgument(f"Only what is private can be registered. This is not: {guarantee.reason}.")
    return {
        "url_slug": "fill_in",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": _basic(),
            "dp_variant": _variant(guarantee),
            "privacy_loss": _loss(guarantee),
            "deployment_model": _model(guarantee),
            "accounting": _accounting(guarantee),
            "implementation": _implementation(guarantee),
            "administrative": {
                "sources": guarantee.proof or FILL_IN,
                "notes": str(guarantee),
                "registry_authors": [FILL_IN],
            },
        },
    }


def registry_yaml(guarantee: Guarantee) -> str:
    """The entry as a YAML file, with a comment wherever something is left to fill in."""
    return "\n".join(_lines(registry_entry(guarantee))) + "\n"


def _basic() -> dict[str, Any]:
    return {
        "name": FILL_IN,
        "data_curators": [FILL_IN],
        "description": f"Sets of items, chosen from private feedback, one after the other. {FILL_IN}: which",
        "intended_use": FILL_IN,
        "data_product_type": "Machine learning model",
        "data_product_region": FILL_IN,
        "publication_date": _DATE,
    }


def _variant(guarantee: Guarantee) -> dict[str, Any]:
    pure = "Pure DP" if guarantee.delta == 0 else "Approximate DP"
    reported = "" if guarantee.absence_hidden else " Who has reported feedback."
    return {
        "variant_name": pure if guarantee.rho is None else "Zero-concentrated DP",
        "data_domain": "Sequences of rounds; in each, the feedback of one person on one chosen set, or none.",
        "unprotected_quantities": f"Who took part, and when. Which items were available.{reported}",
    }


def _loss(guarantee: Guarantee) -> dict[str, Any]:
    rounds = guarantee.rounds_per_person
    extent = "one round" if rounds == 1 else f"up to {rounds} rounds"
    replaced = guarantee.neighbours is Neighbours.REPLACE_ONE_ROUND
    change = "is anything else" if replaced else "is the neutral value in one"
    stated = {"epsilon": guarantee.epsilon, "delta": guarantee.delta or None, "rho": guarantee.rho}
    return {
        "privacy_unit": f"A person's data in {extent}",
        "privacy_unit_details": "Two histories are adjacent if they agree in all rounds, but that in "
        f"{extent} the feedback {change}.",
        "privacy_parameters": {name: value for name, value in stated.items() if value is not None},
        "privacy_parameters_details": "For all that is ever released together, not for each release.",
    }


def _model(guarantee: Guarantee) -> dict[str, Any]:
    extent = "any number of rounds" if guarantee.horizon is None else f"{guarantee.horizon} rounds"
    return {
        "model_name": "Local" if guarantee.local else "Central",
        "actors": _LOCAL_ACTORS if guarantee.local else _CENTRAL_ACTORS,
        "release_type": "Many releases",
        "release_type_details": f"The parameters cover {extent}; there is no budget that is filled up again.",
        "data_source_type": "Dynamic",
        "data_source_type_details": "Each round brings new feedback.",
        "access_type": "Non-interactive",
        "access_type_details": "Nobody queries the data; inputs may depend on all earlier output.",
    }


def _accounting(guarantee: Guarantee) -> dict[str, Any]:
    rounds = guarantee.rounds_per_person
    group = "" if rounds == 1 else f" The loss of a person's rounds, up to {rounds}, is composed."
    return {
        "post_processing": "Models, chosen sets, means and reports are computed from released numbers only.",
        "composition": f"All releases that the data of one round can enter are bounded together.{group}",
    }


def _implementation(guarantee: Guarantee) -> dict[str, Any]:
    noise = (
        "One random bit per value (randomised response)"
        if guarantee.local
        else "Discrete noise on integer sums"
    )
    return {
        "preprocessing_and_hyperparameter_tuning": "Feedback is clipped to a range that was declared before. "
        f"{FILL_IN}: how the range and the parameters were chosen",
        "mechanisms": f"{noise}, by the library discreet. {_MEASURES}",
        "justification": FILL_IN,
    }


def _lines(section: Mapping[str, Any], indent: str = "") -> list[str]:
    """YAML: every text is quoted as in JSON, which YAML reads as well."""
    found = []
    for name, value in section.items():
        if isinstance(value, Mapping):
            found += [f"{indent}{name}:", *_lines(value, indent + "  ")]
        elif isinstance(value, list):
            found += [f"{indent}{name}:", *(f"{indent}  - {_scalar(entry)}" for entry in value)]
        else:
            found.append(f"{indent}{name}: {_scalar(value)}")
    return found


def _scalar(value: str | float) -> str:
    text = json.dumps(value)
    if not isinstance(value, str):
        return re.sub(r"^(-?\d+)e", r"\1.0e", text)  # as YAML wants a number with an exponent
    missing = FILL_IN in value.replace("_", " ").upper() or value == _DATE
    return text + (" # fill in" if missing else "")
