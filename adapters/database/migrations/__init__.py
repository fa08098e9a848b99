"""Alembic migrations of the embedded database, run at start in this process when the schema is older."""
