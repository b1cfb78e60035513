"""Keys, roles, sizes and rates."""

import contextlib
import pathlib
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from http_helpers import Service, client, code_of, listening, service
from starlette.routing import Route

from discreet import dashboard
from discreet.errors import Busy, InvalidArgument, StoreError, UnknownName
from discreet.service import api_keys
from discreet.service.api_keys import ApiKeys
from discreet.service.app import create_app
from discreet.service.learner_service import LearnerService
from discreet.service.web.errors import HttpError
from discreet.service.web.limits import RateLimiter
from discreet.storage.writing import Writing


@pytest.fixture
def served(tmp_path: pathlib.Path) -> Iterator[Service]:
    with service(tmp_path / "shop.db") as found:
        yield found


#: What each route needs; those that are not listed need no key.
NEEDS = {
    ("POST", "/v1/learners"): "admin",
    ("POST", "/v1/learners/{name}/archive"): "admin",
    ("POST", "/v1/learners/{name}/items"): "admin",
    ("POST", "/v1/learners/{name}/restart"): "admin",
    ("PUT", "/v1/populations/{name}"): "admin",
    ("POST", "/v1/keys"): "admin",
    ("GET", "/v1/keys"): "admin",
    ("DELETE", "/v1/keys/{key_id}"): "admin",
    ("POST", "/v1/learners/{name}/ask"): "ask_tell",
    ("POST", "/v1/learners/{name}/tell"): "ask_tell",
    ("GET", "/v1/learners"): "read",
    ("GET", "/v1/learners/{name}"): "read",
    ("GET", "/v1/learners/{name}/guarantee"): "read",
    ("GET", "/v1/learners/{name}/history"): "read",
    ("GET", "/v1/populations"): "read",
    ("GET", "/v1/populations/{name}"): "read",
    ("GET", "/metrics"): "read",
}
OPEN = {
    ("GET", "/livez"),
    ("GET", "/readyz"),
    ("GET", "/openapi.json"),
} | {(method, file.path) for file in dashboard.files() for method in ("GET", "HEAD")}


def test_every_route_needs_its_role(served: Service) -> None:
    """Nobody gets in without a key; a lesser role is refused; the list above is complete."""
    document = served.nobody.get("/openapi.json").json()
    described = {(m.upper(), path) for path, entry in document["paths"].items() for m in entry}
    inner = {(m, r.path) for r in served.app._app.routes if isinstance(r, Route) for m in r.methods or ()}
    assert described | inner == set(NEEDS) | OPEN
    ranks = {"read": 0, "ask_tell": 1, "admin": 2}
    for (method, path), role in NEEDS.items():
        address = path.replace("{name}", "shop").replace("{key_id}", "nobody")
        answer = served.nobody.request(method, address)
        assert (answer.status_code, code_of(answer)) == (401, "unauthorized"), address
        assert answer.headers["www-authenticate"] == "Bearer"
        assert document["paths"][path][method.lower()]["x-role"] == role
        for given, rank in ranks.items():
            clients = {"read": served.reader, "ask_tell": served.worker}
            if rank < ranks[role]:
                answer = clients[given].request(method, address)
                assert (answer.status_code, code_of(answer)) == (403, "forbidden"), (address, given)
    for method, path in OPEN:
        assert served.nobody.request(method, path).status_code == 200


def test_keys_are_made_shown_once_and_revoked_at_once(served: Service) -> None:
    """The list shows ids; a revoked key is refused."""
    made = served.admin.post("/v1/keys", json={"role": "read", "label": "till 3"}).json()
    assert re.fullmatch(rf"discreet_{made['id']}_[0-9a-f]{{64}}", made["key"])
    listed = served.admin.get("/v1/keys")
    assert made["key"].rpartition("_")[2] not in listed.text
    assert {name: value for name, value in made.items() if name != "key"} in listed.json()["keys"]
    with client(served.address, made["key"]) as holder:
        assert holder.get("/v1/learners").status_code == 200
        assert served.admin.delete(f"/v1/keys/{made['id']}").json()["id"] == made["id"]
        assert holder.get("/v1/learners").status_code == 401
    assert code_of(served.admin.delete(f"/v1/keys/{made['id']}")) == "not_found"
    for wanted in ({"role": "root"}, {"role": "read", "label": "\n"}, {"role": "read", "key": "mine"}, {}):
        assert served.admin.post("/v1/keys", json=wanted).status_code == 400


def test_the_last_admin_key_stays(served: Service) -> None:
    """Otherwise nobody could make another over HTTP."""
    (mine,) = [key["id"] for key in served.admin.get("/v1/keys").json()["keys"] if key["role"] == "admin"]
    answer = served.admin.delete(f"/v1/keys/{mine}")
    assert (answer.status_code, code_of(answer)) == (400, "invalid_request")
    assert served.admin.get("/v1/keys").status_code == 200


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Basic abc", "Bearer discreet_0000000000000000_" + "0" * 64, "Bearer \xe9"],
)
def test_invalid_keys(served: Service, header: str) -> None:
    """Is answered like no key at all."""
    answer = served.nobody.get("/v1/learners", headers={"authorization": header.encode("latin-1")})
    assert (answer.status_code, code_of(answer)) == (401, "unauthorized")


def test_keys_are_stored_as_digests(tmp_path: pathlib.Path) -> None:
    """No byte of the database is part of a key but its id; a wrong secret behind a right id is refused."""
    with LearnerService.open(tmp_path / "shop.db") as learner_service:
        key = learner_service.api_keys.first()
        assert key is not None
        assert learner_service.api_keys.first() is None
        api_key, other = learner_service.api_keys.create("ask_tell", "till")
        assert learner_service.api_keys.find(other) == api_key
        assert learner_service.api_keys.find(other[:-1] + ("0" if other[-1] != "0" else "1")) is None
        with pytest.raises(InvalidArgument):
            learner_service.api_keys.create("root")
        with pytest.raises(UnknownName):
            learner_service.api_keys.revoke("nobody")
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (key.rpartition("_")[2], other.rpartition("_")[2]):
        assert secret.encode() not in written
        assert bytes.fromhex(secret) not in written


def test_one_admin_key_is_left(
    postgres: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes revoke the keys of two admins at once: one of them is refused."""
    file = tmp_path / "key"
    with (
        LearnerService.open(postgres, key_file=file) as one,
        LearnerService.open(postgres, key_file=file) as two,
    ):
        names = [one.api_keys.create("admin")[0].id for _ in range(2)]
        both = threading.Barrier(2)
        by_id = api_keys._by_id

        def looked(writing: Writing) -> Any:
            if both.n_waiting == 0 and not both.broken:
                threading.Timer(1.0, both.abort).start()  # for one that has to wait for the other
            found = by_id(writing)
            with contextlib.suppress(threading.BrokenBarrierError):
                both.wait()
            return found

        monkeypatch.setattr(api_keys, "_by_id", looked)

        def tried(learner_service: LearnerService, name: str) -> bool:
            try:
                learner_service.api_keys.revoke(name)
            except InvalidArgument:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            done = [
                pool.submit(tried, learner_service, name)
                for learner_service, name in zip((one, two), names, strict=True)
            ]
            assert sorted(each.result(30) for each in done) == [False, True]
        assert [each.role.value for each in one.api_keys.all()] == ["admin"]


def test_keys_revoked_elsewhere_are_noticed(postgres: str, tmp_path: pathlib.Path) -> None:
    """Another process revokes a key: soon it is unknown here as well."""
    key_file = tmp_path / "key"
    with (
        LearnerService.open(postgres, key_file=key_file) as one,
        LearnerService.open(postgres, key_file=key_file) as two,
    ):
        api_key, key = one.api_keys.create("read")
        assert two.api_keys.find(key) is None
        two.api_keys.refresh()
        assert two.api_keys.find(key) == api_key
        two.api_keys.revoke(api_key.id)
        assert one.api_keys.find(key) == api_key
        one.api_keys._read_at -= 60  # as if a minute had passed
        with listening(create_app(one)) as address, client(address, key) as holder:
            assert holder.get("/v1/learners").status_code == 401


def test_large_bodies_are_refused(tmp_path: pathlib.Path) -> None:
    """By their announced length, and while they come where none is announced."""
    with service(tmp_path / "shop.db", max_body=2000, log_requests=False) as served:
        small = {"decision": "0" * 32, "cost": "x" * 1000}
        assert served.worker.post("/v1/learners/shop/tell", json=small).status_code == 404
        for path in ("/v1/learners/shop/tell", "/v1/learners/shop/ask", "/v1/learners"):
            answer = served.admin.post(path, content=b"x" * 2001)
            assert (answer.status_code, code_of(answer)) == (413, "too_large")
            answer = served.admin.post(path, content=(b"x" * 500 for _ in range(5)))
            assert (answer.status_code, code_of(answer)) == (413, "too_large")


def test_no_body_is_read_without_a_key(served: Service) -> None:
    """Who has no key can send no body, whatever the address."""
    answer = served.nobody.request("GET", "/openapi.json", content=b"x" * (5 << 20))
    assert answer.status_code == 200
    assert served.admin.request("GET", "/openapi.json", content=b"x" * (5 << 20)).status_code == 413


def test_wrong_keys_do_not_touch_health_checks(tmp_path: pathlib.Path) -> None:
    """They use up the rate of those without a key, which health checks do not need."""
    with service(tmp_path / "shop.db", rate=2, log_requests=False) as served:
        headers = {"authorization": "Bearer discreet_" + "0" * 16 + "_" + "0" * 64}
        codes = [served.nobody.get("/v1/learners", headers=headers).status_code for _ in range(10)]
        assert set(codes) == {401, 429}
        for _ in range(5):
            assert served.nobody.get("/livez", headers=headers).status_code == 200
            assert served.nobody.get("/readyz", headers=headers).status_code == 200


def test_keys_have_a_rate_limit(tmp_path: pathlib.Path) -> None:
    """Who asks too often is told when to come again; others are not held up."""
    with service(tmp_path / "shop.db", rate=3) as served:
        answers = [served.worker.post("/v1/learners/shop/ask") for _ in range(8)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert answers[0].status_code == 200
        assert {code_of(answer) for answer in refused} == {"rate_limited"}
        assert {answer.headers["retry-after"] for answer in refused} == {"1"}
        assert served.reader.get("/v1/learners/shop").status_code == 200


def test_buckets_fill_again() -> None:
    """A second's worth at once, then as fast as the rate; what Retry-After says is enough."""
    now = [0.0]
    rates = RateLimiter(2.0, clock=lambda: now[0])
    rates.take("a")
    rates.take("a")
    with pytest.raises(HttpError) as refused:
        rates.take("a")
    assert refused.value.headers == [(b"retry-after", b"1")]
    rates.take("b")
    now[0] += 0.5
    rates.take("a")
    rates.keep_only({"b"})
    rates.take("a")  # forgotten, so the bucket is new
    slow = RateLimiter(0.1, clock=lambda: now[0])
    slow.take("a")
    with pytest.raises(HttpError) as refused:
        slow.take("a")
    assert refused.value.headers == [(b"retry-after", b"10")]


def test_an_unreachable_database_is_a_503(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is answered with 503 and when to try again."""

    def fails(*_: object, **__: object) -> None:
        raise StoreError("The database is out of reach.")

    monkeypatch.setattr(served.learner_service, "page", fails)
    answer = served.reader.get("/v1/learners")
    assert (answer.status_code, code_of(answer)) == (503, "store_unavailable")
    assert answer.headers["retry-after"] == "1"

    def full(*_: object, **__: object) -> None:
        raise Busy("Too much is waiting.")

    monkeypatch.setattr(served.learner_service, "submit_ask", full)
    answer = served.worker.post("/v1/learners/shop/ask")
    assert (answer.status_code, code_of(answer)) == (503, "busy")


def test_api_keys_are_read_from_the_store(tmp_path: pathlib.Path) -> None:
    """A key made before a restart is known after it."""
    with LearnerService.open(tmp_path / "shop.db") as learner_service:
        api_key, key = learner_service.api_keys.create("read", "till")
    with LearnerService.open(tmp_path / "shop.db") as learner_service:
        assert isinstance(learner_service.api_keys, ApiKeys)
        assert learner_service.api_keys.find(key) == api_key
        assert learner_service.api_keys.age == 0
