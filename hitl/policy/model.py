"""The records of the policy: the call that is judged, the verdict and its explanation, and problems of a document.

PolicyInvalid   raised for a document that must not be used; carries every Problem found
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hitl.call import PolicyCall, Reason, Verdict

Action = Literal["allow", "approve", "deny"]
Risk = Literal["low", "medium", "high", "critical"]

ACTIONS: tuple[Action, ...] = ("allow", "approve", "deny")  # the actions, from the weakest to the strongest
RISKS: tuple[Risk, ...] = ("low", "medium", "high", "critical")

MIN_TIMEOUT_S = 5
MAX_TIMEOUT_S = 7 * 24 * 60 * 60
DEFAULT_TIMEOUT_S = 300
DEFAULT_EXECUTION_S = 30


@dataclass(frozen=True, slots=True)
class Tried:
    """One rule in an explanation: whether it held (``yes``, ``no`` or ``unsure``), and the reason in words."""

    rule: str
    where: str
    outcome: Literal["yes", "no", "unsure"]
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A verdict, and the rules that were tried, in order. The risk rules come first."""

    verdict: Verdict
    tried: tuple[Tried, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a document: its line (from 1; 0 if unknown), the entry's JSON pointer, a message, and a remedy."""

    line: int
    path: str
    message: str
    suggestion: str | None = None

    def __str__(self) -> str:
        tail = f" ({self.suggestion})" if self.suggestion else ""
        return f"line {self.line}: {self.path or 'document'}: {self.message}{tail}"


class PolicyInvalid(ValueError):
    """Raised for a document that must not be used. ``problems`` lists everything that is wrong with it."""

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(f"{name}: {problem}" for problem in problems))
        self.name = name
        self.problems = tuple(problems)

    def __reduce__(self) -> tuple[type[PolicyInvalid], tuple[str, tuple[Problem, ...]]]:
        return type(self), (self.name, self.problems)


__all__ = [
    "ACTIONS",
    "DEFAULT_EXECUTION_S",
    "DEFAULT_TIMEOUT_S",
    "MAX_TIMEOUT_S",
    "MIN_TIMEOUT_S",
    "RISKS",
    "Action",
    "Explanation",
    "PolicyCall",
    "PolicyInvalid",
    "Problem",
    "Reason",
    "Risk",
    "Tried",
    "Verdict",
]
