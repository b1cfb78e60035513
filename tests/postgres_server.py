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
        process: The first of its processes, which starts the others.
    """

    def __init__(self, folder: str, process: "subprocess.Popen[bytes]") -> None:
        self.folder, self.process = folder, process

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """A fresh database's address."""
        name = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """A server that takes connections and answers nothing, until the context ends."""
        first = self.process.pid
        started = pathlib.Path(f"/proc/{first}/task/{first}/children")
        os.kill(first, signal.SIGSTOP)  # before the others: from now on it starts none
        others = [int(number) for number in started.read_text().split()]
        for number in others:
            os.kill(number, signal.SIGSTOP)
        try:
            yield
        finally:
            for number in (*others, first):
                os.kill(number, signal.SIGCONT)


def missing(reason: str) -> None:
    if os.environ.get("DISCREET_REQUIRE_POSTGRES") == "1":
        pytest.fail(f"PostgreSQL is required here, but {reason}.")
    pytest.skip(f"No PostgreSQL server can be had: {reason}.")


def programs() -> pathlib.Path:
    """The folder of the server's programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb")) or [shutil.which("initdb") or ""]
    if not found[-1]:
        missing("initdb is not installed")
    return pathlib.Path(found[-1]).parent


@contextlib.contextmanager
def pooler(server: Server) -> Iterator[Server]:
    """A PgBouncer before a server that pools transactions on two connections."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin") or missing(
        "pgbouncer is not installed"
    )
    folder, owner = tempfile.mkdtemp(prefix="dpb", dir="/tmp"), _owner()
    settings = f"""
[databases]
* = host={server.folder}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 5432
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 2
logfile = {folder}/log
pidfile = {folder}/pid
"""
    try:
        pathlib.Path(f"{folder}/users").write_text('"postgres" ""\n')
        pathlib.Path(f"{folder}/settings").write_text(settings)
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        process = subprocess.Popen(
            [str(program), "-q", f"{folder}/settings"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            **({} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}),
        )
        try:
            found = Server(folder, process)
            _wait_until_ready(found, process)
            yield found
        finally:
            process.kill()
            process.wait(10)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """A server that lives as long as the context."""
    folder_of_programs = programs()
    owner = _owner()
    folder = tempfile.mkdtemp(prefix="dpg", dir="/tmp")  # short: a socket's path has at most 107 bytes
    try:
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        os.chmod(folder, 0o755)
        options = {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        made = subprocess.run(
            [
                folder_of_programs / "initdb",
                "-D",
                f"{folder}/data",
                "-U",
                "postgres",
                "--auth=trust",
                "-E",
                "UTF8",
            ],
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
                    folder_of_programs / "postgres",
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
            server = Server(folder, process)
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
