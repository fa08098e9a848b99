"""The database. It implements the port `Store` on SQLite: one writer commits all changes, several in one commit."""
