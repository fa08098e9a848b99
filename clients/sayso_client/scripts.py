"""Finds the script files of a command and their digests, so that an approval covers the scripts' current contents.

The service may not be allowed to read the scripts, so the client that runs the command hashes them: when it asks, and
again before it runs the command. This module finds a program that is named by its path, the file that an interpreter is
given, and scripts among the other words. This module doesn't find files that are named in the text of a shell command
(`sh -c ...`), or files that a script itself starts, imports or reads.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: The name of the argument that holds the digests, by path. `hitl.operating_mode` has the same name.
ARGUMENT = "script_sha256"
_INTERPRETER = re.compile(
    r"(?:ba|da|z|k|fi)?sh|(?:python|pypy|perl|ruby|php|lua|tclsh)[\d.]*|node|deno|bun|tsx|Rscript|julia|pwsh|pytest"
)
_SCRIPT = re.compile(r".*\.(?:sh|bash|zsh|fish|py|pl|rb|[cm]?js|ts|php|lua|r|jl|tcl|awk|sed|mk|ps1|sql)", re.IGNORECASE)
_MAKE = re.compile(r"g?make")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
#: A request may have the names and digests of at most this many script files.
_MOST = 200


def digests(command: Sequence[str], folder: str) -> dict[str, str] | None:
    """Return the SHA-256 of each script file that a command names, by the path in the command.

    Return None for a command with more than `_MOST` files.
    """
    words = list(dict.fromkeys(_named(command, folder)))
    if len(words) > _MOST:
        return None
    found = {word: _digest(word, folder) for word in words}
    return {word: digest for word, digest in found.items() if digest}


def changed(known: Mapping[str, str], folder: str) -> str | None:
    """Return the first file whose digest differs from the known digest, or None."""
    return next((word for word, digest in known.items() if _digest(word, folder) != digest), None)


def _named(command: Sequence[str], folder: str) -> Iterator[str]:
    if command and "/" in command[0]:
        yield command[0]
    waits = told = makes = False
    for word in command:
        value = word.partition("=")[2] if word.startswith("--") else word
        base, path = os.path.basename(word), os.path.join(folder, value)
        if _INTERPRETER.fullmatch(base):
            waits = True
        elif word == "-c":
            waits = False
        elif value and word is not command[0] and os.path.isfile(path) and (waits or told or _is_script(path)):
            yield value
            waits = waits and word.startswith("-")
        makes = makes or bool(_MAKE.fullmatch(base))
        told = makes and word in {"-f", "--file", "--makefile"}
    if makes and not any(word.startswith(("-f", "--file", "--makefile")) for word in command):
        yield from [name for name in _MAKEFILES if os.path.isfile(os.path.join(folder, name))][:1]


def _is_script(path: str) -> bool:
    if _SCRIPT.fullmatch(path):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _digest(word: str, folder: str) -> str:
    import hashlib

    try:
        path = os.path.join(folder, word)
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""
