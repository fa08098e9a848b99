"""Us against the floor with 2 ms added to each sync: `python -m benchmarks.slow`."""

import sys

from benchmarks.__main__ import main

if __name__ == "__main__":
    main(["slow", *sys.argv[1:]])
