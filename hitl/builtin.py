"""The policy that applies where no document is given: judged by the words of the tool's name alone.

Reading is allowed, changing is asked about, and whatever can't be told is high. Arguments are never looked at,
so that nothing an agent writes into them can lower a risk.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from hitl.model import Action, Risk, Verdict
from hitl.wording import say

if TYPE_CHECKING:
    from hitl.model import PolicyCall

_READING = frozenset({"read", "list", "search", "get"})
_CHANGING = frozenset({"write", "update"})
_HARMFUL = frozenset({"bash", "delete", "send", "pay"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class BuiltinPolicy:
    """Judges a tool by the words of its name: the first one must be the harmless verb, and none a harmful one."""

    digest = hashlib.sha256(repr(("builtin/1", sorted(_READING), sorted(_CHANGING))).encode()).hexdigest()

    def judge(self, call: PolicyCall) -> Verdict:
        """The verdict; nothing but the tool's name makes a difference here."""
        rule, action, risk = _classify([word.lower() for word in _WORD.findall(call.tool)])
        return Verdict(
            action=action,
            risk=risk,
            rule=f"builtin:{rule}",
            reason="matched_rule",
            why=say(f"why.{rule}"),
            policy=self.digest,
        )


class BuiltinSource:
    """The port for it."""

    def current(self) -> BuiltinPolicy:
        """Always the same."""
        return _POLICY


_POLICY = BuiltinPolicy()


def _classify(words: list[str]) -> tuple[str, Action, Risk]:
    first = words[0] if words else ""
    if _HARMFUL.intersection(words):
        return "harmful", Action.APPROVE, Risk.HIGH
    if first in _READING:
        return "reads", Action.ALLOW, Risk.LOW
    if first in _CHANGING:
        return "changes", Action.APPROVE, Risk.MEDIUM
    return "unknown", Action.APPROVE, Risk.HIGH
