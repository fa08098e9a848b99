"""`python -m simulators.telegram`: the server with a text client."""

from simulators.telegram.client import main

if __name__ == "__main__":
    main()
