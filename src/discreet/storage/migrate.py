"""Bringing a database to the version of the schema that this release uses.

The caller holds a lock and an open transaction, so that processes that start at once do not race, and a
migration happens whole or not at all.
"""

from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from discreet.errors import StoreError


def migrate(connection: Connection) -> None:
    """Run the migrations that are missing."""
    config = _config()
    scripts = ScriptDirectory.from_config(config)

    def missing(present: Any, _: Any) -> Any:
        return scripts._upgrade_revs("head", present)

    try:
        with EnvironmentContext(config, scripts, fn=missing) as environment:
            environment.configure(connection=connection, version_table="schema_version")
            environment.run_migrations()
    except CommandError:
        raise StoreError(
            "This database has a schema that this release does not know. A newer release made it: use that."
        ) from None


def latest_version() -> str:
    """The version of the schema after :func:`migrate`."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "discreet.storage:migrations")
    config.set_main_option("path_separator", "os")
    return config
