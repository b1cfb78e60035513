"""Run the service: one process, or several on PostgreSQL, until a signal ends it."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import ipaddress
import json
import logging
import os
import signal
import socket
import tempfile
from collections.abc import Sequence

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from discreet.errors import InvalidArgument
from discreet.imports import load_object
from discreet.learners.host import register
from discreet.service.app import MAX_BODY, RATE, Settings, create_app
from discreet.service.learner_service import LearnerService
from discreet.service.warming import warm_up
from discreet.service.web import logs
from discreet.service.web.metrics import SHARED
from discreet.service.web.sending import READ_TIMEOUT
from discreet.storage import serves_one_process

#: Seconds that running requests get when the server ends.
_GRACE = 30
#: Seconds for a worker process to start, or to answer its parent: on a busy machine uvicorn's default of five
#: is too short for the imports, and workers would be killed and started for ever.
_WORKER_TIMEOUT = 60
#: Connections of one process. Beyond them requests are answered with 503, which clients retry.
CONNECTIONS = 1_000
_NO_TLS = (
    "listening beyond this machine without encryption: API keys and costs can be read on the way. Put a "
    "proxy with TLS in front, and let nothing else reach this port."
)
LEVELS = ("debug", "info", "warning", "error")

log = logging.getLogger("discreet.service")


@dataclasses.dataclass(frozen=True)
class Options:
    """How to serve.

    Attributes:
        store: A path, or the address of a PostgreSQL database.
        host: The address to listen on; only this machine by default.
        port: 0 for any free port.
        workers: Processes.
        key_file: The encryption key.
        log_level: One of `LEVELS`; requests are logged at "info".
        rate: Requests per second of one key, in each process.
        max_body: Bytes of a request's body.
        connections: Open connections of one process, idle ones included; beyond them requests get 503.
        json: Whether to print the first admin key as JSON.
        policies: Custom policies, each as NAME=MODULE:NAME.
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
    policies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.workers < 1 or not self.rate > 0 or self.max_body < 1:
            raise InvalidArgument("There must be at least one worker, one request per second and one byte.")
        if self.connections < 1:
            raise InvalidArgument("There must be at least one connection.")
        if not 0 <= self.port < 1 << 16:
            raise InvalidArgument("A port is an integer from 0 to 65535.")
        if self.log_level not in LEVELS:
            raise InvalidArgument(f"The log level must be one of {', '.join(LEVELS)}.")
        if self.workers > 1 and serves_one_process(self.store):
            raise InvalidArgument(
                f"An SQLite store serves one process: {self.workers} workers need --store postgresql://... "
                "(one process handles thousands of requests per second)."
            )


def serve(options: Options) -> None:
    """Serve until SIGTERM or SIGINT. Running requests are answered, and what is queued is written."""
    logs.configure(options.log_level)
    register_policies(options.policies)
    with contextlib.closing(_bound(options)) as listening:
        with LearnerService.open(options.store, key_file=options.key_file) as service:
            first = service.api_keys.first()
            if first is not None:
                _print_key(first, as_json=options.json)
            warn_about(options.host)
            if options.workers == 1:
                warm_up()
                config = _config(options, create_app(service, _settings(options)))
                _run(_Server(config, _address(listening)), listening)
                return
        _serve_workers(options, listening)


def register_policies(policies: Sequence[str]) -> None:
    """Let learners with these policies be created and hosted; each is written NAME=MODULE:NAME."""
    for entry in policies:
        name, equals, target = entry.partition("=")
        if not name or not equals:
            raise InvalidArgument(f"A policy is written NAME=MODULE:NAME. Got {entry!r} instead.")
        register(name, load_object(target))


def _serve_workers(options: Options, listening: socket.socket) -> None:
    """Serve with processes that share a socket; one that dies is replaced."""
    with tempfile.TemporaryDirectory(prefix="discreet-metrics-") as directory:
        os.environ[SHARED] = directory  # before any worker starts to count
        config = _config(options, functools.partial(_worker, options), factory=True, workers=options.workers)
        log.info("serving %s with %d processes", _address(listening), options.workers)
        Multiprocess(config, sockets=[listening]).run()


class _Server(uvicorn.Server):
    """A server that logs when it is ready."""

    def __init__(self, config: uvicorn.Config, address: str) -> None:
        super().__init__(config)
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        log.info("serving %s (dashboard at /, reference at /docs)", self._address)


def _run(server: uvicorn.Server, listening: socket.socket) -> None:
    """Run a server until a signal ends it, and ignore the signal when uvicorn raises it again afterwards."""
    before = {number: signal.signal(number, server.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _worker(options: Options) -> ASGIApp:
    """The application of a worker process."""
    logs.configure(options.log_level)
    register_policies(options.policies)
    warm_up()
    return create_app(LearnerService.open(options.store, key_file=options.key_file), _settings(options))


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
        timeout_worker_healthcheck=_WORKER_TIMEOUT,
        limit_concurrency=options.connections + 1,  # the first that is too many
    )


def _bound(options: Options) -> socket.socket:
    """The socket, bound before anything else is done."""
    try:
        found = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InvalidArgument(f"There is no address {options.host!r}, port {options.port}.") from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # closes connections whose last bytes nobody reads
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(READ_TIMEOUT * 1000))
    try:
        listening.bind(address)
    except OSError as error:
        listening.close()
        raise InvalidArgument(f"Cannot listen on {options.host} port {options.port}: {error}.") from None
    listening.set_inheritable(True)
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def warn_about(host: str) -> None:
    """Warn if other machines can connect."""
    try:
        safe = ipaddress.ip_address(host).is_loopback
    except ValueError:
        safe = host == "localhost"
    if not safe:
        log.warning(_NO_TLS)


def _print_key(key: str, *, as_json: bool) -> None:
    """Print the first admin key on standard output, which is not the log."""
    if as_json:
        print(json.dumps({"admin_key": key}), flush=True)
        return
    print("This store is new. Its admin key, shown only this once (keep it where you keep passwords):")
    print(f"\n    {key}\n", flush=True)
