"""The records of a checked document. The reader of each dialect (``dialects``) makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hitl.call import CardTerms
from hitl.outcomes import Because
from hitl.policy.model import Action, Problem, Risk
from hitl.policy.operators.base import Condition

CONTENOX: Final = 3
OURS: Final = 1
#: The kind of each tool that is not in the table of tools.
UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class All:
    """A group of conditions that holds if every part holds."""

    parts: tuple[When, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A group of conditions that holds if at least one part holds."""

    parts: tuple[When, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """A negation: it holds if its part does not hold."""

    part: When


When = All | AnyOf | Not | Condition


@dataclass(frozen=True, slots=True)
class Rule:
    """A checked rule from ``rules``, ``forbid`` or ``risk_rules``.

    - ``name`` is the name of the rule in verdicts.
    - ``action`` is None in ``risk_rules``.
    - ``harmless`` names arguments that an allow rule accepts without looking at them.
    - ``literal`` says that tool names are compared letter by letter.
    - ``textual`` says that values are compared by their text, as contenox does.
    - ``source`` is the preset that the rule comes from. It is empty for a rule of the document itself.
    """

    name: str
    path: str
    line: int
    tools: tuple[str, ...]
    tool: tuple[str, ...]
    when: All
    content: Any
    action: Action | None = None
    risk: Risk | None = None
    at_least: Risk | None = None
    timeout_s: int | None = None
    approvers: tuple[str, ...] | None = None
    exclude_requester: bool = False
    require_reason: bool = False
    message: str | None = None
    literal: bool = False
    kind: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    textual: bool = False
    source: str = ""

    @property
    def called(self) -> tuple[Because, *tuple[str | int, ...]]:
        """The name of the rule as a value of a reason (`hitl.outcomes.because`): its id, or the line of the rule."""
        if "id" in self.content and self.content["id"] == self.name:
            return Because.RULE_ID, repr(self.name)
        return (Because.RULE_PRESET, self.line, repr(self.source)) if self.source else (Because.RULE_LINE, self.line)


@dataclass(frozen=True, slots=True)
class Level:
    """The settings of a document for one risk level. A field that the document doesn't set has its default."""

    action: Action | None = None
    timeout_s: int | None = None
    require_reason: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """A document that was checked and has no problems, with its warnings."""

    dialect: int
    default_action: Action
    timeout_s: int
    execution_s: int
    risk: Mapping[Risk, Level]
    risk_rules: tuple[Rule, ...]
    forbid: tuple[Rule, ...]
    rules: tuple[Rule, ...]
    warnings: tuple[Problem, ...]
    content: Any
    #: `TOOL` or `TOOLS.TOOL` -> the additions to the cards of this tool's calls.
    cards: Mapping[str, CardTerms] = field(default_factory=dict)

    def card(self, tools: str, tool: str) -> CardTerms | None:
        """Return the additions to the cards of a tool's calls, or None. `TOOLS.TOOL` takes precedence over `TOOL`."""
        return self.cards.get(f"{tools}.{tool}") or self.cards.get(tool)
