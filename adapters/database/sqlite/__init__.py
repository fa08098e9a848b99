"""The port `Store` on SQLite: one writer, a second connection for reads, and code for the files beside the database."""
