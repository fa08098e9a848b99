"""Workers besides requests: they handle events of the inbox, keep deadlines, and compute long things on a thread."""
