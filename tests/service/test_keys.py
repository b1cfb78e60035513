"""Keys that are limited to learners, expire, and are known to all processes at once."""

import asyncio
import hashlib
import pathlib
import secrets
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from http_helpers import BANDIT, Service, client, code_of, service
from service_helpers import Clock, opened

from discreet.errors import InvalidArgument
from discreet.service.api_keys import ApiKeys
from discreet.service.learner_service import LearnerService
from discreet.service.web.authentication import Authentication

MINUTE = 60_000


@pytest.fixture
def served(tmp_path: pathlib.Path) -> Iterator[Service]:
    with service(tmp_path / "shop.db") as found:
        yield found


@pytest.fixture
def keys(tmp_path: pathlib.Path, clock: Clock) -> Iterator[ApiKeys]:
    with opened(tmp_path / "shop.db", clock) as found:
        yield found.api_keys


def test_a_limited_key_sees_and_uses_its_learners_only(served: Service) -> None:
    """Others are forbidden, whether they exist or not, and so is what shows all of them."""
    assert served.admin.post("/v1/learners", json=BANDIT | {"name": "other"}).status_code == 201
    wanted = {"role": "ask_tell", "learners": ["shop", "later"]}
    made = served.admin.post("/v1/keys", json=wanted).json()
    assert made["learners"] == ["shop", "later"]
    with client(served.address, made["key"]) as holder:
        for items in ("true", "false"):
            listed = holder.get(f"/v1/learners?items={items}").json()["learners"]
            assert [each["name"] for each in listed] == ["shop"]
        (decision,) = holder.post("/v1/learners/shop/ask").json()["decisions"]
        body = {"decision": decision["id"], "cost": 1}
        assert holder.post("/v1/learners/shop/tell", json=body).status_code == 200
        for what in ("", "/guarantee", "/history"):
            assert holder.get(f"/v1/learners/shop{what}").status_code == 200
            for name in ("other", "nobody"):
                assert code_of(holder.get(f"/v1/learners/{name}{what}")) == "forbidden"
        for name in ("other", "nobody"):
            assert code_of(holder.post(f"/v1/learners/{name}/ask")) == "forbidden"
            assert code_of(holder.post(f"/v1/learners/{name}/tell", json=body)) == "forbidden"
        for path in ("/v1/populations", "/v1/populations/shop", "/metrics"):
            assert code_of(holder.get(path)) == "forbidden"
        assert code_of(holder.get("/v1/learners/later")) == "not_found"
    for wrong in ({"role": "admin", "learners": ["shop"]}, {"role": "read", "learners": []}):
        assert code_of(served.admin.post("/v1/keys", json=wrong)) == "invalid_request"


def test_an_expired_key_is_refused(keys: ApiKeys, clock: Clock) -> None:
    """From the moment on; it stays in the list, and does not count as the last admin key."""
    api_key, key = keys.create("admin", expires_at=clock.now + 10_000)
    other, _ = keys.create("admin")
    with pytest.raises(InvalidArgument, match="expires_at"):
        keys.create("read", expires_at=clock.now)
    clock.now += 9_999
    assert keys.find(key) is not None
    clock.now += 1
    assert keys.find(key) is None
    assert api_key.id in [each.id for each in keys.all()]
    with pytest.raises(InvalidArgument, match="last admin key"):
        keys.revoke(other.id)
    assert keys.revoke(api_key.id).id == api_key.id


def test_expiry_over_http(served: Service) -> None:
    """An expired key is answered like an unknown one."""
    clock = Clock()
    served.learner_service.api_keys._clock = clock
    made = served.admin.post("/v1/keys", json={"role": "read", "expires_at": clock.now + 5_000}).json()
    with client(served.address, made["key"]) as holder:
        assert holder.get("/v1/learners").status_code == 200
        clock.now += 5_000
        assert (holder.get("/v1/learners").status_code, served.reader.get("/v1/learners").status_code) == (
            401,
            200,
        )


def test_a_new_key_is_known_to_all_processes_at_once(postgres: str, key: None) -> None:
    """While a flood of wrong keys, made as carefully, costs the database a few statements."""

    async def both(two: LearnerService, good: str) -> tuple[int, int]:
        sent: list[str] = []
        engine = two._store._reader  # type: ignore[attr-defined]
        sa.event.listen(engine, "before_cursor_execute", lambda *parts: sent.append(parts[2]))
        authentication = Authentication(two.api_keys, 1e9, two.token)
        wrong = [authentication.authenticate(_header(_made_up())) for _ in range(500)]
        senseless = f"discreet_{'0' * 16}_{'1' * 64}"  # with an id that no such key has
        assert await authentication.authenticate(_header(senseless)) is None
        assert sent == []
        found = await asyncio.gather(*wrong, authentication.authenticate(_header(good)))
        assert await authentication.authenticate(_header(good)) is not None
        return sum(each is not None for each in found), len([s for s in sent if "FROM keys" in s])

    with opened(postgres) as one, opened(postgres) as two:
        api_key, good = one.api_keys.create("read")
        known, statements = asyncio.run(both(two, good))
        assert known == 1
        assert statements <= 3
        one.api_keys.revoke(api_key.id)
        assert one.api_keys.find(good) is None
        two.api_keys.refresh()
        assert two.api_keys.find(good) is None


def _made_up() -> str:
    secret = secrets.token_hex(32)
    return f"discreet_{hashlib.sha256(secret.encode()).hexdigest()[:16]}_{secret}"


def _header(key: str) -> bytes:
    return f"Bearer {key}".encode()
