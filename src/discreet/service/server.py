"""Run the service with uvicorn: one process, or several on PostgreSQL, until a signal ends it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import resource
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence

import uvicorn
from starlette.types import ASGIApp

from discreet.client.address import is_loopback
from discreet.errors import InvalidArgument
from discreet.imports import load_object
from discreet.learners.host import register
from discreet.service.app import create_app
from discreet.service.learner_service import LearnerService
from discreet.service.options import ADMIN_KEY, Options
from discreet.service.warming import warm_up
from discreet.service.web import logs
from discreet.service.web.metrics import SHARED, forget_dead_processes

#: Seconds that running requests get when the server ends.
_GRACE = 30
#: Seconds that a worker may be silent before it is replaced: one on a busy machine is slow to start.
_SILENCE = 30
#: Seconds of starting after which it says what it is doing.
_PATIENCE = 2.0
_COMPILING = "compiling, once for each version: about half a minute, more on a busy machine"
#: The environment variable through which worker processes get the options.
_OPTIONS = "DISCREET_SERVE_OPTIONS"

_NO_PROXY = (
    "The service listens beyond this machine. It has no limits of its own on connections and headers: put a "
    "proxy in front, let nothing else reach this address, and give --behind-proxy."
)

log = logging.getLogger("discreet.service")


def serve(options: Options) -> None:
    """Serve until SIGTERM or SIGINT. Running requests are answered, and what is queued is written."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # memory holds keys and costs: no core dumps
    logs.configure(options.log_level)
    register_policies(options.policies)
    with LearnerService.open(options.store, key_file=options.key_file, maintenance=False) as service:
        given = os.environ.get(ADMIN_KEY)
        first = service.api_keys.first(given)
    if first is not None and first != given:
        _print_key(first, as_json=options.json)
    warn_about(options)
    os.environ[_OPTIONS] = json.dumps(dataclasses.asdict(options))
    # uvicorn raises the signal again once it has ended in good order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with _shared_metrics(options):
        uvicorn.run(
            "discreet.service.server:create_worker_app",
            factory=True,
            host=options.host,
            port=options.port,
            uds=options.uds,
            workers=options.workers,
            timeout_worker_healthcheck=_SILENCE,
            interface="asgi3",
            log_config=None,
            log_level=options.log_level,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=_GRACE,
            ssl_certfile=options.tls_cert,
            ssl_keyfile=options.tls_key,
        )


def create_worker_app() -> ASGIApp:
    """The application of one process, with the options that `serve` has put into the environment."""
    options = Options(**json.loads(os.environ[_OPTIONS]))
    logs.configure(options.log_level)
    register_policies(options.policies)
    forget_dead_processes()
    patience = threading.Timer(_PATIENCE, log.info, [_COMPILING])
    patience.start()
    warm_up()
    patience.cancel()
    return create_app(
        LearnerService.open(options.store, key_file=options.key_file),
        rate=options.rate,
        max_body=options.max_body,
        log_requests=log.isEnabledFor(logging.INFO),
        cors_origins=options.cors_origins,
    )


def register_policies(policies: Sequence[str]) -> None:
    """Let learners with these policies be created and hosted; each is written NAME=MODULE:NAME."""
    for entry in policies:
        name, equals, target = entry.partition("=")
        if not name or not equals:
            raise InvalidArgument(f"A policy is written NAME=MODULE:NAME. Got {entry!r} instead.")
        register(name, load_object(target))


def warn_about(options: Options) -> None:
    """Warn if other machines can connect, unless a proxy stands in front."""
    if not (is_loopback(options.host) or options.uds or options.behind_proxy):
        log.warning(_NO_PROXY)


def _shared_metrics(options: Options) -> contextlib.AbstractContextManager[object]:
    """A folder in which the metrics of several processes add up, named before any of them starts to count."""
    if options.workers == 1:
        return contextlib.nullcontext()
    folder = tempfile.TemporaryDirectory(prefix="discreet-metrics-")
    os.environ[SHARED] = folder.name
    return folder


def _print_key(key: str, *, as_json: bool) -> None:
    """Print the first admin key on standard output, which is not the log."""
    if as_json:
        print(json.dumps({"admin_key": key}), flush=True)
        return
    print("This store is new. Its admin key, shown only this once (keep it where you keep passwords):")
    print(f"\n    {key}\n", flush=True)
