"""Delete the files that are named on the command line, each after an approval: python tidy.py FILE..."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sayso_client import ClientError, NotRun, Sayso

sayso = Sayso()  # The address is in ~/.config/sayso/client.toml.
PATIENCE_S = int(os.environ.get("PATIENCE_S", "300"))


@sayso.gated(ask=True, timeout_s=PATIENCE_S)
def delete_file(path: str) -> str:
    """Delete one file. People see its path."""
    Path(path).unlink()
    return f"deleted {path}"


def main() -> int:
    """Return 0 if every file was deleted, 10 if a deletion wasn't approved, and 13 if nobody could be asked."""
    status = 0
    for name in sys.argv[1:]:
        try:
            came = delete_file(str(Path(name).absolute()))
        except ClientError as error:
            print(error.message, file=sys.stderr)
            return 13
        print(came)
        if isinstance(came, NotRun):
            status = 10
    return status


if __name__ == "__main__":
    sys.exit(main())
