"""Learners with constraints in a service: every set keeps to them; what cannot be kept is refused clearly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from http_helpers import BANDIT, FULL, Service, code_of, service
from service_helpers import Clock

ITEMS = ["tea", "milk", "rice", "jam", "honey", "bread"]
GIVEN: dict[str, Any] = {
    "items": ITEMS,
    "at_most": 3,
    "at_least": 2,
    "required": ["bread"],
    "forbidden": ["rice"],
    "groups": [["jam", "honey"]],
}
SHOP = BANDIT | GIVEN | {"method": "model", "epsilon": 30.0}
PLAN = FULL | GIVEN | {"method": "choose", "epsilon": 30.0}


CLOCK = Clock()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("store") / "sets.db", clock=CLOCK) as found:
        yield found


def keeps_to(subset: list[str]) -> bool:
    chosen = set(subset)
    return (
        2 <= len(chosen) <= 3
        and "bread" in chosen
        and "rice" not in chosen
        and not {"jam", "honey"} <= chosen
    )


@pytest.mark.parametrize("mode", ["central", "local"])
def test_a_model_keeps_to_them_whatever_is_sold_out(served: Service, mode: str) -> None:
    """Over several phases, many decisions at a time."""
    name = f"shop-{mode}"
    answer = served.admin.post("/v1/learners", json=SHOP | {"name": name, "mode": mode})
    assert answer.status_code == 201, answer.text
    rng = np.random.default_rng(1)
    for turn in range(25):
        left = ["bread", *rng.permutation(ITEMS[:5])[:3].tolist()] if turn % 3 == 2 else None
        wanted = {"count": 10} if left is None else {"count": 3, "available": left}
        answer = served.worker.post(f"/v1/learners/{name}/ask", json=wanted)
        if answer.status_code != 200:  # only bread can be shown, and that is too little
            assert (answer.status_code, code_of(answer)) == (400, "invalid_request")
            assert left is not None
            assert set(left) == {"bread", "rice"}
            continue
        decisions = answer.json()["decisions"]
        for decision in decisions:
            assert keeps_to(decision["subset"])
            assert left is None or set(decision["subset"]) <= set(left)
            cost = {"decision": decision["id"], "cost": float(rng.random())}
            assert served.worker.post(f"/v1/learners/{name}/tell", json=cost).status_code == 200
    CLOCK.now += 3_601_000  # until the deadline
    served.learner_service.maintenance.apply_queued()
    shown = served.reader.get(f"/v1/learners/{name}").json()
    assert keeps_to(shown["best"])
    assert shown["rounds"] > 0


def test_choose_keeps_to_them(served: Service) -> None:
    """It cannot show another set where its own is sold out, and says so; nothing is lost by that."""
    answer = served.admin.post("/v1/learners", json=PLAN | {"name": "menu"})
    assert answer.status_code == 201, answer.text
    modular = {"kind": "Modular", "weights": [-0.2, 0.1, -0.3, 0.1, -0.1, 0.2]}
    for _ in range(20):
        for decision in served.ask("menu", count=10):
            assert keeps_to(decision["subset"])
            told = {"decision": decision["id"], "function": modular}
            assert served.worker.post("/v1/learners/menu/tell", json=told).status_code == 200
    answer = served.worker.post("/v1/learners/menu/ask", json={"available": ["bread", "rice"]})
    assert (answer.status_code, code_of(answer)) == (400, "invalid_request")
    assert keeps_to(served.ask("menu")[0]["subset"])


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        (SHOP | {"method": "worst-case"}, "takes no constraints"),
        (PLAN | {"method": "blocks"}, "takes no constraints"),
        (SHOP | {"at_most": 1}, "from 0 to 1"),
        (SHOP | {"at_most": 7}, "from 0 to 6"),
        (SHOP | {"at_most": -1}, "at_most"),
        (SHOP | {"at_most": "3"}, "at_most"),
        (SHOP | {"required": ["coffee"]}, "items of this learner"),
        (SHOP | {"required": "bread"}, "required"),
        (SHOP | {"forbidden": ["bread"]}, "nothing to choose"),
        (SHOP | {"groups": [["jam", "honey"], ["honey", "tea"]]}, "overlap"),
        (SHOP | {"groups": ["jam"]}, "groups"),
        (SHOP | {"holdout": {"set": [], "share": 0.1}}, "holdout"),
        (PLAN | {"items": 40, "at_most": 20} | dict.fromkeys(["required", "forbidden", "groups"]), "choose"),
    ],
)
def test_what_cannot_be_kept_is_refused(served: Service, wanted: dict[str, Any], problem: str) -> None:
    answer = served.admin.post("/v1/learners", json=wanted | {"name": "never"})
    assert (answer.status_code, code_of(answer)) == (400, "invalid_request"), answer.text
    assert problem in answer.text
    assert served.reader.get("/v1/learners/never").status_code == 404


def test_required_items_must_be_available(served: Service) -> None:
    assert served.admin.post("/v1/learners", json=SHOP | {"name": "needs"}).status_code == 201
    answer = served.worker.post("/v1/learners/needs/ask", json={"available": ["tea", "milk"]})
    assert (answer.status_code, code_of(answer)) == (400, "invalid_request")
    assert "required" in answer.text
