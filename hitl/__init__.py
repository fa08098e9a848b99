"""The decision: knows no chat platform, database, event loop, file system, network or clock of its own."""
