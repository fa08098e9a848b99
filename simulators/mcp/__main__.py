"""`python -m simulators.mcp FOLDER`."""

import sys

from simulators.mcp.client import main

if __name__ == "__main__":
    main(sys.argv[1:])
