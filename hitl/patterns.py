"""Compiles regular expressions at their first use.

All patterns of the cards together take 13 ms to compile, with the import of `regex`. A process that only runs a decided
call, and a command that only connects to the service, need none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import re


def lazily(pattern: str, flags: int = 0, *, library: str = "re") -> re.Pattern[str]:
    r"""Return the pattern. It is compiled when one of its methods or attributes is first used.

    With `library="regex"`, the package `regex` compiles it, which knows the properties of Unicode (`\p{L}`, `\X`). Its
    patterns and matches have all methods of those of `re` that this project uses.
    """
    return cast("re.Pattern[str]", _Lazy(pattern, flags, library))


class _Lazy:
    def __init__(self, pattern: str, flags: int, library: str) -> None:
        self._source = pattern, flags, library

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and keep it, so that this method isn't called for it again."""
        pattern, flags, library = self._source
        found = getattr(import_module(library).compile(pattern, flags), name)
        setattr(self, name, found)
        return found
