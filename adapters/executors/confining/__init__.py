"""The keeper, a small program that runs one command in its limits, and one module for each kind of confinement.

The keeper and these modules run in a separate process, with only the standard library (`python -I -S`). Limits and
confinement must be set between fork and exec, which is safe only in a process with one thread.
"""
