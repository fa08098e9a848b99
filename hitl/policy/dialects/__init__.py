"""The dialects of policy documents: Sayso's own, and one module for each other system, with that system's name."""

from __future__ import annotations

from hitl.policy.dialects import contenox, ours
from hitl.policy.document import Checked
from hitl.policy.model import PolicyInvalid, Problem
from hitl.policy.text import ParsedDocument
from hitl.policy.wording import say


def check(parsed: ParsedDocument, name: str) -> Checked:
    """Return the checked document, without the presets that it names. ``compose`` adds them.

    Raises:
        PolicyInvalid: the document must not be used; lists every problem found.
    """
    if parsed.value is None:
        raise PolicyInvalid(name, [Problem(1, "", say("fault.takes.document"), say("fault.do.version"))])
    if not isinstance(parsed.value, dict):
        raise PolicyInvalid(name, [Problem(1, "", say("fault.takes.object"))])
    reader: ours.Reader = (contenox if contenox.is_contenox(parsed) else ours).Reader(parsed)
    checked = reader.document()
    if reader.problems:
        raise PolicyInvalid(name, sorted(reader.problems, key=lambda problem: problem.line))
    return checked


__all__ = ["check"]
