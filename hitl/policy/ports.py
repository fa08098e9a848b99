"""The protocols by which the policy resolves paths, looks up the addresses of hosts, and gets policy documents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from hitl.policy.wording import say
from hitl.ports import Paths, Resolver

_is_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}").fullmatch


@dataclass(frozen=True, slots=True)
class Document:
    """A policy document as text, with its name and its source."""

    name: str
    #: The file or place from which the document comes, in words for people.
    origin: str
    text: str
    #: `yaml` or `json`.
    format: str
    #: Whether the program ships the document, so that its text can't change while the program runs.
    fixed: bool = False


class DocumentSource(Protocol):
    """A store of named policies.

    Each tenant has its own policies. An installation without tenants uses the tenant ``""``.
    """

    def names(self) -> list[str]:
        """Return the names of the documents that every tenant may read."""

    def read(self, tenant: str, name: str) -> Document:
        """Return the tenant's document with that name, with its current text. Never return another tenant's document.

        Raises:
            LookupError: there is no such document, or a name is malformed. The message gives the reason for people.
            PermissionError: other users could write the document.
        """


def check_names(tenant: str, name: str) -> None:
    """Raise LookupError if the name of a tenant or of a policy isn't a plain file name. Another name, such as ``../x``,
    could name a file outside the folder of policies.
    """
    if _is_name(name) is None:
        raise LookupError(say("fault.policy_name", name=repr(name)))
    if tenant and _is_name(tenant) is None:
        raise LookupError(say("fault.tenant_name", name=repr(tenant)))


__all__ = ["Document", "DocumentSource", "Paths", "Resolver", "check_names"]
