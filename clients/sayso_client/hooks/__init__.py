"""Hooks of coding agents: the host starts one for each tool call, and it answers with what people or the policy say.

Hosts run the tool when a hook fails in most ways: by a crash, an empty answer, garbage, or a time-out. So a hook
answers with an explicit denial whenever anything is unclear, always before the host's own deadline, and the command
that `installing.py` writes turns what is left (a missing program, a kill) into a block.

One file a host knows how that host asks and how it is answered. Like all that a hook imports, these files use the
standard library alone and load in milliseconds.
"""
