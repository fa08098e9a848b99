"""The rules of Sayso: which call may run, and who may approve or reject it.

This package uses no chat platform, database, event loop, file system, network or clock itself. Adapters provide these
things through the protocols in `hitl.ports`.
"""
