"""The `Store` port on SQLite: one writer, reads on another connection, and the files around the database."""
