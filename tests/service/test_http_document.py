"""The OpenAPI document is true: requests made up from it are answered as it says, and never with a 5xx."""

from collections.abc import Iterator
from typing import Any
from unittest import SkipTest

import pytest
import schemathesis
from fastapi import FastAPI
from http_helpers import BANDIT, FULL, MODULAR, Service, service
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from discreet.service.app import AsciiJson
from discreet.service.web.errors import CODES
from discreet.service.web.openapi import document
from discreet.service.web.routes import add_routes, described

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]


def made() -> dict[str, Any]:
    """The document, made without a service."""
    app = FastAPI(default_response_class=AsciiJson)
    add_routes(app.router, None, None)  # type: ignore[arg-type] # nothing is called
    return document(app, described())


def operations() -> list[Any]:
    """All operations of the document."""
    schema = schemathesis.openapi.from_dict(made())
    return [found.ok() for found in schema.get_all_operations()]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("store") / "shop.db", log_requests=False) as found:
        yield found


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.label)
@pytest.mark.seconds
def test_made_up_requests_are_answered_as_described(
    served: Service, operation: Any, mode: GenerationMode
) -> None:
    """For every route: requests that fit the document and requests that do not."""
    unfit = mode is GenerationMode.NEGATIVE
    checks = [check for check in CHECKS if unfit or check is not negative_data_rejection]

    @given(case=operation.as_strategy(generation_mode=mode), learner=st.sampled_from(["shop", "plan", None]))
    @settings(
        max_examples=10,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answered(case: Any, learner: str | None) -> None:
        _aim(served, case, learner)
        case.headers = {**(case.headers or {}), "authorization": served.admin.headers["authorization"]}
        case.call_and_validate(base_url=served.address, checks=checks)

    try:
        answered()
    except (Unsatisfiable, SkipTest):
        assert unfit  # nothing that such a route is sent can be wrong


def _aim(served: Service, case: Any, learner: str | None) -> None:
    """Let a request name a learner that exists, and a decision of it. Ends of learners are not for these."""
    parameters = case.path_parameters or {}
    if learner is None or "name" not in parameters or case.path.endswith(("archive", "restart")):
        return
    parameters["name"] = learner
    told = case.body if case.path.endswith("/tell") and isinstance(case.body, dict) else {}
    if isinstance(told.get("decision"), str):
        told["decision"] = served.ask(learner)[0]["id"]


def test_every_code_is_in_the_document(served: Service) -> None:
    """And every status that a code has is described where it can happen."""
    document = served.nobody.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    shape = document["components"]["schemas"]["ErrorDetail"]["properties"]["code"]
    assert shape["enum"] == list(CODES)
    statuses = {s for path in document["paths"].values() for o in path.values() for s in o["responses"]}
    assert {str(status) for status, _ in CODES.values()} - statuses == {"405", "500"}


def test_the_document_that_is_served_is_the_one_that_is_tested(served: Service) -> None:
    """And all that routes give has a shape of its own; text is the page for Prometheus."""
    document = served.nobody.get("/openapi.json").json()
    assert document == made()
    given = {
        path: operation["responses"][status]["content"]
        for path, entry in document["paths"].items()
        for operation in entry.values()
        for status in operation["responses"]
        if status.startswith("2")
    }
    assert given.pop("/metrics") == {"text/plain": {"schema": {"type": "string"}}}
    assert all("$ref" in str(content["application/json"]["schema"]) for content in given.values()), given


def test_examples_are_taken_as_they_are(served: Service) -> None:
    """One for each body."""
    shapes = served.nobody.get("/openapi.json").json()["components"]["schemas"]

    def example(shape: str) -> dict[str, Any]:
        (body,) = shapes[shape]["examples"]
        found: dict[str, Any] = body
        return found

    learner = example("CreateLearner") | {"name": "as-shown"}  # requests made up above take the name, too
    assert served.admin.post("/v1/learners", json=learner).status_code == 201
    assert served.admin.put("/v1/populations/shown", json=example("SetLimit")).status_code == 200
    assert served.admin.post("/v1/keys", json=example("CreateKey")).status_code == 201
    decisions = served.ask(learner["name"], **example("AskRequest"))
    told = example("TellRequest") | {"decision": decisions[0]["id"]}
    answer = served.worker.post(f"/v1/learners/{learner['name']}/tell", json=told)
    assert answer.json() == {"code": "accepted"}


def test_learners_are_described_as_they_are(served: Service) -> None:
    """A request that uses every field is taken, for both kinds."""
    full = FULL | {"name": "every-f", "horizon": 9}
    bandit = BANDIT | {"name": "every-b", "maximize": True, "rounds_per_person": 3}
    served.admin.put("/v1/populations/all", json={"limit": 9})
    for wanted in (full, bandit):
        more = {"population": "all", "deadline_seconds": 9.5}
        assert served.admin.post("/v1/learners", json=wanted | more).status_code == 201
    told = {"function": MODULAR, "person": "me", "decision": served.ask("every-f")[0]["id"]}
    assert served.worker.post("/v1/learners/every-f/tell", json=told).json() == {"code": "accepted"}
