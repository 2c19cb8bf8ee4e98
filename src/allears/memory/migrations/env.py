"""Alembic's way in: `schema.upgrade` hands over a connection whose transaction it holds."""

from alembic import context

from allears.memory.tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
