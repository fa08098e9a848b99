"""`python -m tests.wire.model`: the server, until it is stopped."""

from .client import main

if __name__ == "__main__":
    main()
