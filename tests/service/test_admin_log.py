"""What admins did is logged, one line each, once it is done."""

import json
import logging
import pathlib
from typing import Any

import pytest
from http_helpers import BANDIT, service
from service_helpers import bandit, opened

from discreet.errors import BudgetExceeded, InvalidArgument
from discreet.service import admin_log
from discreet.service.web.logs import JsonLines


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The lines of a server's log about admins."""
    return [json.loads(JsonLines().format(each)) for each in caplog.records if each.name == admin_log.NAME]


def test_everything_that_admins_do_is_logged(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By whom, what, on what, with public settings; over HTTP with the id of the key."""
    caplog.set_level(logging.INFO, admin_log.NAME)
    with service(tmp_path / "shop.db") as served:
        caplog.clear()
        path = "/v1/populations/town"
        for limit in (2.0, 3.5, None):
            assert served.admin.put(path, json={"limit": limit}).status_code == 200
        made = served.admin.post("/v1/learners", json=BANDIT | {"name": "third", "population": "town"})
        assert made.status_code == 201
        for action in ("restart", "archive", "archive"):  # the second time it changes nothing
            assert served.admin.post(f"/v1/learners/third/{action}").status_code == 200
        wanted = {"role": "read", "label": "wall", "learners": ["shop"]}
        key = served.admin.post("/v1/keys", json=wanted).json()
        assert served.admin.delete(f"/v1/keys/{key['id']}").status_code == 200
        (mine,) = [each.id for each in served.learner_service.api_keys.all() if each.role == "admin"]
        shown = lines(caplog)
        assert {(each["event"], each["level"], each["key"]) for each in shown} == {("admin", "info", mine)}
        settings = {"kind": "bandit", "items": 3, "epsilon": 1.0, "delta": 0.0, "population": "town"}
        settings["deadline_seconds"] = 604_800.0
        of_key = {"role": "read", "label": "wall", "learners": ["shop"], "expires_at": None}
        assert [(each["action"], each["target"], each["details"]) for each in shown] == [
            ("population set", "town", {"limit": 2.0}),
            ("population set", "town", {"limit": 3.5, "before": 2.0}),
            ("population set", "town", {"limit": None, "before": 3.5}),
            ("learner created", "third", settings | {"epoch": 1}),
            ("learner restarted", "third", settings | {"epoch": 2}),
            ("learner archived", "third", {"epoch": 2}),
            ("key created", key["id"], of_key),
            ("key revoked", key["id"], {"label": "wall"}),
        ]
        assert key["key"].rpartition("_")[2] not in caplog.text


def test_what_failed_is_not_logged(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    """A refused learner, and the last admin key."""
    caplog.set_level(logging.INFO, admin_log.NAME)
    with opened(tmp_path / "shop.db") as service:
        service.set_population("town", 1.0)
        with pytest.raises(BudgetExceeded):
            bandit(service, population="town", epsilon=2.0)
        service.api_keys.create("admin")
        (mine,) = service.api_keys.all()
        with pytest.raises(InvalidArgument, match="last admin key"):
            service.api_keys.revoke(mine.id)
    assert [each["action"] for each in lines(caplog)] == ["population set", "key created"]
