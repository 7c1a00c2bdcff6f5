"""Alembic's way in: runs the steps on the connection, and in the transaction, of whoever opens the log."""

from alembic import context

from companion.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,  # SQLite has it too, once the driver leaves BEGIN and COMMIT to us
)
context.run_migrations()
