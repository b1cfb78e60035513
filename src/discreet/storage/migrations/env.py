"""How alembic runs the migrations: in the transaction of the connection that `migrate` passes."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table="schema_version")
context.run_migrations()
