"""Finds the change that an edit makes to a file: from the old and the new text in its arguments, or from a patch.

The table of tools (hitl/policy/tables/tools.ini) says which tools edit, and which arguments name the file and hold the
texts. Executors of this service compare with the file itself and make the preview of a call. A coding agent's tool runs
elsewhere, so its arguments are all that is known here.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hitl.cards.text import folded, visible
from hitl.policy.tables.tools import shape

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

#: The names that coding agents and MCP servers give to the two texts of an edit.
TEXTS = (
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("oldString", "newString"),
    ("oldText", "newText"),
)
_LIST = "edits"
#: Flags of one edit in a list that change nothing if they are false.
_FLAGS = frozenset({"replace_all", "replaceAll"})
#: Longer texts aren't compared, which could take long. The diff removes the old text and adds the new one.
_LONGEST = 16_384
#: The argument in which Codex sends a patch to its hook.
_PATCH = "command"
_PATCH_LINE = re.compile(r"^\*\*\* (?!Begin Patch$|End Patch$|End of File$)(.*)$", re.MULTILINE)
_UPDATE = "Update File: "


class Edit(Struct, frozen=True):
    """A change: the lines of a diff, the arguments that these lines show whole, and the file if there is just one."""

    diff: str
    names: frozenset[str]
    file: str | None
    #: The argument that names the file, or None if the diff names it.
    file_in: str | None = None


def edit(tools: str, tool: str, args: Mapping[str, Any]) -> Edit | None:
    """Return the change that this tool makes with these (masked) arguments, or None if that can't be read from them."""
    known = shape(tools, tool)
    if known is None or known.kind != "edit":
        return None
    if found := _patch(args, {*known.content, _PATCH}):
        return found
    pairs = [pair for pair in TEXTS if args.keys() & set(pair)]
    if len(pairs) + (_LIST in args) != 1:
        return None
    changes = [args] if pairs else _listed(args[_LIST])
    diffs = [_compared(change) for change in changes]
    if not diffs or not all(diffs):
        return None
    named = [name for name in known.writes if name in args]
    file = args[named[0]] if len(named) == 1 and isinstance(args[named[0]], str) and args[named[0]] else None
    diff, names = "\n@@\n".join(map(str, diffs)), frozenset(pairs[0] if pairs else {_LIST})
    return Edit(diff, names, file, named[0] if file else None)


def _listed(changes: Any) -> list[Mapping[str, Any]]:
    """Return the edits of a list, or [] if one of them holds more than its two texts."""
    if not isinstance(changes, list) or not all(isinstance(change, dict) for change in changes):
        return []
    pairs = [frozenset(pair) for pair in TEXTS]
    is_plain = all(
        frozenset(name for name in change if name not in _FLAGS or change[name] is not False) in pairs
        for change in changes
    )
    return changes if is_plain else []


def _compared(change: Mapping[str, Any]) -> str | None:
    """Return the diff of the two texts of one edit, or None if there are no two texts that differ."""
    texts = [change.get(name) for pair in TEXTS if change.keys() >= set(pair) for name in pair]
    if len(texts) != len(TEXTS[0]) or not all(isinstance(text, str) for text in texts):
        return None
    # A line feed at the end of a text gives an empty last line, so that the diff shows it too.
    old, new = (folded(visible(str(text))).split("\n") if text else [] for text in texts)
    return "\n".join(_lines(old, new)) if old != new else None


def _lines(old: list[str], new: list[str]) -> Iterator[str]:
    """Yield the lines of a diff, with `@@` between its parts: in which lines of the file they are isn't known."""
    if sum(map(len, old)) + sum(map(len, new)) > _LONGEST:
        yield from (f"-{line}" for line in old)
        yield from (f"+{line}" for line in new)
        return
    for number, line in enumerate(list(difflib.unified_diff(old, new, lineterm=""))[2:]):
        if not line.startswith("@@"):
            yield line
        elif number:
            yield "@@"


def _patch(args: Mapping[str, Any], names: Collection[str]) -> Edit | None:
    """Return the change of a diff, or of a patch in the format of Codex, which names its files itself. Else None."""
    found = [name for name in args if name in names]
    text = args[found[0]] if len(found) == 1 else None
    if not isinstance(text, str) or not text.startswith(("*** Begin Patch\n", "--- ", "@@ ")):
        return None
    shown = folded(visible(text.removesuffix("\n")))
    files = _PATCH_LINE.findall(shown)
    file = files[0].removeprefix(_UPDATE) if len(files) == 1 and files[0].startswith(_UPDATE) else None
    return Edit(shown, frozenset(found), file)
