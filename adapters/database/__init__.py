"""The database: SQLite behind the decision's `Store` port, with one writer that commits in groups."""
