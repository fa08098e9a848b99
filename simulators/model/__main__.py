"""`python -m simulators.model`: the server, until it is stopped."""

from simulators.model.client import main

if __name__ == "__main__":
    main()
