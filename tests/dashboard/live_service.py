"""A real `discreet serve` in a process of its own, on loopback, with what a client needs to drive it."""

from __future__ import annotations

import json
import pathlib
import urllib.request
from typing import Any

from running_service import RunningService


class LiveService:
    """A server on one port and one SQLite file, which can be stopped and started again.

    Attributes:
        address: Where it is.
        admin: Its first key.
        reader: A key with the role `read`.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._running = RunningService(folder, options=["--store", str(folder / "shop.db")])
        self.address = self._running.url
        self.start()
        self.admin = self._running.key
        self.reader: str = self.call("POST", "/v1/keys", {"role": "read", "label": "dashboard"})["key"]

    def start(self) -> None:
        """Start and wait until it answers."""
        self._running.start()

    def stop(self) -> None:
        self._running.stop()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Ask for something with the admin key."""
        request = urllib.request.Request(
            self.address + path,
            None if body is None else json.dumps(body).encode(),
            {"authorization": f"Bearer {self.admin}", "content-type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def create(self, name: str, items: Any, **other: Any) -> None:
        settings = {"feedback": "bandit", "epsilon": 2.0, "cost_range": [0, 1]} | other
        if settings["feedback"] == "bandit":
            settings = {"mode": "local", "method": "worst-case"} | settings
        self.call("POST", "/v1/learners", {"name": name, "items": items, **settings})

    def play(self, name: str, good: str, rounds: int) -> None:
        """Ask and tell: the good item brings in much, each other one costs a little."""
        asked = self.call("POST", f"/v1/learners/{name}/ask", {"count": rounds})["decisions"]
        told = []
        for decision in asked:
            others = sum(item != good for item in decision["subset"])
            told.append(
                {"decision": decision["id"], "cost": 0.8 * (good in decision["subset"]) - 0.15 * others + 0.2}
            )
        self.call("POST", f"/v1/learners/{name}/tell", told)
