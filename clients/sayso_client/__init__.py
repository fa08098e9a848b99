"""The client that an agent's machine needs to ask Sayso. The machine doesn't need the service's package.

    from sayso_client import Sayso

    sayso = Sayso()

    @sayso.gated
    def send_email(to: str, subject: str) -> str: ...

A command, or a hook of a coding agent, starts for each tool call. So the modules that commands and hooks import must
load in a few milliseconds. These modules import only the standard library. They never import dataclasses, pathlib or
typing: type checkers treat the constant `TYPE_CHECKING = False` like the constant in typing. They import `subprocess`
and `hashlib` only to run a command. The names in `__all__` are imported at their first use.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sayso_client.calls import AsyncSayso, Planned, Sayso
    from sayso_client.errors import ClientError
    from sayso_client.life import Request
    from sayso_client.outcomes import Answer, NotRun, Ran
    from sayso_client.settings import Configuration, configuration

__all__ = [
    "Answer",
    "AsyncSayso",
    "ClientError",
    "Configuration",
    "NotRun",
    "Planned",
    "Ran",
    "Request",
    "Sayso",
    "configuration",
]
_MODULES = {
    "Answer": "outcomes",
    "AsyncSayso": "calls",
    "ClientError": "errors",
    "Configuration": "settings",
    "NotRun": "outcomes",
    "Planned": "calls",
    "Ran": "outcomes",
    "Request": "life",
    "Sayso": "calls",
    "configuration": "settings",
}


def __getattr__(name: str) -> object:
    """Import the module of a name in `__all__` at the first use of the name, and return the name's value."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"sayso_client.{_MODULES[name]}"), name)
