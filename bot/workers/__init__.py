"""Workers beside requests: they take events from the inbox, keep deadlines, and compute long things on a thread."""
