"""Adapters connect the decision logic (`hitl`) with the outside: chat platforms, a database, HTTP, MCP.

No adapter imports another.
"""
