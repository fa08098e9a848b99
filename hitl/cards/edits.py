"""Finds the change that an edit makes to a file: from the old and the new text in its arguments, or from a patch.

The table of tools (hitl/policy/tables/tools.ini) says which tools edit files, and which arguments hold the file's name
and the texts. This module is for the tools of coding agents. They run elsewhere, so only their arguments are known
here. For its own tools, the service reads the file, compares it with the new text, and makes the preview of the call.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hitl.cards.previews import PREVIEW_KEPT, change, is_quick
from hitl.cards.text import cut_middle, folded, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

#: The pairs of argument names for the old and the new text of an edit that coding agents and MCP servers use.
TEXTS = (
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("oldString", "newString"),
    ("oldText", "newText"),
)
_LIST = "edits"
#: Flags of one edit in a list. If a flag is false, it is ignored. If a flag is true, the edits aren't shown as a diff,
#: because such an edit changes more places than the diff would show.
_FLAGS = frozenset({"replace_all", "replaceAll"})
#: The number of lines in the header of a one-file diff: two lines with names, and the `@@` line of the first hunk.
_HEADERS = 3
#: The argument in which the coding agent Codex sends a patch to its hook.
_PATCH = "command"
_PATCH_BEGINS = ("*** Begin Patch\n", "--- ", "@@ ")
#: A line of a patch that begins with three stars. The pattern begins with fixed characters, so the search is fast.
_PATCH_LINE = re.compile(r"\*\*\* ([^\n]*)")
_NO_FILES = frozenset({"Begin Patch", "End Patch", "End of File"})
_UPDATE = "Update File: "


class Edit(Struct, frozen=True):
    """A change of files, for a card.

    - `diff` holds the lines of the diff.
    - `names` holds the names of the arguments whose whole texts the diff shows.
    - `file` is the name of the changed file. It is None if several files change, or if the name isn't known.
    """

    diff: str
    names: frozenset[str]
    file: str | None
    #: The name of the argument that holds the file's name, or None if the diff itself holds it.
    file_in: str | None = None


def compared(args: Mapping[str, Any]) -> str | None:
    """Return the diff between the old and the new texts in a call's (masked) arguments.

    Return "" if an argument is a patch, because `edit` then takes the patch itself as the diff. Return None if the
    arguments show no change. The comparison is slow for long texts, so `hitl.cards.masked` caches the result.
    """
    return _compared(args) or ("" if any(map(_is_patch, args.values())) else None)


def unified(args: Mapping[str, Any]) -> str | None:
    """Return the change between the old and the new texts in these (masked) arguments as a unified diff, for programs.

    The diff has header lines and line numbers, so that a program can parse it. Return None if the arguments show no
    change, or if the change is only in masked parts.
    """
    # The old text of most edits is a part of a file and ends in the middle of a line. If neither text ends with a line
    # feed, both get one here. Without it, the diff would say that the file's last line feed is missing.
    texts = [
        (old, new) if not old or not new or old.endswith("\n") or new.endswith("\n") else (f"{old}\n", f"{new}\n")
        for old, new in _edits(args)
    ]
    closely = is_quick(texts)
    diffs = [change("", *each, closely=closely).diff for each in texts]
    return "\n".join(filter(None, diffs)) or None


def _compared(args: Mapping[str, Any]) -> str:
    # Each text gets one more line feed, unless it is empty. So if only one of the texts ends with a line feed of its
    # own, the diff shows that line feed as an added or removed empty line.
    edits = [(old and f"{old}\n", new and f"{new}\n") for old, new in _edits(args)]
    closely = is_quick(edits)
    diffs = [_diff(*each, closely=closely) for each in edits]
    return cut_middle("\n@@\n".join(diffs), PREVIEW_KEPT).text if all(diffs) else ""


def _edits(args: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the old and the new text of each edit, as a card shows them.

    The arguments must hold one pair of texts (`TEXTS`), or a list of such pairs. Otherwise return [].
    """
    pairs = [pair for pair in TEXTS if args.keys() & set(pair)]
    if len(pairs) + (_LIST in args) != 1:
        return []
    texts = [_texts(one) for one in ([args] if pairs else _listed(args[_LIST]))]
    edits = [each for each in texts if each is not None]
    return edits if len(edits) == len(texts) else []


def edit(tools: str, tool: str, args: Mapping[str, Any], texts: Mapping[str, str], diff: str | None) -> Edit | None:
    """Return the change that this tool makes with these (masked) arguments. Return None if the arguments don't show it.

    `texts` holds the text of each argument as a card shows it, and `diff` is the result of `compared`.
    """
    if diff is None:
        return None
    # Importing the policy package takes long, and most commands show cards without an edit.
    from hitl.policy.tables.tools import shape  # noqa: PLC0415

    known = shape(tools, tool)
    if known is None or known.kind != "edit":
        return None
    if found := _patch(args, texts, {*known.content, _PATCH}):
        return found
    if not diff:
        return None
    pairs = [pair for pair in TEXTS if args.keys() & set(pair)]
    named = [name for name in known.writes if name in args]
    file = args[named[0]] if len(named) == 1 and isinstance(args[named[0]], str) and args[named[0]] else None
    return Edit(diff, frozenset(pairs[0] if pairs else {_LIST}), file, named[0] if file else None)


def _listed(changes: Any) -> list[Mapping[str, Any]]:
    """Return the edits in the value of the argument `edits`.

    Return [] if the value isn't a list of edits, or if an edit holds anything except two texts and unset flags.
    """
    if not isinstance(changes, list) or not all(isinstance(one, dict) for one in changes):
        return []
    pairs = [frozenset(pair) for pair in TEXTS]
    is_plain = all(
        frozenset(name for name in one if name not in _FLAGS or one[name] is not False) in pairs for one in changes
    )
    return changes if is_plain else []


def _texts(edited: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the old and the new text of one edit, as a card shows them.

    Return None if the edit doesn't hold two texts.
    """
    texts = [edited.get(name) for pair in TEXTS if edited.keys() >= set(pair) for name in pair]
    if len(texts) != len(TEXTS[0]) or not all(isinstance(text, str) for text in texts):
        return None
    old, new = (folded(visible(str(text))) for text in texts)
    return old, new


def _diff(old: str, new: str, *, closely: bool) -> str:
    lines = change("", old, new, closely=closely).diff.split("\n")[_HEADERS:]
    # The position of the text in the file isn't known here, so line numbers would be wrong.
    return "\n".join("@@" if line.startswith("@@ -") else line for line in lines)


def _patch(args: Mapping[str, Any], texts: Mapping[str, str], names: Collection[str]) -> Edit | None:
    """Return the change in an argument that holds a diff, or a patch in the format of Codex.

    Return None for other arguments. A patch in the format of Codex holds the names of its files.
    """
    found = [name for name in args if name in names]
    text = args[found[0]] if len(found) == 1 else None
    if not isinstance(text, str) or not _is_patch(text):
        return None
    files = list(islice(_headers(text), 2))
    file = files[0].removeprefix(_UPDATE) if len(files) == 1 and files[0].startswith(_UPDATE) else None
    return Edit(texts[found[0]], frozenset(found), file)


def _headers(patch: str) -> Iterator[str]:
    """Yield the lines of a Codex patch that name a file, without their stars, such as `Update File: notes.txt`.

    Codex ignores blanks around such a line, so this function does too.
    """
    for line in _PATCH_LINE.finditer(patch):
        begins = patch.rfind("\n", 0, line.start()) + 1
        if not patch[begins : line.start()].strip() and (said := line[1].strip()) not in _NO_FILES:
            yield said


def _is_patch(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(_PATCH_BEGINS)
