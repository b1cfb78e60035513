"""The command ``discreet serve``."""


def run(
    store: str,
    host: str,
    port: int,
    workers: int,
    key_file: str | None,
    log_level: str,
    rate: float | None,
    max_body: int | None,
    connections: int | None,
    json: bool,
) -> None:
    """Serve until a signal says to end."""
    from discreet.service.app import MAX_BODY, RATE
    from discreet.service.server import CONNECTIONS, Options, serve

    options = Options(
        store=store,
        host=host,
        port=port,
        workers=workers,
        key_file=key_file,
        log_level=log_level,
        rate=RATE if rate is None else rate,
        max_body=MAX_BODY if max_body is None else max_body,
        connections=CONNECTIONS if connections is None else connections,
        json=json,
    )
    serve(options)
