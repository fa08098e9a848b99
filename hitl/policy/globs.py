"""Globs of tool names and of paths.

Path globs have the syntax of contenox, a system whose policies can be imported: ``*`` and ``?`` within one component,
``[...]`` classes with ranges and ``^``, a backslash for a literal, ``{a,b}`` alternatives (nested, with slashes),
``**`` for any number of components. Patterns are normalised as paths are (``clean``), and ``x/**`` covers ``x`` itself.
In contenox, ``a**b`` means ``a/**/b``. An author may also mean any text between ``a`` and ``b``. ``Glob.sure`` matches
the first meaning only, ``Glob.perhaps`` matches both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from posixpath import normpath

from hitl.policy.wording import say

MAX_ALTERNATIVES = 4096
#: A text with one of these characters is a pattern of names.
WILD = frozenset("*?[")
_WILD = re.compile(r"[*?\[\\]")


class BadGlob(ValueError):
    """Raised for a pattern that can't match the names that its author meant. The message gives the reason."""


def is_pattern(text: str) -> bool:
    """Return whether fnmatch or a shell would take a text for a pattern, because it holds ``*``, ``?`` or ``[``."""
    return not WILD.isdisjoint(text)


_ODD = re.compile(r"\\.|\[!?[\w.,+@ -]+\]|[\\\[]", re.ASCII | re.DOTALL)


def broadened(pattern: str) -> str:
    """Return a simpler pattern, without classes and backslashes, that matches every name that ``pattern`` matches.

    ``pattern`` is a pattern of a shell. A class and an escaped character become ``?``. Programs disagree about some
    brackets, such as ``[[:alpha:]]``, ``[^a]`` or a bracket that isn't closed. Such a bracket and the rest of its path
    component become ``*``.
    """
    return "/".join(map(_broadened, pattern.split("/"))) if _WILD.search(pattern) else pattern


def _broadened(component: str) -> str:
    out, at = "", 0
    for found in _ODD.finditer(component):
        out += component[at : found.start()]
        if len(found[0]) == 1:
            return f"{out}*"
        out, at = f"{out}?", found.end()
    return out + component[at:]


def names_in(pattern: str) -> tuple[str, ...]:
    """Split a pattern of paths, such as a line of gitignore(5), into one pattern for each name in the path.

    The names are in lower case, because a program may ignore the case. For a pattern that can't be read, return ``*``.
    """
    try:
        whole = [one.split("/") for one in expand_braces(pattern)] if "{" in pattern else [pattern.split("/")]
    except BadGlob:
        return ("*",)
    return tuple({"*" if "**" in name else name.lower() for parts in whole for name in parts if name} or {"*"})


def clean(path: str) -> str:
    """Return the path without ``.``, ``..`` and doubled slashes, from its text alone (as Go's ``path.Clean``)."""
    cleaned = normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned


def expand_braces(pattern: str) -> list[str]:
    """Return all patterns without braces to which a pattern with ``{a,b}`` expands.

    Raises:
        BadGlob: the braces are unbalanced, or there are 4096 alternatives or more.
    """
    found = [""]
    for part in _alternatives(pattern, 0)[0]:
        found = [head + tail for head in found for tail in part]
        if len(found) >= MAX_ALTERNATIVES:
            raise BadGlob(say("fault.glob.many", most=MAX_ALTERNATIVES))
    return found


def _alternatives(text: str, at: int, *, nested: bool = False) -> tuple[list[list[str]], int]:
    """Split a pattern at its braces, from the index ``at``.

    Return its parts, each as a list of alternatives, and the index where the pattern ends. With ``nested``, the pattern
    is inside braces and ends at ``,`` or ``}``.
    """
    parts: list[list[str]] = []
    literal = ""
    while at < len(text):
        char = text[at]
        if char == "}" or (nested and char == ","):
            if not nested:
                raise BadGlob(say("fault.glob.opened"))
            break
        if char == "{":
            parts.append([literal])
            literal = ""
            inner, at = _group(text, at + 1)
            parts.append(inner)
        else:
            literal += text[at : at + 2] if char == "\\" else char
            at += 1 if char == "\\" else 0
        at += 1
    return [*parts, [literal]], at


def _group(text: str, at: int) -> tuple[list[str], int]:
    found: list[str] = []
    while True:
        parts, at = _alternatives(text, at, nested=True)
        if at >= len(text):
            raise BadGlob(say("fault.glob.closed"))
        found += _product(parts)
        if text[at] == "}":
            return found, at
        at += 1


def _product(parts: list[list[str]]) -> list[str]:
    found = [""]
    for part in parts:
        found = [head + tail for head in found for tail in part]
        if len(found) >= MAX_ALTERNATIVES:
            raise BadGlob(say("fault.glob.many", most=MAX_ALTERNATIVES))
    return found


@lru_cache(maxsize=4096)
def _component(text: str) -> str:
    """Return the regular expression for one component of a path."""
    if _WILD.search(text) is None:
        return re.escape(text)
    out, at = "", 0
    while at < len(text):
        char = text[at]
        if char == "*":
            out += "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif char == "[":
            piece, at = _class(text, at)
            out += piece
        elif char == "\\":
            if at + 1 == len(text):
                raise BadGlob(say("fault.glob.backslash"))
            at += 1
            out += re.escape(text[at])
        else:
            out += re.escape(char)
        at += 1
    return out


_CLASS = re.compile(r"\[(\^?)((?:\\.|[^\]\\\-]|(?:\\.|[^\]\\\-])-(?:\\.|[^\]\\\-]))+)\]", re.DOTALL)


def _class(text: str, at: int) -> tuple[str, int]:
    found = _CLASS.match(text, at)
    if found is None:
        raise BadGlob(say("fault.glob.class"))
    inner = re.sub(r"\\?(.)", lambda m: m.group(1) if m.group() == "-" else re.escape(m.group(1)), found.group(2))
    try:
        re.compile(f"[{inner}]")
    except re.error as error:
        raise BadGlob(say("fault.glob.backwards")) from error
    return f"(?!/)[{found.group(1)}{inner}]", found.end() - 1


def _regex(pattern: str) -> str:
    """Return the regular expression for a path glob without braces. ``clean`` first normalises the glob."""
    out = ""
    components = clean(pattern).split("/")
    for at, component in enumerate(components):
        last = at == len(components) - 1
        if component != "**":
            out += _component(component) + ("" if last else "/")
        elif not last:
            out += _ANY_FOLDER
        else:
            out = out[:-1] + _BELOW if len(out) > 1 else out + ".*"
    return out


#: The regular expressions for ``**`` at the beginning or in the middle of a pattern, and for ``**`` at its end.
_ANY_FOLDER, _BELOW = "(?:.*/)?", "(?:/.*)?"


@dataclass(frozen=True, slots=True)
class Glob:
    """A checked path glob. Each of its regular expressions is compiled on first use.

    A preset has about 70 globs, and one call needs few of them. When all globs were compiled together, that took most
    of the time to load a policy.
    """

    text: str
    #: Whether the glob means the same in every working folder, because each alternative begins with ``/`` or ``**``.
    absolute: bool
    #: The patterns that the braces expand to, each normalised by ``clean``. This is empty if a component has ``**`` and
    #: other characters (``a**b``).
    alternatives: tuple[str, ...] = field(compare=False)
    #: The texts of the regular expressions ``sure``, ``perhaps`` and ``folded``, in this order.
    sources: tuple[str, str, str] = field(repr=False, compare=False)
    #: The regular expression of the pattern with contenox's meaning of ``**``: ``a**b`` is ``a/**/b``.
    sure: re.Pattern[str] = field(init=False, repr=False, compare=False)
    #: The regular expression of the pattern with either meaning of ``**``: ``a**b`` may also be ``a``, any text, and
    #: ``b``.
    perhaps: re.Pattern[str] = field(init=False, repr=False, compare=False)
    #: The regular expression ``perhaps``, but without regard to case.
    folded: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def covers(self, name: str) -> bool:
        """Return whether ``perhaps`` matches a name.

        ``folded`` is tried first, so that ``perhaps`` is compiled only for a name that it may match. A pattern with a
        class skips this step: ``[^A]`` matches ``a``, but ``folded`` doesn't match it.
        """
        return ("[" in self.text or self.folded.fullmatch(name) is not None) and self.perhaps.fullmatch(
            name
        ) is not None

    def __getattr__(self, name: str) -> re.Pattern[str]:
        """Compile a regular expression on first use. Python calls this only if the attribute isn't set yet."""
        if name not in _COMPILED:
            raise AttributeError(name)
        source, flags = self.sources[_COMPILED.index(name)], re.DOTALL | (re.IGNORECASE if name == "folded" else 0)
        found = self.sure if name == "perhaps" and source == self.sources[0] else re.compile(source, flags)
        object.__setattr__(self, name, found)
        return found

    @classmethod
    def of(cls, pattern: str) -> Glob:
        """Check a pattern and return its glob.

        Raises:
            BadGlob: braces, classes or escapes are malformed, or there are too many alternatives.
        """
        plain = expand_braces(pattern)
        split = [re.sub(r"(?<=[^/])\*\*|\*\*(?=[^/])", "/**/", one) if _embedded(one) else one for one in plain]
        loose = [_loose(one) for one in plain if _embedded(one)]
        sure = _either([_regex(one) for one in split])
        perhaps = _either([_regex(one) for one in split] + loose) if loose else sure
        return cls(
            pattern,
            all(one.startswith(("/", "**")) for one in plain),
            tuple(clean(one) for one in split) if not loose else (),
            (sure, perhaps, perhaps.casefold() if not loose and perhaps.isascii() and "\\" not in perhaps else perhaps),
        )


_COMPILED = ("sure", "perhaps", "folded")


def _embedded(pattern: str) -> bool:
    return any("**" in component and component != "**" for component in pattern.split("/"))


def _loose(pattern: str) -> str:
    return ".*".join(_component(part) for part in re.split(r"\*\*+", pattern))


def _either(parts: list[str]) -> str:
    """Return one regular expression that matches a text if any of the parts matches it.

    A beginning or an ending that all parts share is written only once, so that it is compiled only once.
    """
    if len(parts) == 1:
        return parts[0]
    begin = _ANY_FOLDER if all(part.startswith(_ANY_FOLDER) for part in parts) else ""
    end = _BELOW if all(part.endswith(_BELOW) for part in parts) else ""
    return f"{begin}(?:{'|'.join(part[len(begin) : len(part) - len(end)] for part in parts)}){end}"


@lru_cache(maxsize=4096)
def glob(pattern: str) -> Glob:
    """Return the checked glob for a pattern, from a cache. Raises BadGlob as ``Glob.of`` does."""
    return Glob.of(pattern)


def meets(pattern: str, others: tuple[str, ...], *, hidden: bool = True) -> bool:
    """Return whether some path could match both ``pattern`` and one of ``others``.

    ``pattern`` is a pattern of a shell; some shells take a component ``**`` for any number of folders. ``others`` are
    alternatives of globs.

    The answer may be a wrong True, but never a wrong False. Case is ignored. Without ``hidden``, a wildcard at the
    beginning of a name in ``pattern`` matches no dot, as in a shell (POSIX).
    """
    pattern = broadened(pattern).casefold()
    parts = tuple(pattern.split("/"))
    end, _ = _ending(pattern)
    for other, letters, last in _ends(others):
        if end and letters and not (end.endswith(letters) or letters.endswith(end)):
            continue
        if end and last is not None and last.fullmatch(end[-1]) is None:
            continue
        if _meet(parts, other, hidden):
            return True
    return False


@lru_cache(maxsize=512)
def _ends(alternatives: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], str, re.Pattern[str] | None], ...]:
    """Return for each alternative its path components, and the two values of ``_ending``.

    ``meets`` compares the endings first, because most endings differ.
    """
    return tuple((tuple(one.split("/")), *_ending(one)) for one in map(str.casefold, alternatives))


#: Matches the end of a pattern: a class without escapes, or characters without wildcards and slashes.
_END = re.compile(r"(\[\^?[^\[\]\\\^/]+\])\Z|[^*?\[\]\\/]+\Z")


def _ending(pattern: str) -> tuple[str, re.Pattern[str] | None]:
    """Return the literal end of a pattern and None, such as ``(".env", None)`` for ``*.env``.

    For a pattern that ends in a character class, such as ``*.[ch]``, return '' and the compiled class. For any other
    pattern, return '' and None.
    """
    found = _END.search(pattern)
    if found is None:
        return "", None
    return ("", re.compile(found[1])) if found[1] else (found[0], None)


@lru_cache(maxsize=4096)
def _meet(parts: tuple[str, ...], others: tuple[str, ...], hidden: bool) -> bool:  # noqa: FBT001
    if not others:
        return all(map(_any_folders, parts))
    if others[0] == "**":
        return len(others) == 1 or any(_meet(parts[at:], others[1:], hidden) for at in range(len(parts) + 1))
    if not parts:
        return others == ("**",)
    if _any_folders(parts[0]) and (_meet(parts[1:], others, hidden) or _meet(parts, others[1:], hidden)):
        return True
    if not hidden and others[0].startswith(".") and parts[0][:1] in WILD:
        return False
    return _may_match(parts[0], others[0]) and _meet(parts[1:], others[1:], hidden)


def _any_folders(part: str) -> bool:
    return len(part) > 1 and not part.strip("*")


def _may_match(one: str, other: str) -> bool:
    """Return whether a name could match both patterns. Each pattern is one path component. A class counts as ``?``."""
    first, second = (_CLASSED.sub("?", text.replace("\\", "")) for text in (one, other))
    reached = {(0, 0)}
    seen = set(reached)
    while reached:
        at, to = reached.pop()
        if at == len(first) and to == len(second):
            return True
        for step in _steps(first, at, second, to):
            if step not in seen:
                seen.add(step)
                reached.add(step)
    return False


def _steps(first: str, at: int, second: str, to: int) -> Iterator[tuple[int, int]]:
    a, b = first[at : at + 1], second[to : to + 1]
    if a == "*":
        yield at + 1, to
        if b and b != "*":
            yield at, to + 1
    if b == "*":
        yield at, to + 1
        if a and a != "*":
            yield at + 1, to
    if a and b and (a == b or a in "?*" or b in "?*"):
        yield at + 1, to + 1


_CLASSED = re.compile(r"\[[^\]]*\]")


# --- names of tools


@lru_cache(maxsize=4096)
def name_pattern(text: str) -> re.Pattern[str]:
    """Return the compiled pattern of a tool name. The pattern matches only the whole name, and case matters."""
    return re.compile(translate(text), re.DOTALL)


#: Matches a character that no tool's name can have. MCP allows letters, digits, ``_``, ``-`` and ``.``. Some agents'
#: hosts also use ``/`` and ``:``.
_NO_NAME = re.compile(r"[\s()|^$!\\,;\"'`<>&=%#{}\[\]]")
_NAME_CLASS = re.compile(r"\[(!?)([^\]]+)\]")


class BadName(BadGlob):
    """Raised for a name that no tool can have. ``suggestion`` says how to write it instead."""

    def __init__(self, message: str, suggestion: str) -> None:
        super().__init__(message)
        self.suggestion = suggestion


def check_name(text: str) -> None:
    """Check that a tool can have the name ``text``. If the text is a pattern, check that it can match a tool's name.

    Raises:
        BadName: no tool can have the name, because it holds blanks, braces or signs of regular expressions, or a class
            that isn't closed or has a reversed range.
    """
    if any(not char.isprintable() for char in text) or text != text.strip():
        raise BadName(say("fault.tool.space"), say("fault.do.write", text=repr(" ".join(text.split()))))
    if called := re.fullmatch(r"([\w.:/-]+)\s*\((.*)\)", text):
        raise BadName(
            say("fault.tool.arguments"),
            say("fault.do.when", name=repr(called.group(1))),
        )
    if "|" in text or "," in text or "{" in text or "}" in text:
        parts = [part.strip(" ^$()") for part in re.split(r"[|,{}]", text) if part.strip(" ^$()")]
        raise BadName(say("fault.tool.several"), say("fault.do.list", names=", ".join(parts)))
    if text.startswith("!"):
        raise BadName(say("fault.tool.excludes"), say("fault.do.before", name=repr(text[1:])))
    for negated, inner in _NAME_CLASS.findall(text):
        _check_class(inner, negated=bool(negated))
    rest = _NAME_CLASS.sub("", text)
    if "[" in rest or "]" in rest:
        raise BadName(say("fault.tool.open"), say("fault.do.close"))
    if found := _NO_NAME.search(rest):
        plain = re.sub(r"\.[*+]", "*", _NO_NAME.sub("", rest)) or "*"
        raise BadName(say("fault.tool.sign", sign=repr(found.group())), say("fault.do.write", text=repr(plain)))
    if ".*" in rest or ".+" in rest:
        raise BadName(say("fault.tool.regex"), say("fault.do.any", name=repr(re.sub("[.][*+]", "*", rest))))


def _check_class(inner: str, *, negated: bool) -> None:
    for low, high in re.findall(r"(.)-(.)", inner):
        if low > high:
            raise BadName(say("fault.tool.backwards", inner=inner), say("fault.do.class", low=high, high=low))
    if not negated and not re.search(r"[\w.:/-]", inner):
        raise BadName(say("fault.tool.class", inner=inner), say("fault.do.leave_out"))


def prefixes(path: str) -> Iterator[str]:
    """Yield each folder above a normalised path, from the top, and then the path itself."""
    at = 0
    while (at := path.find("/", at + 1)) > 0:
        yield path[:at]
    yield path


def literal_folder(alternative: str) -> str | None:
    """Return the folder before the first wildcard of a pattern, or None if the pattern has no such folder.

    Return a pattern without wildcards unchanged.
    """
    wild = _WILD.search(alternative)
    if wild is None:
        return alternative
    return alternative[: wild.start()].rpartition("/")[0] or None
