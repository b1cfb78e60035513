"""The on-device kit, packed, under node and in a real browser, with a real service on another origin."""

import itertools
import json
import pathlib
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from npm_kit import KIT, run
from one_bit_vectors import PATH, written

import discreet
from discreet import Client
from flaky_proxy import FlakyProxy
from running_service import RunningService

Device = Callable[..., Any]

PINNED = {"epsilon": 2, "costRange": [0, 1]}
#: A cost that can be found wherever it is.
COST = 0.8765432109
_numbers = itertools.count()


@pytest.fixture(params=["on_node", "in_browser"])
def device(request: pytest.FixtureRequest) -> Device:
    if request.param == "in_browser":
        request.node.add_marker("browser")
    found: Device = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def learner(service: RunningService) -> str:
    return made(service)


def made(service: RunningService, **settings: Any) -> str:
    """A new learner."""
    name = f"shop{next(_numbers)}"
    wanted = {"epsilon": 2.0, "cost_range": (0, 1), "mode": "local", "method": "worst-case"} | settings
    with Client(service.url, service.key) as admin:
        admin.create_learner(name, "bandit", ["tea", "milk", 7], **wanted)
    return name


def decision(service: RunningService, learner: str) -> dict[str, Any]:
    """What a backend in Python hands to a device."""
    with Client(service.url, service.key) as backend:
        chosen, shown = backend.ask(learner, tokens=True), backend.learner(learner)
    return {"learner": learner, "id": chosen.id, "token": chosen.token, "declared": shown.declared}


def told(proxy: FlakyProxy) -> list[dict[str, Any]]:
    """The bodies of all tells."""
    return [json.loads(body) for body in re.findall(rb"\{\"decision\"[^}]*\}", proxy.sent)]


def told_count(service: RunningService, learner: str) -> int:
    with Client(service.url, service.key) as admin:
        return admin.learner(learner).counts.told


def test_vectors_are_those_of_the_library() -> None:
    """Regenerated, they are the same; whatever reads the file agrees with Python to the last bit."""
    assert PATH.read_text() == written()


def test_the_randomizer_is_the_library_s(node: str, package: pathlib.Path) -> None:
    """The same grid points and bits for all vectors; wrong settings are refused."""
    found = run(node, pathlib.Path(__file__).with_name("vectors.mjs"), package / "dist", PATH)
    assert int(found) == len(json.loads(PATH.read_text())["cases"]) > 1000


def test_what_is_in_the_package(package: pathlib.Path) -> None:
    """Modules, their types and sources, read-me and licence; nothing that it needs at run time."""
    names = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    modules = {path.stem for path in (KIT / "src").glob("*.ts")}
    wanted = {f"dist/{name}.{ending}" for name in modules for ending in ("js", "js.map", "d.ts")}
    wanted |= {f"src/{name}.ts" for name in modules} | {"LICENSE", "README.md", "package.json"}
    assert names == wanted
    described = json.loads((package / "package.json").read_text())
    assert "dependencies" not in described
    assert described["version"] == discreet.__version__
    assert sum(path.stat().st_size for path in package.glob("dist/*.js")) < 16_000


def test_its_types(package: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A strict compiler accepts right programs and refuses wrong ones; what is internal is not declared."""
    program = """
        import { Client, OneBit, bitsIn, type Bit, type Decision, type Pinned } from "discreet-device";
        const pinned: Pinned = { epsilon: 1, costRange: [0, 1] };
        const client = new Client("https://shop.example", pinned, { bits: bitsIn(localStorage) });
        export async function sold(decision: Decision, bought: boolean): Promise<void> {
          await client.tell(decision, bought);
        }
        export const bit: Bit = new OneBit({ ...pinned, roundsPerPerson: 2 }).release(0.3);
        // @ts-expect-error
        new Client("https://shop.example", { ...pinned, epsilon: "1" });
        // @ts-expect-error
        new OneBit(pinned).bit(0.3, 1n);
        // @ts-expect-error
        client.tell({ id: "1", token: "2" }, 0.3);
    """
    (tmp_path / "shop.ts").write_text(program)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "discreet-device").symlink_to(package)
    options = {"strict": True, "noEmit": True, "module": "NodeNext", "lib": ["ES2022", "DOM"], "types": []}
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": options}))
    run(package.parent / "clients" / "typescript" / "node_modules" / ".bin" / "tsc", folder=tmp_path)


def test_it_asks_and_tells_one_bit(device: Device, service: RunningService, learner: str) -> None:
    """Of each decision; costs at the end of the range give mostly ones, and no cost leaves."""
    with FlakyProxy(service.port) as proxy:
        decisions = device(
            "askAndTell",
            url=proxy.url,
            key=service.key,
            pinned=PINNED,
            learner=learner,
            count=30,
            cost=1 + COST,
        )
    bodies = told(proxy)
    assert [body["decision"] for body in bodies] == [each["id"] for each in decisions]
    assert all(set(body) == {"decision", "bit"} for body in bodies)
    assert str(COST)[1:].encode() not in proxy.sent
    # 30 bits, each 1 with probability 0.88: fewer than 13 have probability 2e-9; of fair bits, 18%.
    assert sum(body["bit"] for body in bodies) >= 13
    assert told_count(service, learner) == 30
    assert {item for each in decisions for item in each["subset"]} <= {"tea", "milk", 7}
    sent = proxy.sent.decode()
    assert sent.count(service.key) == 60  # to look and to ask, not to tell
    assert all(sent.count(each["token"]) == 1 for each in decisions)


def test_what_cannot_be_chosen_is_not(device: Device, service: RunningService, learner: str) -> None:
    """`available` goes to the service."""
    asked = {"url": service.url, "key": service.key, "pinned": PINNED, "learner": learner}
    for _ in range(4):
        assert set(device("askFor", **asked, available=[7])["subset"]) <= {7}


@pytest.mark.parametrize("reload", [False, True], ids=["in memory", "in storage"])
def test_a_retry_sends_the_same_bit(
    device: Device, service: RunningService, learner: str, reload: bool
) -> None:
    """However often requests, answers and halves of answers are lost, and whatever is told later."""
    decisions = [decision(service, learner) for _ in range(4)]
    with FlakyProxy(service.port, seed=71, lost=(0.12, 0.12, 0.12)) as proxy:
        for each in decisions:
            outcomes = device(
                "tellAgain", url=proxy.url, pinned=PINNED, decision=each, costs=[0, 1, None], reload=reload
            )
            assert outcomes == [["done"]] * 3
    assert min(proxy.dropped) >= 2  # of the first 12 requests
    bodies = told(proxy)
    assert len(bodies) > 12
    assert len({(body["decision"], body["bit"]) for body in bodies}) == 4
    assert told_count(service, learner) == 4


@pytest.mark.browser
def test_a_page_that_is_left_has_told(in_browser: Device, service: RunningService, learner: str) -> None:
    """What was sent when a visitor left arrives."""
    in_browser("tellAndLeave", url=service.url, pinned=PINNED, decision=decision(service, learner), cost=1)
    end = time.monotonic() + 30
    while told_count(service, learner) == 0:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("pinned", "settings", "named"),
    [
        ({"epsilon": 1}, {}, "another epsilon for"),
        ({"costRange": [0, 2]}, {}, "another cost_range for"),
        ({"roundsPerPerson": 2}, {}, "another rounds_per_person for"),
        ({}, {"mode": "central", "method": "model"}, "another mode for"),
        ({"roundsPerPerson": 2}, {"rounds_per_person": 2, "delta": 1e-6}, "another delta for"),
    ],
)
def test_another_declaration_is_refused(
    device: Device, service: RunningService, pinned: dict[str, Any], settings: dict[str, Any], named: str
) -> None:
    """Before anything leaves: nothing is told, and nothing is asked."""
    learner = made(service, **settings)
    chosen = decision(service, learner)
    with FlakyProxy(service.port) as proxy:
        call = {"url": proxy.url, "pinned": PINNED | pinned}
        (told_here,) = device("tellAgain", **call, decision=chosen, costs=[COST])
        (undeclared,) = device("tellAgain", **call, decision=chosen | {"declared": None}, costs=[COST])
        assert proxy.requests == 0
        (asked,) = device("askPinned", url=proxy.url, key=service.key, pins=[call["pinned"]], learner=learner)
    assert b"/ask" not in proxy.sent
    assert {code for code, *_ in (told_here, undeclared, asked)} == {"pinned_mismatch"}
    assert all(named in refused[3] for refused in (told_here, asked))


def test_errors_have_codes_and_quote_nothing(device: Device, service: RunningService, learner: str) -> None:
    """Those of the service are not retried; a service that is not there is tried until the deadline."""
    chosen = decision(service, learner)
    wrong = chosen | {"token": chosen["token"][:-1] + ("A" if chosen["token"][-1] != "A" else "B")}
    tell = {"pinned": PINNED, "costs": [COST]}
    ((code, status, attempts, text, cause),) = device("tellAgain", url=service.url, decision=wrong, **tell)
    assert (code, status, attempts, cause) == ("unauthorized", 401, 1, None)
    with FlakyProxy(service.port, lost=(1, 0, 0)) as proxy:
        ((code, status, attempts, more, cause),) = device(
            "tellAgain", url=proxy.url, decision=chosen, deadline=400, **tell
        )
        assert (code, status, cause) == ("unreachable", None, None)
        assert attempts >= 3
    assert not [word for word in (str(COST), chosen["token"], chosen["id"]) if word in text + more]
    assert told_count(service, learner) == 0


def test_where_keys_may_go(device: Device) -> None:
    """To https, or to this machine; a user and password are no key."""
    right = ["https://shop.example", "http://127.0.0.1:8710/", "http://localhost/shop", "http://[::1]:1"]
    wrong = [
        "http://shop.example",
        "http://127.shop.example",
        "ftp://127.0.0.1",
        "https://me:secret@shop.example",
        "https://shop.example?a=1",
        "shop",
    ]
    assert device("addresses", urls=right) == [["done"]] * len(right)
    refused = device("addresses", urls=wrong)
    assert {name for name, *_ in refused} == {"TypeError"}
    assert "secret" not in str(refused)
    assert device("addresses", urls=wrong[:1], allowInsecure=True) == [["done"]]
    assert device("addresses", urls=right[:1], key="two words")[0][0] == "TypeError"
