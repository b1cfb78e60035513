"""What admins did is recorded with it, and never changed."""

import json
import pathlib

import pytest
import sqlalchemy as sa
from http_helpers import BANDIT, client, code_of, service
from service_helpers import bandit, opened

from commands import run
from discreet.errors import BudgetExceeded, InvalidArgument
from discreet.service import admin


def test_everything_that_admins_do_is_recorded(tmp_path: pathlib.Path) -> None:
    """By whom, what, on what, with public settings; over HTTP with the id of the key."""
    with service(tmp_path / "shop.db") as served:
        path = "/v1/populations/town"
        for limit in (2.0, 3.5, None):
            assert served.admin.put(path, json={"limit": limit}).status_code == 200
        made = served.admin.post("/v1/learners", json=BANDIT | {"name": "third", "population": "town"})
        assert made.status_code == 201
        for action in ("restart", "archive", "archive"):  # the second time it changes nothing
            assert served.admin.post(f"/v1/learners/third/{action}").status_code == 200
        wanted = {"role": "read", "label": "wall", "learners": ["shop"]}
        key = served.admin.post("/v1/keys", json=wanted).json()
        new = served.admin.post(f"/v1/keys/{key['id']}/rotate").json()
        assert served.admin.delete(f"/v1/keys/{new['id']}").status_code == 200
        (mine,) = [each.id for each in served.learner_service.api_keys.all() if each.role == "admin"]
        shown = served.admin.get("/v1/audit?limit=9").json()
        found = [(each["action"], each["target"], each["details"]) for each in shown["records"]]
        assert {each["key"] for each in shown["records"]} == {mine}
        settings = {"kind": "bandit", "items": 3, "epsilon": 1.0, "delta": 0.0, "population": "town"}
        settings["deadline_seconds"] = 604_800.0
        of_key = {"role": "read", "label": "wall", "learners": ["shop"], "expires_at": None}
        assert found == [
            ("key revoked", new["id"], {"label": "wall"}),
            ("key rotated", new["id"], of_key | {"replaced": key["id"], "grace_seconds": 3600.0}),
            ("key created", key["id"], of_key),
            ("learner archived", "third", {"epoch": 2}),
            ("learner restarted", "third", settings | {"epoch": 2}),
            ("learner created", "third", settings | {"epoch": 1}),
            ("population set", "town", {"limit": None, "before": 3.5}),
            ("population set", "town", {"limit": 3.5, "before": 2.0}),
            ("population set", "town", {"limit": 2.0}),
        ]
        rest = served.admin.get(f"/v1/audit?before={shown['next']}").json()
        assert [each["action"] for each in rest["records"]] == ["learner created"] * 2 + ["key created"] * 3
        assert "next" not in rest
        assert key["key"] not in json.dumps([shown, rest])
        assert code_of(served.worker.get("/v1/audit")) == "forbidden"


def test_a_limit_is_lifted_only_by_saying_so(tmp_path: pathlib.Path) -> None:
    """An empty body changes nothing; null lifts the limit."""
    with service(tmp_path / "shop.db") as served:
        path = "/v1/populations/town"
        served.admin.put(path, json={"limit": 2.0})
        refused = served.admin.put(path, json={})
        assert (refused.status_code, code_of(refused)) == (400, "invalid_request")
        assert "'limit' is missing" in refused.json()["error"]["message"]
        assert served.reader.get(path).json()["limit"] == 2.0
        assert served.admin.put(path, json={"limit": None}).json()["limit"] is None


def test_what_failed_is_not_recorded(tmp_path: pathlib.Path) -> None:
    """The record is part of the transaction."""
    with opened(tmp_path / "shop.db") as service:
        service.set_population("town", 1.0)
        before = service.audit()
        with pytest.raises(BudgetExceeded):
            bandit(service, population="town", epsilon=2.0)
        service.api_keys.create("admin")
        (mine,) = service.api_keys.all()
        with pytest.raises(InvalidArgument, match="last admin key"):
            service.api_keys.revoke(mine.id)
        assert [record.action for record in service.audit()[: -len(before)]] == ["key created"]


def test_records_are_only_ever_added(tmp_path: pathlib.Path) -> None:
    """No statement changes or deletes them, whatever happens; records have growing ids."""
    with opened(tmp_path / "shop.db") as service:
        sent: list[str] = []
        writer = service._store._writer  # type: ignore[attr-defined]
        sa.event.listen(writer, "before_cursor_execute", lambda *parts: sent.append(parts[2]))
        bandit(service)
        service.restart("shop")
        service.archive("shop")
        service.maintenance.compact()
        service.api_keys.note_uses(at_once=True)
        about = [statement for statement in sent if "audit" in statement]
        assert len(about) == 3
        assert all(statement.startswith("INSERT INTO audit") for statement in about)
        ids = [record.id for record in service.audit()]
        assert ids == sorted(ids, reverse=True)
        assert len(set(ids)) == 3


def test_the_command_line_is_recorded(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Keys, exports, imports and adoptions; `store log` shows it, and it moves with the store."""
    old, new = str(tmp_path / "old.db"), str(tmp_path / "new.db")
    with opened(old) as service:
        bandit(service)
    assert run(capsys, "keys", "create", "--role", "read", "--learner", "shop", "--store", old)[0] == 0
    assert run(capsys, "store", "adopt", "--latest", "--store", old)[0] == 0
    file = str(tmp_path / "shop.jsonl")
    assert run(capsys, "store", "export", file, "--store", old)[0] == 0
    (tmp_path / "new.db.key").write_bytes((tmp_path / "old.db.key").read_bytes())
    assert run(capsys, "store", "import", file, "--store", new)[0] == 0
    shown = json.loads(run(capsys, "store", "log", "--store", new, "--json")[1])
    assert [(each["action"], each["key"]) for each in shown] == [
        ("store adopted", "command line"),
        ("store imported", "command line"),
        ("store exported", "command line"),
        ("store adopted", "command line"),
        ("key created", "command line"),
        ("learner created", "in process"),
    ]
    assert [record.action for record in admin.audit_log(old, 1)] == ["store exported"]
    out = run(capsys, "store", "log", "--store", old, "--limit", "2")[1]
    assert "store exported" in out
    assert "learner created" not in out
    with pytest.raises(InvalidArgument):
        admin.audit_log(tmp_path / "nothing.db")


def test_a_page_of_the_list_over_http(tmp_path: pathlib.Path) -> None:
    """`next` is the `after` of the next page, and is absent at the end."""
    with service(tmp_path / "shop.db") as served, client(served.address, None):
        first = served.reader.get("/v1/learners?limit=1&items=false").json()
        assert [each["name"] for each in first["learners"]] == ["plan"]
        second = served.reader.get(f"/v1/learners?limit=1&after={first['next']}").json()
        assert [each["name"] for each in second["learners"]] == ["shop"]
        assert "next" not in second
        assert served.reader.get("/v1/learners?search=no%20name%25").json()["learners"] == []
        found = served.reader.get("/v1/learners?search=HO").json()["learners"]
        assert [each["name"] for each in found] == ["shop"]
        for wrong in ("limit=0", "limit=1001", "after=%00"):
            assert code_of(served.reader.get(f"/v1/learners?{wrong}")) == "invalid_request"
