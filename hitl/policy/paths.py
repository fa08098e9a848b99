"""Which files a path argument may mean, and whether a glob covers them.

A path is judged as written and as it resolves (working folder, ``..``, symbolic links, case). To tighten, any reading
is enough; to loosen, every one must agree, and nothing in the path may be read in two ways (``~``, ``%2e``, wildcards).
A hard link has no other name to see: it is judged by the name given.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import normalize
from urllib.parse import unquote

from hitl.policy.globs import Glob, clean, prefixes
from hitl.policy.three_valued import NO, UNSURE, YES

if TYPE_CHECKING:
    from hitl.policy.ports import Paths

# A path that has one reading only.
PLAIN = r"(?:/\.?+[\w@+=,\-]++(?:\.++[\w@+=,\-]++)*+)++"
plain_path = re.compile(PLAIN, re.ASCII).fullmatch

_AMBIGUOUS = re.compile(
    r"[\x00-\x1f\x7f*?\\`]|[\[\]]|\{[^{}]*,[^{}]*\}|^~|\$[\w({]|%[0-9A-Fa-f]{2}|%\w+%|::\$"
    r"|^\s|\s$|\s/|/\s|[. ](?:/|$)|^[A-Za-z][A-Za-z0-9+.\-]*:"
)
_DOTS = re.compile(r"(?:^|/)\.{1,2}(?=/|$)")


@dataclass(frozen=True, slots=True)
class Readings:
    """The names a path may mean: ``exact`` ones each hold, ``loose`` ones might. ``certain``: nothing is ambiguous."""

    exact: tuple[str, ...]
    loose: tuple[str, ...]
    certain: bool


@lru_cache(maxsize=1024)
def read_path(text: str, cwd: str | None) -> Readings:
    """The readings of a path by its text and the working folder alone."""
    unwrapped = _file_url(text)
    base = clean(unwrapped)
    exact = [base]
    if not base.startswith("/") and cwd is not None:
        exact.insert(0, clean(f"{cwd}/{unwrapped}"))
    certain = _AMBIGUOUS.search(_DOTS.sub("", unwrapped)) is None and unwrapped == text and text != ""
    certain = certain and (text.isascii() or normalize("NFC", text) == normalize("NFKC", text)) and not _hidden(text)
    loose = {clean(form) for form in _loose(unwrapped) if form}
    if cwd is not None:
        loose |= {clean(f"{cwd}/{form}") for form in loose if not form.startswith("/")}
    return Readings(tuple(exact), tuple(loose - set(exact)), certain)


def _hidden(text: str) -> bool:
    return not text.isascii() and any(not char.isprintable() for char in text)


def _file_url(text: str) -> str:
    found = re.match(r"\s*file:(?://(?:localhost)?(?=/))?", text, re.IGNORECASE)
    return unquote(text[found.end() :]) if found else text


def _loose(text: str) -> set[str]:
    """Other spellings that some program would take for the same file."""
    plain = re.sub(r"[\x00-\x1f\x7f\u200b-\u200f\ufeff]", "", text)
    forms = {
        plain.strip(),
        unquote(plain),
        unquote(unquote(plain)),
        plain.replace("\\", "/"),
        normalize("NFKC", plain),
        normalize("NFC", plain),
        re.sub(r"(?<=[^/. ])[. ]+(?=/|$)", "", plain),
        re.sub(r"::\$\w+$", "", plain),
        text.partition("\x00")[0],
    }
    return forms - {text}


class PathScope:
    """The working folder and file system that a call's paths are judged in."""

    __slots__ = ("_found", "cwd", "paths")

    def __init__(self, cwd: str | None, paths: Paths | None) -> None:
        self.cwd = cwd
        self.paths = paths
        self._found: dict[str, tuple[str, ...]] = {}

    def tightens(self, glob: Glob, text: str) -> int:
        """YES if any exact reading is covered, UNSURE if only a doubtful one is."""
        folded = self._folds(text)
        pattern = glob.folded if folded else glob.perhaps
        if plain_path(text) and self.paths is None:
            if pattern.fullmatch(text):
                return YES
            return UNSURE if glob.folded.fullmatch(text) and glob.folded is not pattern else self._relative(glob, text)
        readings = read_path(text, self.cwd)
        names = (*readings.exact, *self._resolved(text))
        if any(pattern.fullmatch(name) for name in names) or any(self._relative(glob, name) for name in names):
            return YES
        doubtful = any(glob.folded.fullmatch(name) for name in (*names, *readings.loose))
        return UNSURE if doubtful or self._wild(glob, text) or _expanded(glob, text) else NO

    def has_no_name(self, text: str, relevant: Callable[[str], bool]) -> bool:
        """Whether a path certainly has no name that a quick test tells; False if that takes a slower look."""
        readings = read_path(text, self.cwd)
        if not readings.certain or "{" in text or not text.isascii():
            return False
        return not any(map(relevant, (*readings.exact, *readings.loose, *self._resolved(text))))

    def loosens(self, glob: Glob, text: str) -> int:
        """YES if every reading is covered and none is doubtful; UNSURE if some are."""
        readings = read_path(text, self.cwd)
        absolute = readings.exact[:1]
        names = (*absolute, *self._resolved(text))
        matched = [self._within(glob, name) for name in names]
        if all(matched) and readings.certain and not self._unresolved(text):
            return YES
        return UNSURE if any(matched) else NO

    def spellings(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        """The names that a path has, those that it might have, and whether there are certainly no others."""
        readings = read_path(text, self.cwd)
        names = (text, *readings.exact, *self._resolved(text))
        told = text.startswith("/") or self.cwd is not None or ".." not in text
        return names, readings.loose, readings.certain and told and not self._unresolved(text)

    def _within(self, glob: Glob, name: str) -> bool:
        """Whether a name is covered, and not by a wildcard that would have to stand for ``..``."""
        if name.startswith("..") and name[2:3] in ("", "/") and not glob.text.startswith(".."):
            return False
        if name.startswith("/") and not glob.absolute:
            return self._relative(glob, name) == YES
        return glob.sure.fullmatch(name) is not None

    def _relative(self, glob: Glob, name: str) -> int:
        """A relative pattern is meant from the working folder."""
        if glob.absolute or self.cwd is None or not name.startswith("/"):
            return NO
        folder = clean(self.cwd).rstrip("/") + "/"
        inner = name[len(folder) :] if name.startswith(folder) else "." if name + "/" == folder else None
        return YES if inner is not None and glob.perhaps.fullmatch(inner) else NO

    def _wild(self, glob: Glob, text: str) -> bool:
        """Whether a path with wildcards of its own could name what the glob covers."""
        if not re.search(r"[*?\[{]", text):
            return False
        names = {one.rpartition("/")[2] for one in glob.alternatives}
        return any("*" not in name and _covers(text, name) for name in names)

    def _folds(self, text: str) -> bool:
        return self.paths is not None and self.paths.case_insensitive(text)

    def _resolved(self, text: str) -> tuple[str, ...]:
        """Where the file system says that the path leads; asked once for each path of a call."""
        if self.paths is None:
            return ()
        if text not in self._found:
            found = self.paths.resolve(_file_url(text), self.cwd or "/")
            self._found[text] = () if found is None else (clean(found),)
        return self._found[text]

    def _unresolved(self, text: str) -> bool:
        return self.paths is not None and not self._resolved(text)


_VARIABLE = re.compile(r"^~[^/]*|\$\{?\w+\}?|%\w+%")


def _expanded(glob: Glob, text: str) -> bool:
    """Whether a path that begins with ``~`` or holds a variable could lead into what the glob covers."""
    variables = list(_VARIABLE.finditer(text))
    if not variables:
        return False
    rest = text[variables[-1].end() :]
    home = text.startswith("~") and len(variables) == 1  # a home folder lies in nothing that a glob closes
    folders = {folder for one in glob.alternatives for folder in ("", *prefixes(one)) if "*" not in folder}
    return any(
        glob.folded.fullmatch(clean(folder + rest)) is not None
        for folder in folders
        if not (home and folder and glob.folded.fullmatch(folder))
    )


def _covers(wild: str, name: str) -> bool:
    try:
        return Glob.of(wild.rpartition("/")[2]).perhaps.fullmatch(name) is not None
    except ValueError:
        return True
