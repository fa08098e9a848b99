"""Tools that change parts of files: an exact replacement, and a patch over several files.

Before they decide, people see the lines that would change. A precondition binds each file to the bytes that it had at
this moment. So the change runs only if it gives exactly the text that people saw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from adapters.executors.arguments import Arguments
from adapters.executors.base_file import (
    READ_WHOLE,
    Standing,
    as_shown,
    base_key,
    changed_since,
    encoded,
    file_parts,
    files_text,
    lines_text,
    named_path,
    shown_path,
    size_text,
    standing,
    written,
)
from adapters.executors.folder import ABSENT, Folder, explained
from adapters.executors.patches import FilePatch, applied, parsed
from adapters.executors.registry import Context
from hitl.call import Preparation
from hitl.cards.previews import PREVIEW_KEPT, change
from hitl.cards.text import cut_middle, one_line
from hitl.cards.wording import say
from hitl.errors import InvalidConfirmation
from hitl.outcomes import Stored, fact


class EditFile(Arguments):
    """A file, the text to find in it, and its replacement. The text must occur once, unless `replace_all` is set."""

    path: str
    old_string: str
    new_string: str
    replace_all: bool = False


class ApplyPatch(Arguments):
    """A unified diff, or a patch that begins with `*** Begin Patch`."""

    patch: str


@dataclass(frozen=True, slots=True)
class _Planned:
    """The planned change of one file."""

    parts: tuple[str, ...]
    #: The state of the file before the change.
    old: Standing
    #: The bytes after the change, or None to delete the file.
    new: bytes | None


class Edits:
    """The tools that change parts of files.

    `look_at_edit` and `look_at_patch` describe a change for people. `edit_file` and `apply_patch` make the change.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def edit_file(self, context: Context, args: EditFile) -> str:
        """Replace a text in a file: its only occurrence, or all of them."""
        self._carry_out(context, lambda: [self._edited(args)])
        return say("did.edit", path=one_line(args.path))

    def apply_patch(self, context: Context, args: ApplyPatch) -> str:
        """Apply a unified diff, or a patch that begins with `*** Begin Patch`, to the files that it names."""
        done = self._carry_out(context, lambda: self._patched(args.patch))
        return "\n".join([say("did.patch", files=files_text(len(done))), *(shown_path(each.parts) for each in done)])

    def look_at_edit(self, args: EditFile) -> Preparation:
        """Return a description of the replacement: the changed lines, and a precondition with the file's digest."""
        return self._prepared([self._edited(args)])

    def look_at_patch(self, args: ApplyPatch) -> Preparation:
        """Return a description of the patch: the changed lines, and a precondition with the digest of each file."""
        return self._prepared(self._patched(args.patch))

    def _edited(self, args: EditFile) -> _Planned:
        parts, before = self._text(args.path)
        old, new = args.old_string, args.new_string
        count = before.text.count(old) if before.text and old else 0
        facts = {"path": shown_path(parts), "count": count}
        if not old:
            raise InvalidConfirmation(fact("edit.empty"))
        if old == new:
            raise InvalidConfirmation(fact("edit.same"))
        if not count:
            raise InvalidConfirmation(fact("edit.none", **facts))
        if count > 1 and not args.replace_all:
            raise InvalidConfirmation(fact("edit.several", **facts))
        return _Planned(parts, before, encoded((before.text or "").replace(old, new)))

    def _patched(self, text: str) -> list[_Planned]:
        planned = [each for patch in parsed(text) for each in self._planned(patch)]
        seen = set()
        for each in planned:
            if each.parts in seen:
                raise InvalidConfirmation(fact("patch.twice", path=shown_path(each.parts)))
            seen.add(each.parts)
        return planned

    def _planned(self, patch: FilePatch) -> Iterator[_Planned]:
        if patch.makes:
            yield self._made(patch.path, applied(patch, ""))
            return
        parts, before = self._text(patch.path)
        after = applied(patch, before.text or "")
        if patch.deletes and patch.hunks and after:
            raise InvalidConfirmation(fact("patch.misfit", number=1, path=shown_path(parts)))
        if patch.deletes or patch.moves_to is not None:
            yield _Planned(parts, before, None)
        else:
            yield _Planned(parts, before, encoded(after))
        if patch.moves_to is not None:
            yield self._made(patch.moves_to, after)

    def _made(self, path: str, text: str) -> _Planned:
        parts, before = self._file(path)
        if before.base != ABSENT:
            raise InvalidConfirmation(fact("path.exists", path=shown_path(parts)))
        return _Planned(parts, before, encoded(text))

    def _text(self, path: str) -> tuple[tuple[str, ...], Standing]:
        """Return the components of a text file's path, and the file's state.

        Raises InvalidConfirmation if there is no such file, or if it isn't a text file.
        """
        parts, found = self._file(path)
        if found.base == ABSENT:
            raise InvalidConfirmation(fact("path.absent", path=shown_path(parts)))
        if found.text is None:
            raise InvalidConfirmation(fact("path.untold", path=shown_path(parts), most=Stored(size_text(READ_WHOLE))))
        return parts, found

    def _file(self, path: str) -> tuple[tuple[str, ...], Standing]:
        parts = file_parts(self._folder, path)
        with explained(path):
            return parts, standing(self._folder, parts)

    def _prepared(self, planned: Sequence[_Planned]) -> Preparation:
        sentence, preview = _told(planned)
        undo = say("undo.deleted") if any(each.new is None for each in planned) else ""
        bases = tuple((base_key(each.parts), each.old.base) for each in planned)
        return Preparation(sentence, cwd=str(self._folder.root), preconditions=bases, preview=preview, undo=undo)

    def _carry_out(self, context: Context, plan: Callable[[], Sequence[_Planned]]) -> Sequence[_Planned]:
        """Make all changes, and return them.

        Raises NotAsShown, and makes no change, if a file has changed since people saw it. Raises InvalidConfirmation if
        a later file changes during the work: the message says how many files are changed already.
        """
        with self._folder.changing:
            with as_shown("path.not_written"):
                planned = plan()
                for each in planned:
                    if context.preconditions.get(base_key(each.parts)) != each.old.base:
                        raise changed_since(shown_path(each.parts))
                self._change(planned[0], 0)
            for done, each in enumerate(planned[1:], 1):
                self._change(each, done)
        return planned

    def _change(self, each: _Planned, done: int) -> None:
        path = shown_path(each.parts)
        with explained(path):
            if each.new is None:
                made = self._folder.delete(each.parts, each.old.base)
            else:
                made = self._folder.replace(each.parts, each.new, each.old.base)
        if not made:
            told = (
                say("path.changed.partly", path=path, files=files_text(done)) if done else changed_since(path).message
            )
            raise InvalidConfirmation(told)


def _told(planned: Sequence[_Planned]) -> tuple[str, str]:
    """Return the sentence that describes all changes, and their previews as one text."""
    first = planned[0]
    if len(planned) == 1 and first.new is not None:
        return written(first.parts, first.old, first.new)
    made = [
        change(shown_path(each.parts), None if each.old.base == ABSENT else each.old.text, (each.new or b"").decode())
        for each in planned
    ]
    preview = cut_middle("\n".join(each.diff for each in made), PREVIEW_KEPT).text
    if len(planned) == 1:
        return say("does.delete", path=named_path(first.parts), size=size_text(first.old.size)), preview
    added, removed = sum(each.added for each in made), sum(each.removed for each in made)
    counts = {"added": lines_text(added), "removed": lines_text(removed)}
    return say("does.patch", files=files_text(len(planned)), **counts), preview
