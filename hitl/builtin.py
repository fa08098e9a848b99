"""The policy that applies where no document is given: judged by the words of the tool's name alone.

Reading is allowed, changing is asked about, and whatever can't be told is high. Nothing that an agent writes into
the arguments makes a difference; of a shell's command only the programs are read, for people to see.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from hitl.model import Action, Reason, Risk, Verdict
from hitl.wording import say

if TYPE_CHECKING:
    from hitl.model import PolicyCall

_READING = frozenset({"read", "list", "search", "get"})
_CHANGING = frozenset({"write", "update"})
_SHELL = "bash"
_HARMFUL = frozenset({_SHELL, "delete", "send", "pay"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class BuiltinPolicy:
    """Judges a tool by the words of its name: the first one must be the harmless verb, and none a harmful one."""

    digest = hashlib.sha256(repr(("builtin/1", sorted(_READING), sorted(_CHANGING))).encode()).hexdigest()

    def judge(self, call: PolicyCall) -> Verdict:
        """The verdict; nothing but the tool's name makes a difference here."""
        words = [word.lower() for word in _WORD.findall(call.tool)]
        rule, action, risk = _classify(words)
        return Verdict(
            action=action,
            risk=risk,
            rule=f"builtin:{rule}",
            reason=Reason.MATCHED_RULE,
            why=say(f"why.{rule}"),
            policy=self.digest,
            programs=_programs(call.args.get("command")) if _SHELL in words else (),
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


def _programs(command: object) -> tuple[str, ...]:
    from hitl.policy.shell import resolved_programs  # noqa: PLC0415 - heavy; loaded with the first command

    return resolved_programs(command) if isinstance(command, str) else ()
