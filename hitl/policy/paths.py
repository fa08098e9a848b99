"""Finds the files that a path argument may mean, and judges whether a glob covers them.

A path is judged as written, and as the working folder, ``..``, symbolic links and case resolve it. Each file name that
it may mean is a *reading*. A rule that denies or asks holds if its glob covers one reading. A rule that allows holds
only if its glob covers every reading, and if nothing in the path has two meanings (``~``, ``%2e``, wildcards). A hard
link doesn't show the other names of its file, so it is judged by the given name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import normalize
from urllib.parse import unquote

from hitl.policy.globs import BadGlob, Glob, clean, expand_braces, literal_folder, prefixes
from hitl.policy.listing import Listing
from hitl.policy.three_valued import NO, UNSURE, YES

if TYPE_CHECKING:
    from hitl.policy.ports import Paths

# Matches an absolute path that every program reads as the same file name: without `..`, blanks, patterns or escapes.
PLAIN = r"(?:/\.?+[\w@+=,\-]++(?:\.++[\w@+=,\-]++)*+)++"
plain_path = re.compile(PLAIN, re.ASCII).fullmatch

_AMBIGUOUS = re.compile(
    r"[\x00-\x1f\x7f*?\\`]|[\[\]]|\{[^{}]*,[^{}]*\}|^~|\$[\w({]|%[0-9A-Fa-f]{2}|%\w+%|::\$"
    r"|^\s|\s$|\s/|/\s|[. ](?:/|$)|^[A-Za-z][A-Za-z0-9+.\-]*:"
)
#: Matches a wildcard of a tool that lists names by a pattern, or a brace.
_WILD = re.compile(r"[*?\[\]{}]")
_DOTS = re.compile(r"(?:^|/)\.{1,2}(?=/|$)")


@dataclass(frozen=True, slots=True)
class Readings:
    """The file names that a path may mean.

    ``exact`` are the names that every program reads from the path, and ``loose`` are the names that only some programs
    read. ``certain`` says that nothing in the path is ambiguous.
    """

    exact: tuple[str, ...]
    loose: tuple[str, ...]
    certain: bool


@lru_cache(maxsize=1024)
def read_path(text: str, cwd: str | None) -> Readings:
    """Return the file names that a path may mean, by its text and the working folder, without the file system."""
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
    """Return other texts that some programs take for the same path, for example with ``%2e`` decoded."""
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
    """Judges the paths of one call, by the call's working folder and the file system."""

    __slots__ = ("_found", "cwd", "paths")

    def __init__(self, cwd: str | None, paths: Paths | None) -> None:
        self.cwd = cwd
        self.paths = paths
        self._found: dict[str, tuple[str, ...]] = {}

    def tightens(self, glob: Glob, text: str) -> int:
        """Return YES, NO or UNSURE: whether a glob covers a path, in a rule that denies, asks or raises a risk.

        It is YES if the glob covers a name that the path certainly means, UNSURE if it may cover a name that the path
        may mean, else NO.
        """
        folded = self._folds(text)
        covers = glob.folded.fullmatch if folded else glob.covers
        if plain_path(text) and self.paths is None:
            if covers(text):
                return YES
            return UNSURE if glob.folded.fullmatch(text) else self._relative(glob, text)
        readings = read_path(text, self.cwd)
        names = (*readings.exact, *self._resolved(text))
        if any(covers(name) for name in names) or any(self._relative(glob, name) for name in names):
            return YES
        doubtful = any(glob.folded.fullmatch(name) for name in (*names, *readings.loose))
        return UNSURE if doubtful or self._wild(glob, text) or _expanded(glob, text) else NO

    def has_no_name(self, text: str, relevant: Callable[[str], bool]) -> bool:
        """Return True if ``relevant`` returns False for every file name that a path may mean.

        ``relevant`` is a quick test of a name. Return False if the path is ambiguous, so that only a slower check can
        decide.
        """
        readings = read_path(text, self.cwd)
        if not readings.certain or "{" in text or not text.isascii():
            return False
        return not any(map(relevant, (*readings.exact, *readings.loose, *self._resolved(text))))

    def loosens(self, glob: Glob, text: str) -> int:
        """Return YES, NO or UNSURE: whether a glob covers a path, in a rule that allows calls or lowers a risk.

        It is YES if the glob covers every name and the path isn't ambiguous. It is UNSURE if the glob covers only some
        names, or if the path is ambiguous or doesn't resolve. Otherwise it is NO.
        """
        readings = read_path(text, self.cwd)
        absolute = readings.exact[:1]
        names = (*absolute, *self._resolved(text))
        matched = [self._within(glob, name) for name in names]
        if all(matched) and readings.certain and not self._unresolved(text):
            return YES
        return UNSURE if any(matched) else NO

    def lists(self, glob: Glob, text: str) -> int:
        """Return YES, NO or UNSURE: as ``loosens``, for a path of a tool that only lists names.

        Such a tool takes wildcards for a pattern of the names that it lists. The glob covers them all if it ends in
        ``**`` and covers the folder before the first wildcard. Symbolic links that match a wildcard are judged, too,
        but not those that match ``**``: a tool that lists a whole folder isn't asked about its links either.
        """
        if not _WILD.search(text) or "{" in glob.text or glob.text.rpartition("/")[2] != "**":
            return self.loosens(glob, text)
        try:
            patterns = expand_braces(text)
        except BadGlob:
            return UNSURE
        return min(self._lists(glob, one) for one in patterns)

    def _lists(self, glob: Glob, pattern: str) -> int:
        plain = _WILD.sub("x", pattern)
        if ".." in plain.split("/") or not read_path(plain, self.cwd).certain:
            return UNSURE
        folder = literal_folder(pattern) or ("/" if pattern.startswith("/") else ".")
        linked = Listing(self.cwd, self.paths).links(pattern.partition("**")[0])
        if linked is None:
            return UNSURE
        return min(self.loosens(glob, name) for name in (folder, *linked))

    def spellings(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        """Return the file names that a path certainly means, the names that it may mean, and whether there are no other
        names.
        """
        readings = read_path(text, self.cwd)
        names = (text, *readings.exact, *self._resolved(text))
        told = text.startswith("/") or self.cwd is not None or ".." not in text
        return names, readings.loose, readings.certain and told and not self._unresolved(text)

    def _within(self, glob: Glob, name: str) -> bool:
        """Return whether the glob certainly covers a file name. A wildcard never matches ``..`` at the beginning."""
        if name.startswith("..") and name[2:3] in ("", "/") and not glob.text.startswith(".."):
            return False
        if name.startswith("/") and not glob.absolute:
            return self._relative(glob, name) == YES
        return glob.sure.fullmatch(name) is not None

    def _relative(self, glob: Glob, name: str) -> int:
        """Return YES if a relative glob, taken from the working folder, covers an absolute file name; else NO."""
        if glob.absolute or self.cwd is None or not name.startswith("/"):
            return NO
        folder = clean(self.cwd).rstrip("/") + "/"
        inner = name[len(folder) :] if name.startswith(folder) else "." if name + "/" == folder else None
        return YES if inner is not None and glob.covers(inner) else NO

    def _wild(self, glob: Glob, text: str) -> bool:
        """Return whether a path with wildcards, such as ``*.env``, could mean a file that the glob covers."""
        if not re.search(r"[*?\[{]", text):
            return False
        names = {one.rpartition("/")[2] for one in glob.alternatives}
        return any("*" not in name and _covers(text, name) for name in names)

    def _folds(self, text: str) -> bool:
        return self.paths is not None and self.paths.case_insensitive(text)

    def _resolved(self, text: str) -> tuple[str, ...]:
        """Return the file name to which the file system resolves a path, as a tuple of one name, or ().

        The file system is used once for each path; later calls get the same result.
        """
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
    """Return whether a path that begins with ``~`` or holds a variable could mean a file that the glob covers.

    Nobody knows the value of ``~`` or of the variable here, so every folder in the glob is tried.
    """
    variables = list(_VARIABLE.finditer(text))
    if not variables:
        return False
    rest = text[variables[-1].end() :]
    # A `~` can't be a folder that the glob covers, because no policy denies a whole home folder.
    home = text.startswith("~") and len(variables) == 1
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
