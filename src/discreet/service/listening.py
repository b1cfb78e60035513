"""The socket of the service, bound before anything else is done."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import socket
import stat
from collections.abc import Iterator

from discreet.errors import InvalidArgument
from discreet.service.options import Options
from discreet.service.web.sending import READ_TIMEOUT

_NO_TLS = (
    "listening beyond this machine without encryption: API keys and costs can be read on the way. Give "
    "--tls-cert and --tls-key, or put a proxy with TLS in front, and let nothing else reach this port."
)

log = logging.getLogger("discreet.service")


@contextlib.contextmanager
def bound(options: Options) -> Iterator[socket.socket]:
    """The socket, closed at the end; a socket in the file system is removed then."""
    path = options.unix_socket
    with _tcp(options) if path is None else _unix(path) as listening:
        try:
            yield listening
        finally:
            if path is not None:
                with contextlib.suppress(OSError):
                    os.unlink(path)


def _tcp(options: Options) -> socket.socket:
    try:
        found = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InvalidArgument(f"There is no address {options.host!r}, port {options.port}.") from None
    family, kind, protocol, _, place = found[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # closes connections whose last bytes nobody reads
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(READ_TIMEOUT * 1000))
    try:
        listening.bind(place)
    except OSError as error:
        listening.close()
        raise InvalidArgument(f"Cannot listen on {options.host} port {options.port}: {error}.") from None
    return listening


def _unix(path: str) -> socket.socket:
    """A socket in the file system, for its owner and group; one that was left there is replaced."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if os.path.exists(path) and stat.S_ISSOCK(os.stat(path).st_mode) and not _answers(path):
            os.unlink(path)
        before = os.umask(0o117)
        try:
            listening.bind(path)
        finally:
            os.umask(before)
    except OSError as error:
        listening.close()
        raise InvalidArgument(f"Cannot listen on the socket {path}: {error}.") from None
    return listening


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as tried:
        return tried.connect_ex(path) == 0


def address(options: Options, listening: socket.socket) -> str:
    """What to connect to."""
    if options.unix_socket:
        return options.unix_socket
    host, port = listening.getsockname()[:2]
    return f"{'https' if options.tls_cert else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def warn_about(options: Options) -> None:
    """Warn if other machines can connect, and nothing is encrypted."""
    try:
        safe = ipaddress.ip_address(options.host).is_loopback
    except ValueError:
        safe = options.host == "localhost"
    if not (safe or options.unix_socket or options.tls_cert):
        log.warning(_NO_TLS)
