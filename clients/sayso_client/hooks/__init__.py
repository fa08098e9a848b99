"""Hooks of coding agents: the host starts one for each tool call, and the hook answers with the decision on the call.

Most hosts run the tool if a hook fails: by a crash, an empty answer, garbage, or a time-out. So a hook answers with an
explicit denial if anything is unclear, always before the host's own deadline. The command that `installing.py` writes
turns all other failures (a missing program, a kill) into a block.

Each host has one file, which reads that host's events and writes its answers. Everything that a hook imports uses only
the standard library and loads in milliseconds.
"""
