"""A real `discreet serve` in a process of its own, on loopback, with what a client needs to drive it."""

from __future__ import annotations

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class LiveService:
    """A server on one port and one SQLite file, which can be stopped and started again.

    Attributes:
        address: Where it is.
        admin: Its first key.
        reader: A key with the role `read`.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder, self._port = folder, free_port()
        self.address = f"http://127.0.0.1:{self._port}"
        self.admin = ""
        self.start()
        self.reader: str = self.call("POST", "/v1/keys", {"role": "read", "label": "dashboard"})["key"]

    def start(self) -> None:
        """Start and wait until it answers."""
        options = ["--store", str(self._folder / "shop.db"), "--port", str(self._port)]
        with open(self._folder / "log", "a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "discreet", "serve", *options],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        for _ in range(600):
            try:
                self.call("GET", "/healthz")
                break
            except (urllib.error.URLError, ConnectionError):
                if self._process.poll() is not None:
                    break
                time.sleep(0.05)
        else:
            self.stop()
        if self._process.poll() is not None:
            raise RuntimeError((self._folder / "log").read_text()[-2000:])
        assert self._process.stdout is not None
        while not self.admin:
            found = re.search(r"discreet_\w+", self._process.stdout.readline())
            self.admin = found[0] if found else ""

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()

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
