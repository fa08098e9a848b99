"""The running process: the only place where concrete classes meet."""
