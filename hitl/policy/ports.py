"""What the policy asks of the world: where a path leads, where a name resolves to, where documents come from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from hitl.ports import Paths, Resolver

_is_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}").fullmatch


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a named policy."""

    name: str
    #: The file or place that it was read from, for people.
    origin: str
    text: str
    #: `yaml` or `json`.
    format: str
    #: Whether it is part of the program, so that nobody writes it while the program runs.
    fixed: bool = False


class DocumentSource(Protocol):
    """Where named policies are kept. Each tenant has its own; the tenant of an installation with one is ``""``."""

    def names(self) -> list[str]:
        """Return the names of the documents that every tenant may read."""

    def read(self, tenant: str, name: str) -> Document:
        """Return the tenant's document of that name, as it is now.

        Raises LookupError if there is none or a name is not one, with the reason for people as its argument, and
        PermissionError if others could write it. It never gives another tenant's document.
        """


def check_names(tenant: str, name: str) -> None:
    """Raise LookupError if the name of a tenant or of a policy could lead anywhere else."""
    if _is_name(name) is None:
        raise LookupError(f"{name!r} is not a name of a policy: letters, digits, '_', '-' and '.' only")
    if tenant and _is_name(tenant) is None:
        raise LookupError(f"{tenant!r} is not a name of a tenant: letters, digits, '_', '-' and '.' only")


__all__ = ["Document", "DocumentSource", "Paths", "Resolver", "check_names"]
