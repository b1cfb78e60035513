"""The service: private decisions that are kept, for many workers at once, through crashes and for years."""

from discreet.extras import require_extra

require_extra(
    "service",
    "The service, its stores and its keys need",
    "alembic",
    "cryptography",
    "fastapi",
    "prometheus_client",
    "sqlalchemy",
    "uvicorn",
)
