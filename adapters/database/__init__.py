"""The database: an implementation of the port `Store` on SQLite, with one writer that commits in groups."""
