"""The script that alembic runs. It runs the migrations on the connection from `upgrade.config`."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

import adapters.database.tables  # noqa: F401 - the import registers the tables in SQLModel.metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
