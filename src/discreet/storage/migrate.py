"""Create the schema of this release in a database, or migrate to it.

The caller holds a lock and an open transaction: processes that start at once do not race, and a migration
happens completely or not at all.
"""

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, inspect

from discreet.errors import StoreError
from discreet.storage.tables import metadata


def migrate(connection: Connection) -> None:
    """Create all tables in an empty database, or run the migrations that are missing."""
    config = _config()
    config.attributes["connection"] = connection
    if not inspect(connection).has_table("schema_version"):
        metadata.create_all(connection)
        command.stamp(config, "head")
        return
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise StoreError(
            "Another version of discreet made this store, with a schema that this one does not read: use "
            "that version, or start with a new store."
        ) from None


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "discreet.storage:migrations")
    config.set_main_option("path_separator", "os")
    return config
