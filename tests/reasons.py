"""One stored reason of the policy engine for each code, with values as the engine writes them."""

from __future__ import annotations

from hitl.outcomes import Because, because

_CALLED = (
    (Because.RULE_ID, "'中'"),
    (Because.RULE_LINE, 3),
    (Because.RULE_PRESET, 3, "'中'"),
)
_OF_RULES = frozenset((Because.RATED, Because.UNSURE, Because.DENIES))
_VALUES: dict[Because, tuple[object, ...]] = {
    Because.WORD_READS: ("'中'",),
    Because.WORD_CHANGES: ("'中'",),
    Because.WORD_ACTS: ("'中'",),
    Because.WORD_FINAL: ("'中'",),
    Because.WORD_LOSES: ("'中'", "'文'"),
    Because.TOOL_SYSTEM: ("/中",),
    Because.COMMAND: ("prints the beginning of files",),
    Because.COMMAND_SYSTEM: ("/中",),
    Because.ARGUMENT: ("'中'", "'文'"),
    Because.UNSEEN: ("中", "'文'"),
    Because.NO_RULE_LEVEL: ("high",),
    Because.UNJUDGED_ERROR: ("中: 文",),
    Because.RULE_ID: ("'中'",),
    Because.RULE_LINE: (3,),
    Because.RULE_PRESET: (3, "'中'"),
}
#: The stored texts. No value holds a Latin letter, except the effect of a program, which has translations.
REASONS: tuple[str, ...] = (
    *(because(code, *_VALUES.get(code, ())) for code in Because if code not in _OF_RULES),
    *(because(Because.RATED, called, "critical") for called in _CALLED),
    *(because(code, called) for code in (Because.UNSURE, Because.DENIES) for called in _CALLED),
)
