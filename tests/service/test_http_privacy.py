"""No value changes an answer, and none is repeated: not in answers, logs, metrics or errors."""

import json
import logging
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from http_helpers import BANDIT, FULL, MODULAR, Service, service

from discreet.service.records import Feedback
from discreet.service.web.errors import HttpError
from discreet.service.web.json_bodies import read_json

#: Something that nothing else would write.
PLANTED = "73105857863"
DEEP = 200_000
PARTS = {key: BANDIT[key] for key in ("feedback", "items", "epsilon", "cost_range")} | {
    "name": "parts",
    "item_total": 1.0,
}

#: JSON of every kind, written out: what a cost, a bit or a function may be.
VALUES = [
    "0.25",
    "-0",
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "-Infinity",
    "null",
    "true",
    '"0.25"',
    '"' + "x" * 5000 + '"',
    '"\\ud800\\u0000"',
    "[]",
    "{}",
    '{"cost": {"cost": [0.25]}}',
    "9" * 10_000,
    "-" + "9" * 400,
    "0." + "3" * 10_000,
    "[" * DEEP + "]" * DEEP,
    '{"a":' * 5000 + "1" + "}" * 5000,
    '{"kind": "Modular"}',
    '{"kind": "Modular", "weights": [1e999, "x", null]}',
    '{"kind": "Modular", "weights": [1, 2]}',
    '{"kind": "Table", "values": [[1]]}',
    '{"kind": "Nothing"}',
    '{"kind": "Iwata", "n": 1000000000000}',
    '{"kind": "Iwata", "n": 1e999}',
    '{"kind": "Sum", "functions": [{"kind": "Modular", "weights": [1]}, {"kind": "Iwata", "n": 1e12}]}',
    '{"kind": 7}',
    json.dumps(MODULAR),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("store") / "shop.db", log_requests=False) as found:
        for name, settings in (("till", BANDIT), ("parts", BANDIT | {"item_total": 1.0}), ("all", FULL)):
            central = {key: value for key, value in settings.items() if key not in ("mode", "method")}
            assert found.admin.post("/v1/learners", json=central | {"name": name}).status_code == 201
        yield found


@pytest.mark.parametrize(
    ("learner", "field"),
    [
        ("shop", "cost"),
        ("shop", "bit"),
        ("plan", "function"),
        ("till", "cost"),
        ("all", "function"),
        ("parts", "items"),
    ],
)
def test_every_value_gets_the_same_answer(served: Service, learner: str, field: str) -> None:
    """Byte for byte, headers included, alone and in a list; so is a value that is missing."""
    tell = f"/v1/learners/{learner}/tell"
    decisions = served.ask(learner, count=2 * len(VALUES) + 1)
    answers = set()
    for value, decision in zip(VALUES, decisions, strict=False):
        body = f'{{"decision": "{decision["id"]}", "{field}": {value}}}'
        answer = served.worker.post(tell, content=body.encode())
        headers = tuple((k, v) for k, v in answer.headers.items() if k != "date")
        answers.add((answer.status_code, answer.content, headers))
    missing = served.worker.post(tell, json={"decision": decisions[-1]["id"]})
    headers = tuple((k, v) for k, v in missing.headers.items() if k != "date")
    answers.add((missing.status_code, missing.content, headers))
    ((status, content, _),) = answers
    assert (status, content) == (200, b'{"code":"accepted"}')
    listed = ",".join(
        f'{{"{field}": {value}, "decision": "{decision["id"]}"}}'
        for value, decision in zip(VALUES, decisions[len(VALUES) :], strict=False)
    )
    answer = served.worker.post(tell, content=f"[{listed}]".encode())
    assert answer.json() == {"codes": ["accepted"] * len(VALUES)}


def test_a_bit_for_a_central_learner_is_refused_whatever_it_is(served: Service) -> None:
    """It takes costs; the answer is the same for bits and for what is none."""
    answers = set()
    for value, decision in zip(VALUES, served.ask("till", count=len(VALUES)), strict=True):
        body = f'{{"decision": "{decision["id"]}", "bit": {value}}}'
        answer = served.worker.post("/v1/learners/till/tell", content=body.encode())
        answers.add((answer.status_code, answer.content))
    ((status, content),) = answers
    assert (status, json.loads(content)["error"]["code"]) == (400, "invalid_feedback")


def test_people_beyond_their_rounds_get_the_same_answer(served: Service) -> None:
    """The second piece of a person's feedback does not count, and nobody can tell."""
    served.admin.post("/v1/learners", json=BANDIT | {"name": "people"})
    answers = [
        served.worker.post(
            "/v1/learners/people/tell", json={"decision": decision["id"], "cost": 1, "person": "me"}
        )
        for decision in served.ask("people", count=3)
    ]
    assert {(answer.status_code, answer.content) for answer in answers} == {(200, b'{"code":"accepted"}')}
    shown = served.reader.get("/v1/learners/people").json()
    assert (shown["rounds"], shown["counts"]["told"]) == (1, 3)


def planting(decision: str, part: str) -> list[tuple[str, Any]]:
    """Requests with something planted in each place where there should be nothing, or something else."""
    number = float(PLANTED)
    tell, ask, parts = "/v1/learners/shop/tell", "/v1/learners/shop/ask", "/v1/learners/parts/tell"
    return [
        (tell, {"decision": decision, "cost": number, "person": PLANTED}),
        (tell, {"decision": "0" * 32, "cost": number, "person": PLANTED}),
        (tell, {"decision": PLANTED, "cost": 1}),
        (tell, {"decision": number}),
        (tell, {PLANTED: 1, "decision": decision}),
        (tell, {"decision": decision, "function": {"kind": PLANTED}}),
        (tell, {"decision": decision, "cost": number, "bit": number}),
        (tell, {"decision": decision, "person": [number]}),
        (tell, {"decision": decision, "cost": number, "items": {PLANTED: number}}),
        (parts, {"decision": part, "cost": number, "items": {PLANTED: number, "tea": PLANTED}}),
        (parts, {"decision": part, "items": [PLANTED], "bit": number}),
        (parts, {"decision": part, "items": {PLANTED: {PLANTED: number}}, PLANTED: 1}),
        (parts, {"decision": "0" * 32, "items": {PLANTED: number}}),
        (tell, [{"decision": decision, "cost": number}, PLANTED]),
        (tell, [{"decision": PLANTED, "cost": number}]),
        (tell, PLANTED),
        (f"{tell}?cost={PLANTED}", {"decision": decision}),
        (ask, {"count": PLANTED}),
        (ask, {PLANTED: number}),
        (ask, {"available": [[PLANTED]]}),
        (ask, {"request_id": [PLANTED]}),
        ("/v1/learners", {"name": [PLANTED], "epsilon": PLANTED, PLANTED: {PLANTED: 1}}),
        ("/v1/learners", [PLANTED]),
        ("/v1/learners", BANDIT | {"items": [{PLANTED: 1}], "required": PLANTED}),
        ("/v1/keys", {"role": PLANTED, "label": [PLANTED]}),
        (f"/v1/learners/{PLANTED}/archive?{PLANTED}", {}),
        (f"/{PLANTED}", {PLANTED: PLANTED}),
    ]


@pytest.mark.seconds
def test_nothing_planted_comes_back(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """In errors, logs and metrics, whatever was wrong. Addresses may be answered with the name in them."""
    caplog.set_level(logging.DEBUG, "discreet")
    caplog.set_level(logging.DEBUG, "uvicorn")
    with service(tmp_path / "shop.db") as served:
        assert served.admin.post("/v1/learners", json=PARTS).status_code == 201
        (decision,), (part,) = served.ask(), served.ask("parts")
        for path, body in planting(decision["id"], part["id"]):
            for form in (json.dumps(body), json.dumps(body)[:-1], json.dumps(body) + PLANTED):
                answer = served.admin.post(path, content=form, headers={"content-type": "application/json"})
                assert answer.status_code < 500
                if PLANTED not in path:
                    assert PLANTED not in answer.text
        odd = served.admin.request(PLANTED, f"/v1/learners/{PLANTED}/tell?{PLANTED}")
        assert odd.status_code in (400, 405)
        metrics = served.reader.get("/metrics").text
    out, err = capfd.readouterr()
    for text in (metrics, out, err, caplog.text):
        assert PLANTED not in text
    lines = [json.loads(line) for line in err.splitlines()]
    assert {tuple(sorted(line)) for line in lines if line["event"] == "request"} == {
        ("event", "key", "learner", "level", "method", "milliseconds", "route", "status", "time")
    }
    assert {line["learner"] for line in lines if line["event"] == "request"} == {None, "shop", "parts"}


def test_errors_are_logged_without_their_messages(
    tmp_path: pathlib.Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An exception that nobody foresaw is told by kind and place: its message may quote a value."""

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError(PLANTED)

    with service(tmp_path / "shop.db") as served:
        monkeypatch.setattr(served.learner_service, "submit_tell", fails)
        monkeypatch.setattr(served.learner_service, "page", fails)
        answers = [
            served.worker.post("/v1/learners/shop/tell", json={"decision": "0" * 32, "cost": 1}),
            served.reader.get("/v1/learners"),
        ]
    for answer in answers:
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
        assert PLANTED not in answer.text
    out, err = capfd.readouterr()
    assert PLANTED not in out + err + caplog.text
    failed = [record.getMessage() for record in caplog.records if record.name == "discreet.service"]
    assert len(failed) == 2
    assert all("ZeroDivisionError at" in message for message in failed)


def test_feedback_shows_no_value() -> None:
    """Not even when somebody prints it."""
    assert PLANTED not in repr(Feedback("0" * 32, cost=PLANTED, items={PLANTED: PLANTED}, person=PLANTED))


def test_deep_json_is_read_as_far_as_it_matters() -> None:
    """What is nested too deep becomes null; strings that look like brackets stay strings."""
    deep = b'{"a": ' + b"[" * DEEP + b"]" * DEEP + b', "b": "]}\\"[{", "c": [1, {"d": 2}]}'
    found = read_json(deep)
    assert (found["b"], found["c"]) == (']}"[{', [1, {"d": 2}])
    inner = found["a"]
    while inner:
        (inner,) = inner
    assert inner is None
    with pytest.raises(HttpError):
        read_json(b"[" * DEEP)
    assert read_json(b"") == {}


def test_a_string_that_never_ends_is_one_token() -> None:
    """It is not scanned again from each of its escapes, and it is refused."""
    from discreet.service.web.errors import HttpError
    from discreet.service.web.json_bodies import _TOKEN, read_json

    assert len(_TOKEN.findall('"' + '\\"' * 1000)) == 1
    with pytest.raises(HttpError):
        read_json(b"[" * 2000 + b'"' + b'\\"' * 31_000)


def test_items_are_refused_by_the_kind_of_learner_alone(served: Service) -> None:
    """Whatever they are: with the reason, also in a list, and nothing of it is taken."""
    for learner in ("shop", "plan", "till", "all"):
        alone, listed = set(), set()
        decisions = served.ask(learner, count=len(VALUES))
        for value, decision in zip(VALUES, decisions, strict=True):
            body = f'{{"decision": "{decision["id"]}", "cost": 1, "items": {value}}}'
            for content, answers in ((body, alone), (f"[{body}]", listed)):
                answer = served.worker.post(f"/v1/learners/{learner}/tell", content=content.encode())
                answers.add((answer.status_code, answer.content))
        ((status, refused),) = alone
        assert (status, json.loads(refused)["error"]["code"]) == (400, "invalid_feedback")
        assert b"'item_total'" in refused
        assert listed == {(200, b'{"codes":["invalid_feedback"]}')}
        told = served.reader.get(f"/v1/learners/{learner}").json()["counts"]
        assert told["pending"] >= len(VALUES)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:20])
def test_names_and_numbers_of_items_change_no_answer(served: Service, value: str) -> None:
    """Of items that were shown and of others, in names and in numbers."""
    (decision,) = served.ask("parts")
    named = json.dumps(value)[:2000]
    items = f'{{"tea": {value}, "milk": 0.25, {json.dumps(named)}: {value}}}'
    body = f'{{"decision": "{decision["id"]}", "cost": 0.5, "items": {items}}}'
    answer = served.worker.post("/v1/learners/parts/tell", content=body.encode())
    assert (answer.status_code, answer.content) == (200, b'{"code":"accepted"}')


def test_times_of_functions_are_not_told(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    """How long one takes to be evaluated says something about it; and of items, how many were named."""
    with service(tmp_path / "shop.db") as served:
        assert served.admin.post("/v1/learners", json=PARTS).status_code == 201
        tells = [("plan", {"function": MODULAR}), ("parts", {"cost": 1, "items": {"tea": 1}})]
        for learner, value in [*tells, ("shop", {"cost": 1})]:
            (decision,) = served.ask(learner)
            body = {"decision": decision["id"], **value}
            assert served.worker.post(f"/v1/learners/{learner}/tell", json=body).status_code == 200
        metrics = served.reader.get("/metrics").text
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    times = {
        line["learner"]: line["milliseconds"] for line in lines if line.get("route", "").endswith("/tell")
    }
    assert times["plan"] is times["parts"] is None
    assert times["shop"] > 0
    assert 'discreet_request_seconds_count{route="/v1/learners/{name}/tell"} 1.0' in metrics
