"""A callable's signature as the declaration of a tool: which arguments it takes, and of which types.

Nothing is converted: an argument that isn't what the signature says is refused by name, before anyone is
asked.
"""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hitl.errors import InvalidConfirmation
from hitl.text import one_line
from hitl.wording import say

_PLAIN: dict[Any, str] = {
    str: "type.string",
    bool: "type.boolean",
    int: "type.integer",
    float: "type.number",
    list: "type.list",
    dict: "type.object",
    type(None): "type.null",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool: its name, its Python type, whether it may be left out, and what it is then."""

    name: str
    kind: Any
    required: bool
    default: Any = None

    def describe(self) -> str:
        """The parameter as it enters the tool's definition, the same in every language."""
        left_out = "" if self.required else f", else {json.dumps(self.default, sort_keys=True)}"
        return f"{self.name}: {inspect.formatannotation(self.kind)}{left_out}"


def parameters_of(function: Callable[..., Any], *, skip: int) -> tuple[Parameter, ...]:
    """The parameters of a callable behind the first `skip` ones.

    Raises TypeError for a signature that doesn't name each argument and its type, or a type or default that JSON
    hasn't.
    """
    hints = get_type_hints(function)
    declared = list(inspect.signature(function).parameters.values())[skip:]
    return tuple(_parameter(each, hints) for each in declared)


def check(parameters: tuple[Parameter, ...], args: Mapping[str, Any]) -> None:
    """Raises InvalidConfirmation naming the first argument that is unknown, missing or of a wrong type."""
    known = {each.name for each in parameters}
    for name in args:
        if name not in known:
            takes = ", ".join(sorted(known)) or say("args.none")
            raise InvalidConfirmation(say("args.unknown", name=one_line(name, 60), takes=takes))
    for each in parameters:
        if each.name not in args:
            if each.required:
                raise InvalidConfirmation(say("args.missing", name=each.name))
        elif not _fits(args[each.name], each.kind):
            raise InvalidConfirmation(say("args.type", name=each.name, type=_said(each.kind)))


def _parameter(declared: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    if declared.kind not in {declared.POSITIONAL_OR_KEYWORD, declared.KEYWORD_ONLY}:
        raise TypeError(f"{declared.name}: a tool's signature names each of its arguments")
    if declared.name not in hints:
        raise TypeError(f"{declared.name}: a tool's argument needs a type")
    kind = hints[declared.name]
    _said(kind)
    if declared.default is declared.empty:
        return Parameter(declared.name, kind, required=True)
    json.dumps(declared.default)
    return Parameter(declared.name, kind, required=False, default=declared.default)


def _said(kind: Any) -> str:
    """The type for people. Raises TypeError where JSON has no such type."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return say("type.any")
    if kind in _PLAIN:
        return say(_PLAIN[kind])
    if origin is Literal:
        return say("type.choice", choices=", ".join(map(repr, inner)))
    if origin in {Union, types.UnionType}:
        return say("type.or").join(map(_said, inner))
    if origin is list:
        return say("type.list.of", type=_said(inner[0]))
    if origin is dict and inner[0] is str:
        return say("type.object.of", type=_said(inner[1]))
    raise TypeError(f"{kind!r} is not a type that JSON can carry")


def _fits(value: Any, kind: Any) -> bool:
    fits_inside = _INSIDE.get(get_origin(kind))
    if fits_inside:
        return fits_inside(value, get_args(kind))
    if kind is Any:
        return True
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


_INSIDE: dict[Any, Callable[[Any, tuple[Any, ...]], bool]] = {
    Literal: lambda value, choices: any(type(value) is type(one) and value == one for one in choices),
    Union: lambda value, kinds: any(_fits(value, kind) for kind in kinds),
    types.UnionType: lambda value, kinds: any(_fits(value, kind) for kind in kinds),
    list: lambda value, kinds: isinstance(value, list) and all(_fits(item, kinds[0]) for item in value),
    dict: lambda value, kinds: isinstance(value, dict) and all(_fits(item, kinds[1]) for item in value.values()),
}
