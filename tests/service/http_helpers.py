"""A service on a socket of its own, in a thread, and what tests send to it."""

import contextlib
import dataclasses
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import uvicorn
from service_helpers import Clock

from discreet.service.app import create_app
from discreet.service.learner_service import LearnerService

BANDIT = {
    "name": "shop",
    "feedback": "bandit",
    "items": ["tea", "milk", "rice"],
    "epsilon": 1.0,
    "cost_range": [0, 1],
    "mode": "local",
    "method": "worst-case",
}
FULL = {
    "name": "plan",
    "feedback": "full_information",
    "items": 3,
    "epsilon": 1.0,
    "cost_range": [-1, 1],
    "method": "blocks",
}
MODULAR = {"kind": "Modular", "weights": [0.1, -0.2, 0.3]}


@dataclasses.dataclass
class Service:
    """A running app, its service, and a client for each role."""

    learner_service: LearnerService
    app: Any
    address: str
    admin: httpx2.Client
    worker: httpx2.Client
    reader: httpx2.Client
    nobody: httpx2.Client

    def ask(self, learner: str = "shop", **wanted: Any) -> list[dict[str, Any]]:
        """Decisions, which must be given."""
        answer = self.worker.post(f"/v1/learners/{learner}/ask", json=wanted)
        assert answer.status_code == 200, answer.text
        decisions: list[dict[str, Any]] = answer.json()["decisions"]
        return decisions


def client(address: str, key: str | None) -> httpx2.Client:
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    return httpx2.Client(base_url=address, headers=headers, timeout=60, trust_env=False)


@contextlib.contextmanager
def listening(app: Any) -> Iterator[str]:
    """The address of an app that a thread serves."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        # What nobody reads waits in the server: systems differ in how many megabytes they keep themselves.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        config = uvicorn.Config(
            app,
            interface="asgi3",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.005)
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextlib.contextmanager
def service(where: object, *, clock: Clock | None = None, **settings: Any) -> Iterator[Service]:
    """A service on a store, with one learner of each kind."""
    with contextlib.ExitStack() as stack:
        learner_service = stack.enter_context(LearnerService.open(str(where), clock=clock))
        app = create_app(learner_service, **settings)
        address = stack.enter_context(listening(app))
        keys = [learner_service.api_keys.create(role)[1] for role in ("admin", "ask_tell", "read")]
        clients = [stack.enter_context(client(address, key)) for key in (*keys, None)]
        found = Service(learner_service, app, address, *clients)
        for learner in (BANDIT, FULL):
            assert found.admin.post("/v1/learners", json=learner).status_code == 201
        yield found


def code_of(answer: Any) -> str:
    """The code of an error, in the one form that errors have."""
    body = answer.json()
    assert set(body) == {"error"}, body
    assert set(body["error"]) == {"code", "message"}
    code: str = body["error"]["code"]
    return code
