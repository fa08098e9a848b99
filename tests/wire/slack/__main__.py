"""`python -m tests.wire.slack`: the server with a text client."""

from .client import main

if __name__ == "__main__":
    main()
