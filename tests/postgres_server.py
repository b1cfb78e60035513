"""A real PostgreSQL server for tests: in a temporary folder, behind a socket there, gone afterwards.

`initdb` refuses to run as root, so as root it runs as the user `postgres` or `nobody`. Where no server can
be had the tests that need one are skipped; with DISCREET_REQUIRE_POSTGRES=1 that is a failure.
"""

import contextlib
import glob
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator

import psycopg
import pytest

_LEAN = ("-c", "max_connections=200", "-c", "shared_buffers=32MB")


class Server:
    """A running server.

    Attributes:
        folder: Where its socket is.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """A fresh database's address."""
        name = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)


def missing(reason: str) -> None:
    if os.environ.get("DISCREET_REQUIRE_POSTGRES") == "1":
        pytest.fail(f"PostgreSQL is required here, but {reason}.")
    pytest.skip(f"No PostgreSQL server can be had: {reason}.")


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """A server that lives as long as the context."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb")) or [shutil.which("initdb") or ""]
    if not found[-1]:
        missing("initdb is not installed")
    programs = pathlib.Path(found[-1]).parent
    owner = _owner()
    folder = tempfile.mkdtemp(prefix="dpg", dir="/tmp")  # short: a socket's path has at most 107 bytes
    try:
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        os.chmod(folder, 0o755)
        options = {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        made = subprocess.run(
            [programs / "initdb", "-D", f"{folder}/data", "-U", "postgres", "--auth=trust", "-E", "UTF8"],
            capture_output=True,
            text=True,
            cwd=folder,
            **options,
        )
        if made.returncode:
            missing(f"initdb failed: {made.stderr.strip()[-300:]}")
        with open(f"{folder}/log", "wb") as log:
            process = subprocess.Popen(
                [
                    programs / "postgres",
                    "-D",
                    f"{folder}/data",
                    "-k",
                    folder,
                    "-c",
                    "listen_addresses=",
                    *_LEAN,
                ],
                stdout=log,
                stderr=log,
                cwd=folder,
                **options,
            )
        try:
            server = Server(folder)
            _wait_until_ready(server, process)
            yield server
        finally:
            process.terminate()  # waits for clients
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.send_signal(
                    signal.SIGQUIT
                )  # does not, nor for the disk: nobody needs the data any more
                process.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _owner() -> pwd.struct_passwd | None:
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    missing("there is no user to run it as")
    raise AssertionError


def _wait_until_ready(server: Server, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(300):
        try:
            psycopg.connect(server.url(), connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    log = pathlib.Path(f"{server.folder}/log").read_text()
    missing(f"the server did not start: {log[-300:]}")
