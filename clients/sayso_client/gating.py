"""Treats a Python function as a tool: a call of it becomes JSON, which people see and which the digest covers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from sayso_client.errors import ClientError
from sayso_client.life import Request
from sayso_client.wording import say

#: Names of the first parameters of methods. They aren't part of the call's arguments.
_OWN = frozenset({"self", "cls"})


class Terms(TypedDict, total=False):
    """The settings with which a function is gated."""

    #: `tool` is the name of the tool, by default the function's name. `tools` is the name of its group, by default the
    #: last part of the module's name.
    tool: str
    tools: str
    #: Ask a person even if the policy allows the call.
    ask: bool
    #: The longest wait for people, in seconds. The policy's timeout is the upper limit.
    timeout_s: int
    #: The agent's own name, and the id of the agent's session.
    agent: str
    session: str
    #: The agent's own words, marked as such on the card.
    note: str
    #: The conversation to ask in, if the token may name it.
    origin: str
    #: The person for whom the agent asks. With a token, this must be the token's owner.
    on_behalf_of: str
    #: Names of parameters that hold paths of files on which the call depends. The digest also covers the files'
    #: contents.
    files: Sequence[str]
    #: Names of parameters that aren't part of the call, such as a connection. Nobody sees them, so they must not change
    #: the effect of the call.
    context: Sequence[str]


class Tool:
    """A function with its settings. Raises TypeError if the settings name parameters that the function doesn't have."""

    def __init__(self, function: Callable[..., Any], terms: Terms) -> None:
        self._signature = inspect.signature(function)
        self._context = _OWN | set(terms.get("context", ()))
        self._files = tuple(terms.get("files", ()))
        self._variable = {
            name
            for name, parameter in self._signature.parameters.items()
            if parameter.kind is inspect.Parameter.VAR_KEYWORD
        }
        self._fields: dict[str, Any] = {
            "tool": getattr(function, "__name__", "function"),
            "tools": getattr(function, "__module__", "python").rpartition(".")[2].strip("_") or "python",
            **{name: value for name, value in terms.items() if name not in {"files", "context"}},
        }
        named = (*self._files, *terms.get("context", ()))
        if missing := [name for name in named if name not in self._signature.parameters]:
            raise TypeError(say("gated.parameter", name=missing[0], function=self._fields["tool"]))

    def request(self, *args: Any, **kwargs: Any) -> Request:
        """Return the request for a call with these arguments, with the defaults filled in.

        Raises TypeError as the call itself would. Raises ClientError if a file's name isn't text. Also raises
        ClientError if a keyword of `**kwargs` has the name of another parameter, because people would see only one of
        the two values.
        """
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        seen: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            if name in self._variable:
                if taken := value.keys() & (self._signature.parameters.keys() - self._variable):
                    raise ClientError("ARGUMENTS", say("arguments.twice", name=min(taken)))
                seen |= value
            elif name not in self._context:
                seen[name] = value
        return Request(args=seen, files=tuple(self._paths(seen)), **self._fields)

    def _paths(self, seen: dict[str, Any]) -> list[str]:
        found: list[str] = []
        for name in self._files:
            value = seen.get(name)
            paths = [value] if isinstance(value, str) else value
            if not isinstance(paths, list | tuple) or not all(isinstance(path, str) for path in paths):
                raise ClientError("ARGUMENTS", say("arguments.path", name=name))
            found += paths
        return found
