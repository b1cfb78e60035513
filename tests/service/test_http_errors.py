"""Messages about invalid requests name the field, and quote no value."""

import json
from collections.abc import Iterator

import pytest
from http_helpers import BANDIT, Service, code_of, service


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("store") / "shop.db") as found:
        yield found


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        ("epsilom", "There is no field 'epsilom'. Did you mean 'epsilon'?"),
        ("deadline", "There is no field 'deadline'. Did you mean 'deadline_seconds'?"),
        ("zzz", "There is no field 'zzz'. All fields are listed at /openapi.json."),
        ("0.7310585", "There is an unknown field. All fields are listed at /openapi.json."),
        ("anna@example", "There is an unknown field. All fields are listed at /openapi.json."),
        ("\n<b>", "There is an unknown field. All fields are listed at /openapi.json."),
        ("z" * 5000, "There is an unknown field. All fields are listed at /openapi.json."),
    ],
    ids=["near", "shorter", "far", "a number", "a person", "no text", "long"],
)
def test_an_unknown_field_of_a_learner_is_named(served: Service, field: str, hint: str) -> None:
    """With the nearest one. Neither its value is repeated nor a name that does not look like a field."""
    body = json.dumps(BANDIT | {"name": "new", field: "central"})
    answer = served.admin.post("/v1/learners", content=body, headers={"content-type": "application/json"})
    assert code_of(answer) == "invalid_request"
    assert answer.json()["error"]["message"] == hint


def test_unknown_fields_of_asks_and_tells_are_not_repeated(served: Service) -> None:
    """They may be private where people mistake one thing for another."""
    decision = served.ask()[0]["id"]
    for route, body in (("ask", {"anna": 1}), ("tell", {"decision": decision, "cost": 0.1, "anna": 1})):
        answer = served.worker.post(f"/v1/learners/shop/{route}", json=body)
        assert code_of(answer) == "invalid_request"
        assert "anna" not in answer.text


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"holdout": {"items": [], "share": 0.1}},
            "The field 'holdout.set' is missing. There is no field 'holdout.items'.",
        ),
        ({"holdout": {"set": [], "share": 1}}, "The field 'holdout.share' must be below 1."),
        ({"holdout": {"set": [], "shares": 0.1}}, "Did you mean 'holdout.share'?"),
        ({"policy": "nope"}, "There is no such policy here. A server has the custom policies that it was"),
    ],
    ids=["other field", "nested value", "near", "policy"],
)
def test_nested_fields_are_named_by_their_path(
    served: Service, more: dict[str, object], message: str
) -> None:
    """And a policy that the server does not have is not called by a name that no field has."""
    answer = served.admin.post("/v1/learners", json=BANDIT | {"name": "new"} | more)
    assert code_of(answer) == "invalid_request"
    assert message in answer.json()["error"]["message"]
