"""What the policy asks of the world: where a path leads, where a name resolves to, where documents come from."""

from dataclasses import dataclass
from typing import Protocol

from hitl.ports import Paths, Resolver


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a named policy, and the name of the file or place that it was read from."""

    name: str
    origin: str
    text: str
    format: str


class Documents(Protocol):
    """Where named policy documents are kept."""

    def read(self, name: str) -> Document:
        """The document of that name.

        Raises LookupError where there is none, and PermissionError where others could write it.
        """


__all__ = ["Document", "Documents", "Paths", "Resolver"]
