"""How to serve: what `discreet serve` takes."""

from __future__ import annotations

import dataclasses
import ssl

from discreet.errors import InvalidArgument
from discreet.storage import serves_one_process

#: Requests per second of one key, and bytes of a body, by default.
RATE, MAX_BODY = 10_000.0, 4 << 20
LEVELS = ("debug", "info", "warning", "error")
#: The environment variable that may hold the first admin key of a new store.
ADMIN_KEY = "DISCREET_ADMIN_KEY"


@dataclasses.dataclass(frozen=True)
class Options:
    """How to serve.

    Attributes:
        store: A path, or the address of a PostgreSQL database.
        host: The address to listen on; only this machine by default.
        port: 0 for any free port.
        uds: The path of a Unix domain socket to listen on instead.
        behind_proxy: Whether a proxy stands in front, so that listening beyond this machine is no mistake.
        tls_cert, tls_key: Files in PEM form, for TLS.
        cors_origins: Websites whose scripts may call the service; "*" for all.
        workers: Processes.
        key_file: The encryption key.
        log_level: One of `LEVELS`; requests are logged at "info".
        rate: Requests per second of one key, in each process.
        max_body: Bytes of a request's body.
        json: Whether to print the first admin key as JSON.
        policies: Custom policies, each as NAME=MODULE:NAME.
    """

    store: str
    host: str = "127.0.0.1"
    port: int = 8710
    uds: str | None = None
    behind_proxy: bool = False
    tls_cert: str | None = None
    tls_key: str | None = None
    cors_origins: tuple[str, ...] = ()
    workers: int = 1
    key_file: str | None = None
    log_level: str = "info"
    rate: float = RATE
    max_body: int = MAX_BODY
    json: bool = False
    policies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.workers < 1 or not self.rate > 0 or self.max_body < 1:
            raise InvalidArgument("There must be at least one worker, one request per second and one byte.")
        if not 0 <= self.port < 1 << 16:
            raise InvalidArgument("A port is an integer from 0 to 65535.")
        if self.log_level not in LEVELS:
            raise InvalidArgument(f"The log level must be one of {', '.join(LEVELS)}.")
        if self.workers > 1 and serves_one_process(self.store):
            raise InvalidArgument(
                f"An SQLite store serves one process: {self.workers} workers need --store postgresql://... "
                "(one process handles thousands of requests per second)."
            )
        self._check_tls()

    def _check_tls(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InvalidArgument("TLS needs both --tls-cert and --tls-key.")
        if self.tls_cert is not None:
            try:
                ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                    self.tls_cert, self.tls_key
                )
            except OSError as error:  # also of ssl
                reason = error.strerror or type(error).__name__
                raise InvalidArgument(f"The files for TLS cannot be used: {reason}.") from None
