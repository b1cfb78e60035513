"""A real `discreet serve` in processes of its own, which can be killed and started again."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import IO, Self


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def wait_until_healthy(
    url: str, process: subprocess.Popen[str] | Forked, log: pathlib.Path, seconds: float = 120
) -> None:
    """Until a server answers."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            urllib.request.urlopen(f"{url}/livez", timeout=5).close()
            return
        assert process.poll() is None, log.read_text()[-2000:]
        assert time.monotonic() < end, log.read_text()[-2000:]
        time.sleep(0.02)


#: Loads what a server needs, and for each line it reads forks a process that runs `discreet serve`.
_NURSERY = """
import os, signal, sys
import discreet.cli.app, discreet.service.server, discreet.service.warming
discreet.service.warming.warm_up()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        sys.argv = ["discreet", "serve", *line.split()]
        discreet.cli.main()
        os._exit(0)
    print("forked", child, flush=True)
"""


def _started(folder: pathlib.Path, arguments: list[str]) -> subprocess.Popen[str]:
    """A process whose standard error goes to a log: a pipe that nobody reads would stop it."""
    with open(folder / "log", "a") as log:
        return subprocess.Popen(
            [sys.executable, *arguments],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )


class Nursery:
    """Makes servers that need not load anything: tests that start dozens of them have no time for that.

    Args:
        folder: For their log.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        self.process = _started(self._folder, ["-c", _NURSERY])
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)

    def server(self, options: list[str]) -> Forked:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(" ".join(options) + "\n")
        self.process.stdin.flush()
        while not (line := self.process.stdout.readline()).startswith("forked "):
            assert line
        return Forked(int(line.split()[1]), self.process.stdout)


class Forked:
    """What is needed of a `Popen`, for a process that is somebody else's child."""

    def __init__(self, pid: int, stdout: IO[str]) -> None:
        self.pid, self.stdout = pid, stdout

    def poll(self) -> int | None:
        return None if pathlib.Path(f"/proc/{self.pid}").exists() else 0

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while self.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.005)

    def terminate(self) -> None:
        os.kill(self.pid, signal.SIGTERM)


class RunningService:
    """A server on a store.

    Args:
        folder: For its log, and for its key.
        store: An address; an SQLite file in the folder by default.
        workers: Processes.
        nursery: Makes its processes; by default each is started from nothing.
        options: What `discreet serve` is given besides a port, in place of all that follows from the above.

    Attributes:
        url, key: What a client needs; the key is the admin's.
        process: The one to be killed.
    """

    def __init__(
        self,
        folder: pathlib.Path,
        store: str | None = None,
        workers: int = 1,
        nursery: Nursery | None = None,
        options: list[str] | None = None,
    ) -> None:
        self.folder, self.store = folder, store or str(folder / "service.db")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.key = ""
        if options is None:
            options = ["--store", self.store, "--workers", str(workers), "--rate", "1000000"]
            options += ["--key-file", str(folder / "service.key")]
        self._options = [*options, "--port", str(self.port)]
        self._nursery = nursery
        self.process: subprocess.Popen[str] | Forked | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self, *, wait: bool = True) -> None:
        """Start a server, and wait until it answers."""
        if self._nursery is not None:
            self.process = self._nursery.server(self._options)
        else:
            self.process = _started(self.folder, ["-m", "discreet", "serve", *self._options])
        if wait:
            self.wait()

    def wait(self, seconds: float = 120) -> None:
        assert self.process is not None
        wait_until_healthy(self.url, self.process, self.folder / "log", seconds)
        if not self.key:
            assert self.process.stdout is not None
            while not (found := re.search(r"discreet_\w+", self.process.stdout.readline())):
                pass
            self.key = found[0]

    def kill(self) -> None:
        """SIGKILL to all its processes."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._reap()

    def stop(self, seconds: float = 60) -> None:
        """End in good order, and in time."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise
        finally:
            self._reap()

    def _reap(self) -> None:
        assert self.process is not None
        self.process.wait(30)
        if isinstance(self.process, subprocess.Popen):
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe is not None
                pipe.close()
        self.process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
