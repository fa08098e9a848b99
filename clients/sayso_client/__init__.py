"""What an agent's machine needs to ask Sayso: no service, and nothing but the standard library.

A hook of a coding agent starts for each tool call, so modules here load in a few milliseconds: no dataclasses, no
pathlib, and `subprocess` only where a command is run.
"""
