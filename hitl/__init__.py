"""The decision about each call. It uses no chat platform, database, event loop, file system, network or clock itself.

Adapters give it all of these through the protocols in `hitl.ports`.
"""
