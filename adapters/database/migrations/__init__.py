"""Alembic migrations of the SQLite database. At its start, the service runs the migrations that the database lacks."""
