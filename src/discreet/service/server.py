"""Running the service: one process, or several on PostgreSQL, until a signal ends it in good order."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import ipaddress
import json
import logging
import os
import socket
import tempfile
from types import FrameType

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from discreet.errors import InvalidArgument
from discreet.service.app import MAX_BODY, RATE, Settings, create_app
from discreet.service.desk import Desk
from discreet.service.warming import warm_up
from discreet.service.web import logs
from discreet.service.web.metrics import SHARED
from discreet.service.web.sending import PATIENCE
from discreet.storage import serves_one_process

#: Seconds that running requests get when the server is told to end.
_GRACE = 30
#: Seconds for one of several processes to begin, or to answer its parent: on a busy machine the five of
#: uvicorn pass before everything is imported, and processes would be killed and started for ever.
_SLOWEST_START = 60
#: Connections of one process. Beyond them every request is answered with 503, which clients take for "later",
#: until some are closed.
CONNECTIONS = 1_000
_NO_TLS = (
    "listening beyond this machine, without encryption: bearer keys and costs can be read on the way. Put a "
    "proxy with TLS in front, and let only that reach this port."
)
LEVELS = ("debug", "info", "warning", "error")

log = logging.getLogger("discreet.service")


@dataclasses.dataclass(frozen=True)
class Options:
    """How to serve.

    Attributes:
        store: A path, or the address of a PostgreSQL database.
        host: The address to listen at; nobody but this machine by default.
        port: 0 for any that is free.
        workers: Processes.
        key_file: Where the key that seals secrets is.
        log_level: One of `LEVELS`; requests are logged at "info".
        rate: Requests per second of one key, in each process.
        max_body: Bytes of a request's body.
        connections: Open connections of one process, idle ones included; beyond them requests get 503.
        json: Whether the first admin key is shown as data instead of words.
    """

    store: str
    host: str = "127.0.0.1"
    port: int = 8710
    workers: int = 1
    key_file: str | None = None
    log_level: str = "info"
    rate: float = RATE
    max_body: int = MAX_BODY
    connections: int = CONNECTIONS
    json: bool = False

    def __post_init__(self) -> None:
        if self.workers < 1 or not self.rate > 0 or self.max_body < 1:
            raise InvalidArgument("There must be at least one worker, one request a second and one byte.")
        if self.connections < 1:
            raise InvalidArgument("There must be at least one connection.")
        if not 0 <= self.port < 1 << 16:
            raise InvalidArgument("A port is a number from 0 to 65535.")
        if self.log_level not in LEVELS:
            raise InvalidArgument(f"The log level must be one of {', '.join(LEVELS)}.")
        if self.workers > 1 and serves_one_process(self.store):
            raise InvalidArgument(
                f"An SQLite store serves one process: {self.workers} workers need --store postgresql://... "
                "(one process alone takes thousands of requests per second)."
            )


def serve(options: Options) -> None:
    """Serve until SIGTERM or SIGINT. What was begun is finished, and what waits is written."""
    logs.configure(options.log_level)
    with contextlib.closing(_bound(options)) as listening:
        with Desk.open(options.store, key_file=options.key_file) as desk:
            first = desk.bearers.first()
            if first is not None:
                _announce(first, as_data=options.json)
            warn_about(options.host)
            if options.workers == 1:
                warm_up()
                config = _config(options, create_app(desk, _settings(options)))
                _Server(config, _address(listening)).run(sockets=[listening])
                return
        _serve_by_several(options, listening)


def _serve_by_several(options: Options, listening: socket.socket) -> None:
    """Processes that share a socket; one that dies is replaced."""
    with tempfile.TemporaryDirectory(prefix="discreet-metrics-") as folder:
        os.environ[SHARED] = folder  # before any worker begins to count
        config = _config(options, functools.partial(_worker, options), factory=True, workers=options.workers)
        log.info("serving %s with %d processes", _address(listening), options.workers)
        Multiprocess(config, sockets=[listening]).run()


class _Server(uvicorn.Server):
    """One that says when it is ready, and ends with exit code 0 when a signal told it to end."""

    def __init__(self, config: uvicorn.Config, address: str) -> None:
        super().__init__(config)
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        log.info("serving %s (dashboard at /, reference at /docs)", self._address)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._captured_signals.clear()


def _worker(options: Options) -> ASGIApp:
    """The application of one of several processes."""
    logs.configure(options.log_level)
    warm_up()
    return create_app(Desk.open(options.store, key_file=options.key_file), _settings(options))


def _settings(options: Options) -> Settings:
    requests = logging.getLevelName(options.log_level.upper()) <= logging.INFO
    return Settings(rate=options.rate, max_body=options.max_body, log_requests=requests)


def _config(
    options: Options,
    app: ASGIApp | functools.partial[ASGIApp],
    *,
    factory: bool = False,
    workers: int = 1,
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        workers=workers,
        interface="asgi3",
        log_config=None,
        log_level=options.log_level,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=_GRACE,
        timeout_worker_healthcheck=_SLOWEST_START,
        limit_concurrency=options.connections + 1,  # the first number that is too many
    )


def _bound(options: Options) -> socket.socket:
    """The socket, bound before anything else is announced."""
    try:
        found = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InvalidArgument(f"There is no address {options.host!r} with port {options.port}.") from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # a closed connection whose last bytes nobody reads ends, too
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(PATIENCE * 1000))
    try:
        listening.bind(address)
    except OSError as error:
        listening.close()
        raise InvalidArgument(f"Cannot listen at {options.host} port {options.port}: {error}.") from None
    listening.set_inheritable(True)
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def warn_about(host: str) -> None:
    """Say what is expected where others than this machine can connect."""
    try:
        safe = ipaddress.ip_address(host).is_loopback
    except ValueError:
        safe = host == "localhost"
    if not safe:
        log.warning(_NO_TLS)


def _announce(key: str, *, as_data: bool) -> None:
    """Show the first admin key: on standard output, which is no log."""
    if as_data:
        print(json.dumps({"admin_key": key}), flush=True)
        return
    print("This store is new. Its admin key, shown this once (keep it where you keep passwords):")
    print(f"\n    {key}\n", flush=True)
