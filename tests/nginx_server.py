"""A real nginx for tests, with the server that this package ships, in a folder of its own.

Where there is none the tests that need one are skipped; with DISCREET_REQUIRE_NGINX=1 that is a failure.
"""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from running_service import free_port

SHIPPED = pathlib.Path(__file__).parents[1] / "deploy" / "nginx.conf"
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def missing(reason: str) -> None:
    if os.environ.get("DISCREET_REQUIRE_NGINX") == "1":
        pytest.fail(f"nginx is required here, but {reason}.")
    pytest.skip(f"No nginx can be had: {reason}.")


@dataclasses.dataclass
class Nginx:
    """A running nginx.

    Attributes:
        port: Where it listens, with TLS.
        folder: All that it may write.
        pid: Of its first process.
    """

    port: int
    folder: pathlib.Path
    pid: int

    def changed(self) -> dict[str, int]:
        """When something was last made or removed in each folder for temporary files, even for a moment."""
        return {name: (self.folder / name).stat().st_mtime_ns for name in _TEMPORARY}

    def written(self) -> bytes:
        """All bytes in its folder, and in files that it has open, also those without a name."""
        found = [path.read_bytes() for path in self.folder.rglob("*") if path.is_file()]
        children = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        for pid in (str(self.pid), *children):
            for handle in pathlib.Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    if os.readlink(handle).startswith(str(self.folder)):
                        found.append(handle.read_bytes())
        return b"".join(found)


@contextlib.contextmanager
def running(
    folder: pathlib.Path,
    upstream: str,
    certificate: tuple[pathlib.Path, pathlib.Path],
    without: tuple[str, ...] = (),
    patience: str = "15s",
) -> Iterator[Nginx]:
    """nginx in front of a service, until the context ends.

    Args:
        folder: An empty one.
        upstream: Host and port of the service.
        certificate: A file with a certificate, and one with its key.
        without: Directives to leave out of the shipped file.
        patience: How long headers, and parts of bodies, are waited for.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        missing("it is not installed")
    port = free_port()
    server = SHIPPED.read_text()
    cert, key = map(str, certificate)
    here = {"127.0.0.1:8710": upstream, "listen 443": f"listen 127.0.0.1:{port} sndbuf=64k"}
    for there, mine in (here | {"/etc/ssl/decisions.pem": cert, "/etc/ssl/decisions.key": key}).items():
        assert there in server
        server = server.replace(there, mine)
    assert server.count(" 15s;") == 2
    server = server.replace(" 15s;", f" {patience};")
    for name in without:
        assert f" {name} " in server
        server = "\n".join(line for line in server.splitlines() if not line.strip().startswith(f"{name} "))
    for name in _TEMPORARY:
        (folder / name).mkdir(parents=True)
    paths = " ".join(f"{name}_temp_path {folder / name};" for name in _TEMPORARY)
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; pid {folder}/pid; error_log {folder}/log info; events {{}} "
        f"http {{ {paths} {server} }}"
    )
    process = subprocess.Popen([program, "-e", f"{folder}/log", "-p", folder, "-c", folder / "nginx.conf"])
    try:
        while True:
            assert process.poll() is None, (folder / "log").read_text()
            with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.01)
        yield Nginx(port, folder, process.pid)
    finally:
        process.terminate()
        process.wait(30)
