"""The keeper's program: see `supervisor`.

The service starts this file by its path, because an isolated Python finds no packages.
"""

import os
import sys

# The path comes after the standard library, so that no installed module can replace a standard one.
sys.path.append(os.path.abspath(f"{__file__}/../../../.."))

from adapters.executors.confining.supervisor import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
