"""The rules of Sayso: which call may run, and who may decide that.

This package uses no chat platform, database, event loop, file system, network or clock itself. Adapters provide these
through the protocols in `hitl.ports`.
"""
