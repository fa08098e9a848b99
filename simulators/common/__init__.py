"""What the servers of all platforms share: clock, faults, rate limits, listeners, control and text client.

It imports nothing of ours outside this folder, and is imported with `..common`, so that the servers can be
shipped beside it inside another package.
"""
