"""Makes the readable form of a requested action: a phrase for the headline, and the parts that show the action itself.

The parts are the command as a shell line, the diff of a change, and the arguments in the caller's order. All texts are
visible and masked. A long text is cut in the middle. Between its start and its end, a line that Sayso adds says how
much is hidden.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hitl.call import Risk
from hitl.cards.edits import TEXTS, edit
from hitl.cards.masked import COMMANDS, masked, safe
from hitl.cards.previews import is_diff
from hitl.cards.redaction import mask
from hitl.cards.templates import filled
from hitl.cards.text import folded, one_line, quoted, split_middle, visible
from hitl.cards.wording import IN_ENGLISH
from hitl.outcomes import Noted
from hitl.question import asked, is_question, options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hitl.call import Call
    from hitl.cards.wording import Wording

#: The space on a card, in characters: for the arguments (`ARGUMENT_CHARS`) and for a preview (`PREVIEW_CHARS`). Longer
#: texts are cut in the middle, and only the details show them whole.
ARGUMENT_CHARS = 1200
PREVIEW_CHARS = 1600
PREVIEW_LINES = 24
#: The highest number of characters of a value that is shown on the same line as its name.
_INLINE = 160
_NAME = 60
_PHRASE = 200
_LEAST_PER_ARGUMENT = 120
#: A text that is cut keeps at least about this many characters.
_LEAST = 40
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
_COMMANDS = COMMANDS[1:]
_SHELLS = frozenset({"bash", "shell", "sh", "zsh", "run", "run_command", "execute_command", "exec", "terminal"})
#: The arguments whose whole effect a diff shows (`_IN_DIFFS`), and the arguments that the executor's sentence may show
#: (`_IN_SENTENCES`).
_IN_DIFFS = frozenset({"text", "content", "old", "new", "patch", *(name for pair in TEXTS for name in pair)})
_IN_SENTENCES = frozenset({"path", "file_path", "pattern"})
_AT_THE_TOP = ("@@ -1 ", "@@ -1,", "@@ -0,0 ")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_HASH = re.compile("[0-9a-f]{1,64}")
_HEADERS = re.compile(r"--- [^\n]*\n\+\+\+ [^\n]*\n")


class PartKind(StrEnum):
    """The kinds of parts that show an action on a card."""

    #: A command or another text, in its own block.
    CODE = "code"
    #: A unified diff, in its own block.
    DIFF = "diff"
    #: An argument's name, and its value if the value fits on the same line.
    FIELD = "field"
    #: An argument whose value is an empty text. The part shows words of Sayso instead of the value.
    EMPTY = "empty"
    #: A line of Sayso that gives the number of hidden characters, lines or arguments.
    OURS = "ours"


class Part(Struct, frozen=True):
    """One part of a requested action, as a card shows it."""

    kind: PartKind
    text: str
    name: str = ""


class Shown(Struct, frozen=True):
    """The readable form of a requested action. `phrase` follows "wants to" in the headline of the card."""

    phrase: str
    parts: tuple[Part, ...]
    #: The action on one line, for push notifications and decided cards.
    line: str
    #: The kind of action: `run` for a command, `ask` for a question, `do` for anything else.
    act: str
    #: The number of characters that the card leaves out.
    left_out: int
    #: The number of arguments that only the details show, because of the operator's headline.
    below: int = 0


def show(call: Call, share: float = 1.0, wording: Wording = IN_ENGLISH) -> Shown:
    """Return the readable form of a call's action.

    `share` is the fraction of the usual space on the card that the form may take. If a part is left out, it is left out
    in every language.
    """
    if is_question(call):
        return _question(call, wording)
    told = _Told(call, wording)
    parts, left_out = told.parts(share)
    return Shown(told.phrase, parts, told.line, told.act, left_out, told.below)


def _question(call: Call, wording: Wording) -> Shown:
    """Return the readable form of a question: its text in a block, and its options with their numbers."""
    text = safe(mask(asked(call)))
    numbered = [Part(PartKind.FIELD, label, str(number)) for number, label in enumerate(labels(call), start=1)]
    return Shown(
        wording.say("question.does"), (Part(PartKind.CODE, text), *numbered), one_line(text, _PHRASE), "ask", 0
    )


def labels(call: Call) -> tuple[str, ...]:
    """Return the options of a question as the card and its buttons show them, or () if the question has no options."""
    return tuple(one_line(mask(option)) for option in options(call))


def masked_arguments(call: Call) -> Mapping[str, Any]:
    """Return the arguments with secrets masked, in the caller's order and with the caller's digits."""
    return masked(call).values


class _Told:
    """Divides a request into its phrase, its diff, its command, and the remaining arguments."""

    def __init__(self, call: Call, wording: Wording) -> None:
        self._call = call
        self._wording = wording
        texts = masked(call)
        #: `_all` holds all arguments, and fills the operator's headline. `_left` holds the arguments that still need a
        #: separate part, because the headline, the command and the diff don't show them.
        self._all = self._left = texts.values
        self._texts, self._lines = texts.arguments, texts.lines
        self.below = 0
        self.act = "do"
        self._diff, self._is_diff = _diff(call)
        self._edit = None if self._diff else edit(call.tools, call.tool, self._all, self._texts, texts.diff)
        if self._edit:
            self._take(self._edit.names)
        self._command = self._take_command()
        self.phrase = self._phrase()
        self.line = self._line()
        if self._edit:
            self._diff, self._is_diff = self._edit.diff, True
        elif self._is_diff:
            self._take(_IN_DIFFS)
        elif self._diff:
            self._take({name for name in _IN_DIFFS & self._left.keys() if self._texts[name] == self._diff})

    def _take(self, names: frozenset[str] | set[str]) -> None:
        if not self._left.keys().isdisjoint(names):
            self._left = {name: value for name, value in self._left.items() if name not in names}

    def _take_command(self) -> str | None:
        """Return the shell line of a request that runs a command, or None.

        The arguments that the line shows are removed from `_left`, so that the card doesn't show them twice.
        """
        if "argv" in self._left and "argv" in self._lines:
            self._take({"argv", *self._said_elsewhere(self._left["argv"])})
            return self._lines["argv"]
        for name in _COMMANDS:
            value = self._left.get(name)
            if isinstance(value, str):
                self._take({name})
                return self._texts[name]
            if value and name in self._lines:
                self._take({name})
                return self._lines[name]
        return None

    def _said_elsewhere(self, argv: Sequence[str]) -> Iterator[str]:
        """Yield the names of arguments that a command's card shows already in another place.

        `cwd` is such an argument if it is the call's folder. `script_sha256` (hashes of script files) is one if the
        command names these files.
        """
        if self._left.get("cwd") == self._call.cwd:
            yield "cwd"
        hashes = self._left.get("script_sha256")
        if isinstance(hashes, dict) and all(
            name in argv and isinstance(value, str) and _HASH.fullmatch(value) for name, value in hashes.items()
        ):
            yield "script_sha256"

    def _phrase(self) -> str:
        """Return the phrase for the headline.

        The first of these that exists is taken: the operator's headline, "run" for a command, the executor's sentence,
        the tool's name.
        """
        card, call = self._call.verdict.card, self._call
        if card and card.headline and (told := filled(card.headline, self._all)):
            self._leave_below(card.fields, told[1])
            return self._within(told[0])
        if self._command is not None and (call.tool in _SHELLS or "argv" in self._all):
            self.act, run = "run", IN_ENGLISH.say("card.wants.run")
            says_more = call.sentence.startswith(run) and call.sentence != run and not call.sentence.endswith(".")
            return self._stored(call.sentence) if says_more else self._wording.say("card.wants.run")
        is_unsaid = IN_ENGLISH.retold(call.sentence) in {"", IN_ENGLISH.say(Noted.TOOL, tool=quoted(call.tool))}
        if is_unsaid and self._edit and self._edit.file:
            phrase = self._wording.say("card.wants.edit", file=quoted(self._edit.file, _PHRASE))
            self._take({name for name in (self._edit.file_in,) if name and self._is_named(name, phrase)})
            return phrase
        if call.sentence and not call.sentence.endswith("."):
            phrase = self._within(self._stored(call.sentence))
            named = {name for name in _IN_SENTENCES & self._left.keys() if self._is_named(name, phrase)}
            self._take(named)
            return phrase
        return self._wording.say("card.wants.use", tool=quoted(call.tool))

    def _stored(self, sentence: str) -> str:
        """Return a sentence that was stored in English, on one line and in the language of the card."""
        return one_line(mask(self._wording.retold(sentence)), _PHRASE)

    def _within(self, phrase: str) -> str:
        """Return the phrase in the form for the middle of a sentence: in English `Pay` becomes `pay`, `SQL` stays."""
        lowers = self._wording.lowers and not phrase[1:2].isupper()
        return phrase[:1].lower() + phrase[1:] if lowers else phrase

    def _is_named(self, name: str, phrase: str) -> bool:
        value = self._left[name]
        return isinstance(value, str) and 0 < len(value) <= _NAME and quoted(value) in phrase

    def _leave_below(self, fields: Sequence[str] | None, whole: frozenset[str]) -> None:
        """Remove arguments from `_left`, so that the card doesn't show them below the operator's headline.

        These are the arguments in `whole`, which the headline shows whole, and all arguments that aren't in the
        operator's `fields`. The details still show them. For a high or critical request, `fields` is ignored.
        """
        rest = self._left.keys() - whole
        if fields is not None and self._call.verdict.risk.rank < Risk.HIGH.rank:
            self.below = len(rest - set(fields)) + (self._command is not None and not set(_COMMANDS) & set(fields))
            rest &= set(fields)
            self._command = None if self.below and not set(_COMMANDS) & set(fields) else self._command
        self._take(self._left.keys() - rest)

    def _line(self) -> str:
        """Return the action on one line: the command if the request runs one, else the phrase."""
        if self.act == "run" and self._command is not None:
            return one_line(self._command.strip(), _PHRASE)
        return self.phrase

    def parts(self, share: float) -> tuple[tuple[Part, ...], int]:
        """Return the parts, and the number of characters that are left out.

        The parts are cut to the fraction `share` of the usual space.
        """
        room = int(ARGUMENT_CHARS * share)
        parts: list[Part] = []
        left_out = 0
        if self._command is not None:
            most = room if not self._left else max(room * 2 // 3, _LEAST)
            taken, cut = _block(PartKind.CODE, self._command, most, self._wording)
            room -= sum(len(part.text) for part in taken)
            left_out += cut
            parts += taken or [Part(PartKind.EMPTY, self._wording.say("card.empty.command"))]
        if self._diff:
            kind = PartKind.DIFF if self._is_diff else PartKind.CODE
            taken, cut = _block(kind, self._diff, int(PREVIEW_CHARS * share), self._wording)
            left_out += cut
            parts += taken
        fields, cut = self._fields(max(room, _LEAST_PER_ARGUMENT))
        return (*parts, *fields), left_out + cut

    def _fields(self, room: int) -> tuple[list[Part], int]:
        named = list(self._left)
        most = max(1, room // _LEAST_PER_ARGUMENT)
        left_out = sum(len(name) + len(self._texts[name]) for name in named[most:])
        each = max(room // max(1, min(most, len(named))), _LEAST)
        parts: list[Part] = []
        for name in named[:most]:
            label, whole = _label(name)
            found, cut = _field(label, self._texts[name], each, self._wording)
            parts += found
            left_out += cut + max(0, whole - len(label))
        if named[most:]:
            parts.append(Part(PartKind.OURS, self._wording.say("card.arguments_hidden", count=len(named) - most)))
        return parts, left_out


def _diff(call: Call) -> tuple[str, bool]:
    """Return the preview as text, and whether it is a unified diff.

    If the diff is about one file, its two header lines are left out, because the headline names the file already. If it
    has only one change, at the top of the file, the `@@` line is left out too.
    """
    shown = folded(masked(call).preview.removesuffix("\n"))
    if not shown.startswith("--- "):
        return shown, is_diff(shown)
    headers = _HEADERS.match(shown)
    if headers is None or "\n+++ " in shown[headers.end() :]:
        return shown, True
    shown = shown[headers.end() :]
    first, _, rest = shown.partition("\n")
    return (rest if first.startswith(_AT_THE_TOP) and "\n@@ " not in rest else shown), True


def _label(name: str) -> tuple[str, int]:
    """Return an argument's name as a label, and the length of the whole name.

    An unusual name is quoted, and cut if it is long. The length shows how many characters the label leaves out.
    """
    shown = visible(name, keep_newlines=False)
    return (shown, len(shown)) if _PLAIN_NAME.fullmatch(shown) else (quoted(name, _NAME, always=True), len(shown))


def _field(name: str, text: str, room: int, wording: Wording) -> tuple[list[Part], int]:
    if not text:
        return [Part(PartKind.EMPTY, wording.say("card.empty"), name)], 0
    if "\n" not in text and len(text) <= min(_INLINE, room) and text == text.strip():
        return [Part(PartKind.FIELD, text, name)], 0
    parts, cut = _block(PartKind.CODE, text, room, wording)
    return [Part(PartKind.FIELD, "", name), *parts], cut


def _block(kind: PartKind, text: str, room: int, wording: Wording) -> tuple[list[Part], int]:
    """Return a text as parts of a card, and the number of characters that are left out.

    A text that fits into `room` UTF-16 units and `PREVIEW_LINES` lines is one block. A longer text becomes two blocks,
    its start and its end, with a line about the hidden text between them.
    """
    if not text:
        return [], 0
    limit = _within(text, room)
    head, tail, left_out = split_middle(text, limit)
    if not left_out and text.count("\n") >= PREVIEW_LINES:
        head, tail, left_out = _split_lines(text)
    if not left_out:
        return [Part(kind, text)], 0
    missing = text[len(head) : len(head) + left_out]
    lines = missing.count("\n") - (missing.startswith("\n") and not missing.endswith("\n"))
    by_lines = missing.startswith("\n") or missing.endswith("\n")
    note = wording.say("card.lines_hidden", count=lines) if by_lines and lines > 1 else None
    note = note or wording.say("card.hidden_here", count=left_out)
    pieces = (Part(kind, head.removesuffix("\n")), Part(PartKind.OURS, note), Part(kind, tail.removeprefix("\n")))
    return [piece for piece in pieces if piece.text], left_out


def _split_lines(text: str) -> tuple[str, str, int]:
    lines = text.split("\n")
    head, tail = lines[: PREVIEW_LINES // 2], lines[1 - PREVIEW_LINES // 2 :]
    start, end = "\n".join(head), "\n".join(tail)
    return start, end, len(text) - len(start) - len(end)


def _within(text: str, units: int) -> int:
    """Return how many characters of the text surely fit into `units` UTF-16 units, which chat platforms count."""
    return units // 2 if not text.isascii() and _ASTRAL.search(text) else units
