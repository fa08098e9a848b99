"""The port `Store` on SQLite: one writer, a second connection for reads, and code for the other files of the state
folder.
"""
