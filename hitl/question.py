"""Questions to people. A question is a call of a built-in tool: nothing runs it, and its result is a person's answer.

A question is stored, shown, protected by MACs, recorded and ended as any call. Its approval is the answer: the
approval's reason holds the words. See `docs/decisions/questions.md`.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final

from hitl.call import CHOICES, Preparation, Runs, ToolInfo
from hitl.cards.text import one_line, visible
from hitl.errors import InvalidConfirmation
from hitl.outcomes import Noted, fact, kept
from hitl.proof.canonical import canonical
from hitl.proof.keyring import as_short
from hitl.replies.model import SpanKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hitl.call import Ask, Call, Verb
    from hitl.replies import Span

#: The group and the name of the tool.
GROUP: Final = "sayso"
TOOL: Final = "ask_human"
#: The executor in the row of every question. A caller's own tool always has another executor, even if its name is the
#: same.
EXECUTOR: Final = "sayso:question"
#: The longest question that every card shows whole, in characters.
LONGEST: Final = 1000
#: The longest option that every platform shows whole on a button: Slack takes 75 characters, a phone shows fewer.
LONGEST_OPTION: Final = 60
#: The longest answer, in characters. On Slack, an answer in a window has at most 3,000 characters, because the window
#: takes no more.
LONGEST_ANSWER: Final = 4000
FEWEST_OPTIONS: Final = 2
MOST_OPTIONS: Final = len(CHOICES)
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "minLength": 1, "maxLength": LONGEST},
        "options": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_OPTION},
            "minItems": FEWEST_OPTIONS,
            "maxItems": MOST_OPTIONS,
        },
    },
    "required": ["question"],
    "additionalProperties": False,
}
INFO: Final = ToolInfo(EXECUTOR, hashlib.sha256(canonical(SCHEMA)).hexdigest(), schema=SCHEMA)

#: The kinds of formatting with which a person takes words back, hides words, or quotes somebody else.
_NOT_MEANT = frozenset({SpanKind.STRUCK, SpanKind.SPOILER, SpanKind.QUOTE})
_AROUND_REF = " \t\r\n:,;.#-"


def is_asked(ask: Ask) -> bool:
    """Return whether a request is a question.

    A call that its caller runs is no question, even with the same tool name.
    """
    return ask.runs is Runs.SERVICE and (ask.tools, ask.tool) == (GROUP, TOOL)


def is_question(call: Call) -> bool:
    """Return whether a call is a question."""
    return call.executor == EXECUTOR


def prepared(ask: Ask) -> Preparation:
    """Return the preparation of a question. Raises InvalidConfirmation for arguments that don't fit `SCHEMA`."""
    question, options = ask.args.get("question"), ask.args.get("options", ())
    known = ask.args.keys() <= SCHEMA["properties"].keys()
    if not known or not isinstance(question, str) or not question.strip() or len(visible(question)) > LONGEST:
        raise InvalidConfirmation(fact("question.misfit", most=LONGEST))
    if "options" in ask.args and not _are_options(options):
        raise InvalidConfirmation(
            fact("question.options", fewest=FEWEST_OPTIONS, most=MOST_OPTIONS, longest=LONGEST_OPTION)
        )
    return Preparation(kept(fact(Noted.QUESTION)))


def _are_options(options: object) -> bool:
    """Return whether a value is a list of options that fit the limits and look different to people."""
    if not isinstance(options, list | tuple) or not FEWEST_OPTIONS <= len(options) <= MOST_OPTIONS:
        return False
    fit = all(isinstance(one, str) and one.strip() and len(visible(one)) <= LONGEST_OPTION for one in options)
    return fit and len({_plain(one_line(one)) for one in options}) == len(options)


def asked(call: Call) -> str:
    """Return the words of a question, as they were asked."""
    return str(call.arguments.get("question", ""))


def options(call: Call) -> tuple[str, ...]:
    """Return the answers that a question offers, or () if any words answer it."""
    return tuple(map(str, call.arguments.get("options") or ()))


def choice(call: Call, verb: Verb | None) -> str | None:
    """Return the option that a button chooses, or None if the question has no such option."""
    return next((one for each, one in zip(CHOICES, options(call), strict=False) if each is verb), None)


def answer_in(call: Call, words: str) -> str | None:
    """Return the answer that words give, or None if they give no answer.

    If the question offers options, the words must be one of the options or its number. Otherwise any words are an
    answer.
    """
    words, offered = words.strip(), options(call)
    if not offered:
        return words if 0 < len(words) <= LONGEST_ANSWER else None
    said = _plain(words)
    named = next((one for one in offered if _plain(one_line(one)) == said), None)
    numbered = {str(number): one for number, one in enumerate(offered, start=1)}
    return named or numbered.get(said)


def without_ref(words: str, short: str) -> str:
    """Return the words without the ref of the question, and the marks around it, at their beginning or end.

    The other words stay as the person wrote them.
    """
    parts = list(re.finditer(r"\S+", words))
    for end in (0, -1):
        named = False
        while parts and (as_short(bare := parts[end][0].strip(_AROUND_REF)) == short or (named and not bare)):
            named = True
            del parts[end]
    return words[parts[0].start() : parts[-1].end()].strip(" \t\r\n:,;") if parts else ""


def are_meant(spans: Sequence[Span]) -> bool:
    """Return whether the person wrote and means all of the words: none of them is struck out, hidden or quoted."""
    return all(span.kind not in _NOT_MEANT for span in spans)


def _plain(text: str) -> str:
    """Return a text for comparisons: in lower case, without surplus blanks and without a stop at the end."""
    return " ".join(text.split()).rstrip(".!").casefold()
