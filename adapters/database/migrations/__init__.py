"""Alembic migrations of the embedded database. The service runs them at its start if the schema is older."""
