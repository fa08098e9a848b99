"""`python -m tests.wire.mcp FOLDER`."""

import sys

from .client import main

if __name__ == "__main__":
    main(sys.argv[1:])
