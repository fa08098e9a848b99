"""Questions of agents to people. A question is a call of the built-in tool `ask_human`.

No tool runs for a question: its result is a person's answer. Like any other call, a question is stored, shown,
protected by MACs, recorded and ended. The answer approves it, and the reason of the approval holds the words of the
answer. See `docs/decisions/questions.md`.
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

#: The group and the name of the tool by which agents ask.
GROUP: Final = "sayso"
TOOL: Final = "ask_human"
#: The executor that the row of every question names. Other calls always have another executor, even if a caller's own
#: tool has the same name.
EXECUTOR: Final = "sayso:question"
#: The highest number of characters of a question. Every card shows a question of this length whole.
LONGEST: Final = 1000
#: The highest number of characters of an option. Every platform shows it whole on a button: Slack takes 75 characters,
#: and a phone shows fewer.
LONGEST_OPTION: Final = 60
#: The highest number of characters of an answer. The window for answers on Slack takes only 3,000.
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

#: Kinds of formatted text that can't be an answer: struck out, hidden, or quoted from somebody else.
_NOT_MEANT = frozenset({SpanKind.STRUCK, SpanKind.SPOILER, SpanKind.QUOTE})
_AROUND_REF = " \t\r\n:,;.#-"


def is_asked(ask: Ask) -> bool:
    """Return whether a request is a question: a call of the built-in tool that this service runs.

    If its caller runs the call, it isn't a question, even if the tool has the same name.
    """
    return ask.runs is Runs.SERVICE and (ask.tools, ask.tool) == (GROUP, TOOL)


def is_question(call: Call) -> bool:
    """Return whether a stored call is a question."""
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
    """Return the words of a question as the agent wrote them."""
    return str(call.arguments.get("question", ""))


def options(call: Call) -> tuple[str, ...]:
    """Return the answers that a question offers, or () if people may answer in any words."""
    return tuple(map(str, call.arguments.get("options") or ()))


def choice(call: Call, verb: Verb | None) -> str | None:
    """Return the option that a button's verb chooses, or None if the question has no such option."""
    return next((one for each, one in zip(CHOICES, options(call), strict=False) if each is verb), None)


def answer_in(call: Call, words: str) -> str | None:
    """Return the answer to a question in a person's words, or None if the words are no answer to it.

    If the question offers options, the words must be one of the options or its number. Otherwise any words are an
    answer, if they aren't blank and not longer than `LONGEST_ANSWER`.
    """
    words, offered = words.strip(), options(call)
    if not offered:
        return words if 0 < len(words) <= LONGEST_ANSWER else None
    said = _plain(words)
    named = next((one for one in offered if _plain(one_line(one)) == said), None)
    numbered = {str(number): one for number, one in enumerate(offered, start=1)}
    return named or numbered.get(said)


def without_ref(words: str, short: str) -> str:
    """Return the words without the question's short ref at their beginning or end: "K7Q2MX: blue" gives "blue".

    Punctuation around the ref is removed too. The other words stay as the person wrote them.
    """
    parts = list(re.finditer(r"\S+", words))
    for end in (0, -1):
        named = False
        while parts and (as_short(bare := parts[end][0].strip(_AROUND_REF)) == short or (named and not bare)):
            named = True
            del parts[end]
    return words[parts[0].start() : parts[-1].end()].strip(" \t\r\n:,;") if parts else ""


def are_meant(spans: Sequence[Span]) -> bool:
    """Return whether all words can be the person's answer: no word is struck out, hidden (a spoiler) or quoted."""
    return all(span.kind not in _NOT_MEANT for span in spans)


def _plain(text: str) -> str:
    """Return a text in a form for comparisons: lower case, single blanks, and no `.` or `!` at the end."""
    return " ".join(text.split()).rstrip(".!").casefold()
