"""The program that keeps one command: see `keeper`. Run by its path, because an isolated Python finds no packages."""

import os
import sys

# Behind the standard library, so that nothing installed can pose as a part of it.
sys.path.append(os.path.abspath(f"{__file__}/../../../.."))

from adapters.executors.confining.supervisor import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
