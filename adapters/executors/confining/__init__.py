"""What happens between the service and a command: one file for each kind of confinement, and the keeper.

Everything here runs in a small process of its own, with nothing but the standard library (`python -I -S`), because
limits and confinement are set between fork and exec, which is safe only in a process with one thread.
"""
