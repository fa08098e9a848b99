"""Headlines that an operator writes for a tool, such as `Pay {amount} {currency} to {to}`.

Sayso substitutes the braces itself, without Python's formatting. A name in braces means an argument, or a value inside
an argument (`{to.name}`), and nothing else. Values are quoted (`hitl.cards.text.quoted`), so that no value looks like
words of the operator.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hitl.cards.text import one_line, quoted
from hitl.errors import MisfitError
from hitl.outcomes import Misfit

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLACE = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
#: The highest number of characters of a value in the headline. A longer value is cut in the headline, and shown again
#: below the headline.
LONGEST = 60
#: The highest number of characters of a headline, and of a sentence about undoing, in a policy or a setting.
LONGEST_TEMPLATE = LONGEST_UNDO = 200
#: The templates that `check` accepts, as a regular expression for JSON Schema.
PATTERN = rf"^(?:[^{{}}]|\{{{_NAME.pattern}\}})*$"


def check(template: str) -> str:
    """Return the template unchanged. Raises ValueError with the reason if it isn't a valid template."""
    rest = _PLACE.sub("", template)
    if "{" in rest or "}" in rest:
        raise MisfitError(Misfit.BRACE, template=repr(template))
    if wrong := [name for name in _PLACE.findall(template) if not _NAME.fullmatch(name)]:
        raise MisfitError(Misfit.NO_ARGUMENT, name=wrong[0])
    if not template.strip() or len(template) > LONGEST_TEMPLATE:
        raise MisfitError(Misfit.HEADLINE, longest=LONGEST_TEMPLATE)
    return template


def filled(template: str, args: Mapping[str, Any]) -> tuple[str, frozenset[str]] | None:
    """Return the filled headline, and the names of the arguments that it shows whole.

    Return None if a name in the template has no value (see `_value`). `args` must be masked already. If the headline
    cuts an argument, or shows only a part of it, the argument isn't among these names.
    """
    values = {name: _value(args, name) for name in _PLACE.findall(template)}
    if None in values.values():
        return None
    text = _PLACE.sub(lambda place: quoted(str(values[place[1]]), LONGEST), template)
    whole = {name for name, value in values.items() if name in args and len(one_line(str(value))) <= LONGEST}
    return one_line(text, 400), frozenset(whole)


def _value(args: Mapping[str, Any], name: str) -> str | None:
    """Return the value for a name in a template, as text. The value for `to.name` is the member `name` of the argument
    `to`.

    Return None if the value is missing, is a list or an object, or is blank. If `to.name` is also the name of an
    argument, return None, because the tool may read the value that the headline wouldn't show.
    """
    named, inside = args.get(name), _inside(args, name)
    if named is not None and inside is not None:
        return None
    found = inside if named is None else named
    if isinstance(found, bool):
        return "true" if found else "false"
    return str(found) if isinstance(found, str | int | float) and str(found).strip() else None


def _inside(args: Mapping[str, Any], name: str) -> Any:
    """Return the value that a name with dots leads to, or None."""
    found: Any = args if "." in name else None
    for step in name.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found
