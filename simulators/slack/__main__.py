"""`python -m simulators.slack`: the server with a text client."""

from simulators.slack.client import main

if __name__ == "__main__":
    main()
