"""Run the service: one process, or several on PostgreSQL, until a signal ends it."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE

from discreet.errors import InvalidArgument
from discreet.imports import load_object
from discreet.learners.host import register
from discreet.service import workers
from discreet.service.app import create_app
from discreet.service.learner_service import LearnerService
from discreet.service.listening import address, bound, warn_about
from discreet.service.options import ADMIN_KEY, Options
from discreet.service.warming import warm_up
from discreet.service.web import logs
from discreet.service.web.connections import HEAD_TIMEOUT, Connection
from discreet.service.web.metrics import SHARED

#: Seconds that running requests get when the server ends.
_GRACE = 30
#: Seconds to wait for somebody to agree that an encrypted connection ends.
_BYE = 1.0

log = logging.getLogger("discreet.service")


def serve(options: Options) -> None:
    """Serve until SIGTERM or SIGINT. Running requests are answered, and what is queued is written."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # memory holds keys and costs: no core dumps
    logs.configure(options.log_level)
    register_policies(options.policies)
    with bound(options) as listening:
        with LearnerService.open(options.store, key_file=options.key_file, maintenance=False) as service:
            given = os.environ.get(ADMIN_KEY)
            first = service.api_keys.first(given)
        if first is not None and first != given:
            _print_key(first, as_json=options.json)
        warn_about(options)
        if options.workers == 1:
            _work(options, listening, address(options, listening))
        else:
            _serve_workers(options, listening)


def register_policies(policies: Sequence[str]) -> None:
    """Let learners with these policies be created and hosted; each is written NAME=MODULE:NAME."""
    for entry in policies:
        name, equals, target = entry.partition("=")
        if not name or not equals:
            raise InvalidArgument(f"A policy is written NAME=MODULE:NAME. Got {entry!r} instead.")
        register(name, load_object(target))


def _serve_workers(options: Options, listening: socket.socket) -> None:
    """Serve with processes that share a socket."""
    with tempfile.TemporaryDirectory(prefix="discreet-metrics-") as directory:
        os.environ[SHARED] = directory  # before any worker starts to count
        log.info("serving %s with %d processes", address(options, listening), options.workers)
        workers.supervise(options.workers, _work, (options, listening))


def _work(options: Options, listening: socket.socket, ready: str = "") -> None:
    """Serve in this process."""
    logs.configure(options.log_level)
    register_policies(options.policies)
    warm_up()
    with LearnerService.open(options.store, key_file=options.key_file) as service:
        app = create_app(
            service,
            rate=options.rate,
            max_body=options.max_body,
            log_requests=log.isEnabledFor(logging.INFO),
            cors_origins=options.cors_origins,
        )
        _run(_config(options, app), listening, ready)


def _run(config: uvicorn.Config, listening: socket.socket, ready: str = "") -> None:
    """Run a server until a signal ends it, and ignore the signal when uvicorn raises it again afterwards."""
    server = _Server(config, ready)
    before = {number: signal.signal(number, server.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    """A server that logs when it is ready, and does not wait long for those who begin to encrypt."""

    def __init__(self, config: uvicorn.Config, ready: str) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        config, loop = self.config, asyncio.get_running_loop()
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            sys.exit(STARTUP_FAILURE)
        make = functools.partial(
            Connection, config=config, server_state=self.server_state, app_state=self.lifespan.state
        )
        options: dict[str, Any] = {"backlog": config.backlog}
        if config.ssl:
            options |= {
                "ssl": config.ssl,
                "ssl_handshake_timeout": HEAD_TIMEOUT,
                "ssl_shutdown_timeout": _BYE,
            }
        self.servers = [
            await loop.create_unix_server(make, sock=each, **options)
            if each.family == socket.AF_UNIX
            else await loop.create_server(make, sock=each, **options)
            for each in sockets or []
        ]
        self.started = True
        if self._ready:
            log.info("serving %s (dashboard at /, reference at /docs)", self._ready)


def _config(options: Options, app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Connection,
        interface="asgi3",
        log_config=None,
        log_level=options.log_level,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=_GRACE,
        limit_concurrency=options.connections + 1,  # the first that is too many
        ssl_certfile=options.tls_cert,
        ssl_keyfile=options.tls_key,
    )


def _print_key(key: str, *, as_json: bool) -> None:
    """Print the first admin key on standard output, which is not the log."""
    if as_json:
        print(json.dumps({"admin_key": key}), flush=True)
        return
    print("This store is new. Its admin key, shown only this once (keep it where you keep passwords):")
    print(f"\n    {key}\n", flush=True)
