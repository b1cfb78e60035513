"""The service: learners in a store, for many workers at once, durable across crashes."""

from discreet.imports import require_extra

require_extra(
    "service",
    "The service, its stores and its keys need",
    "fastapi",
    "prometheus_client",
    "sqlalchemy",
    "uvicorn",
)
