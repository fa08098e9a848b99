"""The port `Store` on SQLite: one writer, a second connection for reads, and the files beside the database."""
