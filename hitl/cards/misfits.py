"""Makes facts about values that don't fit their declaration: in the settings, in a request, in a tool's arguments.

pydantic compares the values with the declarations. Its own sentences are for programmers, so people never see them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.outcomes import Fact, fact

if TYPE_CHECKING:
    from collections.abc import Mapping

#: pydantic's type of an error -> the key of our sentence. The sentence gets the values of the error's context. For
#: every other type, the sentence says only that the value can't be used.
_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), "misfit.list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "misfit.object"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "misfit.bool"),
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float"), "misfit.whole"),
    **dict.fromkeys(("float_type", "float_parsing", "decimal_type", "decimal_parsing"), "misfit.number"),
    "finite_number": "misfit.number",
    **dict.fromkeys(("literal_error", "enum"), "misfit.choice"),
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing"), "misfit.time"),
    "timezone_aware": "misfit.time",
    **dict.fromkeys(("recursion_loop", "recursion_depth_exceeded"), "misfit.deep"),
    "invalid-json-value": "misfit.json",
    "string_type": "misfit.text",
    "string_unicode": "misfit.text",
    "path_type": "misfit.path",
    "string_too_short": "misfit.short",
    "string_too_long": "misfit.long",
    "string_pattern_mismatch": "misfit.form",
    "too_short": "misfit.few",
    "too_long": "misfit.many",
    "less_than_equal": "misfit.most",
    "greater_than_equal": "misfit.least",
    "greater_than": "misfit.more",
    "less_than": "misfit.less",
    "missing": "misfit.missing",
}


def misfit(kind: str, context: Mapping[str, object]) -> Fact:
    """Return the fact that says why a value doesn't fit. `kind` and `context` are `type` and `ctx` of pydantic's error.

    If our own code refused the value, the fact has the text of its error.
    """
    if kind == "value_error":
        return fact("misfit.own", why=str(context["error"]))
    key = _KEYS.get(kind, "misfit.other")
    if key == "misfit.choice":
        return fact(key, choices=str(context["expected"]).replace(" or ", ", "))
    if key == "misfit.short" and context["min_length"] == 1:
        return fact("misfit.empty")
    return fact(key, **{name: _plain(value) for name, value in context.items()})


def _plain(value: object) -> object:
    """Return a number without a fraction of zero, such as 5 for 5.0, and any other value unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
