"""Background workers: they handle events of the inbox, keep deadlines, and run long computations on a thread."""
