"""What an agent's machine needs to ask Sayso: no service, and nothing but the standard library.

A hook of a coding agent starts for each tool call, so modules here load in a few milliseconds: dataclasses, pathlib
and typing are never imported (`TYPE_CHECKING = False` is what type checkers take for typing's), and `subprocess` and
`hashlib` only to run a command.
"""
