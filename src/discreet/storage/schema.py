"""Create the tables of this version in an empty database, and refuse those of another version.

The caller holds a lock and an open transaction: processes that start at once do not race.
"""

from sqlalchemy import Connection, inspect, select

from discreet.errors import StoreError
from discreet.storage.tables import metadata, schema_version

#: To be changed with the tables, once there was a release.
SCHEMA = "0006"


def create_tables(connection: Connection) -> None:
    """Create all tables unless they are there.

    Raises:
        StoreError: Another version made them.
    """
    if not inspect(connection).has_table(schema_version.name):
        metadata.create_all(connection)
        connection.execute(schema_version.insert().values(version_num=SCHEMA))
        return
    if connection.scalar(select(schema_version.c.version_num)) != SCHEMA:
        raise StoreError(
            "Another version of discreet made this store, with a schema that this one does not read: use "
            "that version, or start with a new store."
        )
