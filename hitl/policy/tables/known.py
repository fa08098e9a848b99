"""The programs that may run unasked: what each does, its options, and what its operands are.

The data are the ``programs/*.ini`` files beside this module, written from the programs' manuals. An option or operand
that a section doesn't name makes the call ask. A section is one program, or one sub-command of one:

    [head]                          names of the program, with a sub-command's words behind: [git log], [docker ps]
    does = read                     what it does to what its operands name: one of EFFECTS
    says = prints the beginning     completes the sentence "The command ..." for people
    options = -q --quiet -c:text --bytes=text -NUM
    asks = --output=out             known options that a person must judge
    operands = path*                what the words are that are no options

Effects: ``read`` files or this machine's state, ``query`` a service or another host without changing it, ``write``,
``build`` (run the project's own code: builds, tests, hooks), ``connect`` (fetch from or send to another host),
``delete``.

Options: ``-q`` is a flag; ``-c:KIND`` takes a value, joined or as the next word; ``-c[KIND]`` takes one only if it is
joined; ``--long``, ``--long=KIND`` and ``--long[=KIND]`` are the same for long options; ``-NUM`` and ``+NUM`` are a
sign and digits. Long options may be shortened (getopt_long(3)) unless ``style`` says otherwise.

Operands: kinds in order, the last with ``*`` (any number), ``+`` (at least one) or ``?``. Several forms are separated
by ``;``; a form behind ``with -e --regexp:`` holds if one of those options is given. ``operands = none`` takes none.
``operands = command`` in a program's own section: its words name a sub-command, which has a section of its own.

Kinds: ``text`` (any harmless text), ``number``, ``path`` (a file or folder that is read), ``out`` (one that is
written), ``folder`` (where it works from now on), ``rev`` (a git revision), ``item`` (a revision or a path),
``run`` (a command of its own, in the remaining words), ``only`` (a pattern of base names that a tree is held to).
``named`` is a ``path`` of a program that takes a word with ``@`` or ``+`` in front, or with ``:``, for something else
(a file of options, a command, another machine). `accepts` judges the kinds that are a matter of spelling alone:
``word(a,b)`` (one of these words, or several joined by commas), ``slug`` (a name, or an owner and a name: no other
host's address),
``format`` (begins with ``+``), ``pretty`` (a git format that runs no gpg), and what ``number`` and ``named`` may be.

More keys: ``needs`` (one of these options must be given), ``tree`` (``always``, or options with which every file below
a folder is read), ``names`` (options with which only names are shown, so that no file below a folder is read; an option
that ``tree`` lists counts in spite of them),
``bare`` (``folder`` if the working folder is read when no path is given), ``ends`` (``yes`` if options end at the
first operand), ``style`` (``words``: options are whole words with one or two dashes, as Go's flag package reads them;
``exact``: long options can't be shortened), ``unknown`` (``text`` if words that are known only when the line runs can
do no harm: the program takes no option that reads, writes or runs anything), ``like`` (an earlier section of the
same file: its options, ``asks``, ``operands``, ``tree``, ``names`` and ``style`` count here too, but what this section
says wins).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final

from hitl.policy.tables import ini, names

FLAG: Final = ""
EFFECTS: Final = ("read", "query", "write", "build", "connect", "delete")
KINDS: Final = names("text number path named out folder rev item run word format pretty slug only")
_KEYS: Final = frozenset(
    (
        "does",
        "says",
        "options",
        "asks",
        "operands",
        "needs",
        "tree",
        "names",
        "bare",
        "ends",
        "style",
        "unknown",
        "like",
    )
)
_OPTION = re.compile(
    r"(?P<name>--?[A-Za-z0-9#@?.][\w.+-]*|[-+]NUM|--?|\+[A-Za-z])"
    r"(?:(?P<taken>[:=])(?P<value>[a-z]+(?:\([^\s()]*\))?)|\[=?(?P<joined>[a-z]+(?:\([^\s()]*\))?)\])?"
)
_SIGNATURE = re.compile(r"%[-+ ]?G|\(signature")
_SLUG = re.compile(r"[\w.#-]+(?:/[\w.-]+)?", re.ASCII)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?[a-zA-Z]{0,3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Takes:
    """What an option takes: the kind of its value ('' for a flag), and whether only a joined value counts."""

    kind: str = FLAG
    joined_only: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """One form of operands: the kinds in order, how often the last may come, and the options that it needs."""

    kinds: tuple[str, ...]
    last: str = ""
    given: frozenset[str] = frozenset()

    def fits(self, count: int) -> bool:
        """Whether so many operands may come."""
        least = len(self.kinds) - (self.last in ("*", "?"))
        return count >= least and (self.last in ("*", "+") or count <= len(self.kinds))

    def kind(self, at: int) -> str:
        """What the operand at that place is."""
        return self.kinds[min(at, len(self.kinds) - 1)]


@dataclass(frozen=True, slots=True)
class Program:
    """One section: a program or one sub-command of it."""

    path: tuple[str, ...]
    does: str
    says: str
    options: Mapping[str, Takes]
    asks: Mapping[str, Takes]
    operands: tuple[Form, ...]
    needs: frozenset[str] = frozenset()
    tree: frozenset[str] = frozenset()
    always_tree: bool = False
    names: frozenset[str] = frozenset()
    bare: bool = False
    ends: bool = False
    style: str = ""
    unknown_is_text: bool = False
    subcommands: bool = field(default=False)


#: The head of a section.
_HEAD: Final = re.compile(r"^\[(.+)\]$", re.MULTILINE)
_NOTHING: Final = Program((), "read", "", {}, {}, ())


class Sections:
    """The sections of data files, each read when it is first asked for: a process needs few of them."""

    def __init__(self, *texts: str) -> None:
        self._bodies: dict[tuple[str, ...], tuple[str, str]] = {}
        self._read: dict[tuple[str, ...], Program] = {}
        for text in texts:
            heads = list(_HEAD.finditer(text))
            ends = [*(head.start() for head in heads[1:]), len(text)]
            for head, end in zip(heads, ends, strict=True):
                for path in _paths(head[1]):
                    if path in self._bodies:
                        raise ValueError(f"{' '.join(path)} has two sections")
                    self._bodies[path] = head[1], text[head.end() : end]

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self._bodies)

    def get(self, path: tuple[str, ...]) -> Program | None:
        """The program or sub-command with these words; None if there is none.

        Raises ValueError for a key, kind or option that can't be read.
        """
        if path not in self._read and path in self._bodies:
            self._read[path] = self._program(path)
        return self._read.get(path)

    def _program(self, path: tuple[str, ...]) -> Program:
        title, body = self._bodies[path]
        keys = ini.read(f"[{title}]\n{body}", _KEYS)[title]
        like = tuple(keys.get("like", "").split())
        base = self.get(like) if like and like not in _paths(title) else None if like else _NOTHING
        if base is None:
            raise ValueError(f"[{title}] is like [{keys['like']}], which isn't there")
        return _program(path, keys, base)


@cache
def sections() -> Sections:
    """The sections of the files that are shipped. Raises ValueError for a name that has two."""
    folder = files("hitl.policy.tables").joinpath("programs")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".ini"))
    return Sections(*(folder.joinpath(name).read_text(encoding="utf-8") for name in names))


def program(path: tuple[str, ...]) -> Program | None:
    """The program or sub-command with these words: ``("head",)``, ``("git", "log")``; None if no table knows it."""
    return sections().get(path)


def programs() -> Mapping[tuple[str, ...], Program]:
    """Every section by its words. Raises ValueError for a data file with a mistake, naming the section."""
    known = sections()
    return {path: found for path in known if (found := known.get(path)) is not None}


def parse(text: str) -> list[Program]:
    """The sections of one data file; a section with several names gives one program each.

    Raises ValueError for a key, kind or option that can't be read.
    """
    known = Sections(text)
    return [found for path in known if (found := known.get(path)) is not None]


def _paths(section: str) -> list[tuple[str, ...]]:
    """``egrep | fgrep`` are two programs; ``git log`` is one with a sub-command."""
    return [tuple(name.split()) for name in section.split("|")]


def _program(path: tuple[str, ...], keys: Mapping[str, str], base: Program) -> Program:
    where = " ".join(path)
    does = keys.get("does", "read")
    if does not in EFFECTS:
        raise ValueError(f"[{where}] does {does!r}, which is none of {', '.join(EFFECTS)}")
    options, asks = (_options(keys.get(key, ""), where) for key in ("options", "asks"))
    if both := options.keys() & asks.keys():
        raise ValueError(f"[{where}] has the option {min(both)!r} twice")
    forms = keys.get("operands", "none" if base is _NOTHING else "")
    tree = frozenset(keys.get("tree", "").split())
    return Program(
        path=path,
        does=does,
        says=keys.get("says", ""),
        options={name: takes for name, takes in (*base.options.items(), *options.items()) if name not in asks},
        asks={name: takes for name, takes in (*base.asks.items(), *asks.items()) if name not in options},
        operands=_forms(forms, where) if forms else base.operands,
        needs=frozenset(keys.get("needs", "").split()),
        tree=tree - {"always"} if "tree" in keys else base.tree,
        always_tree="always" in tree if "tree" in keys else base.always_tree,
        names=frozenset(keys["names"].split()) if "names" in keys else base.names,
        bare=keys.get("bare") == "folder",
        ends=keys.get("ends") == "yes",
        style=keys.get("style", base.style),
        unknown_is_text=keys.get("unknown") == "text",
        subcommands=forms == "command" if forms else base.subcommands,
    )


def _options(text: str, where: str) -> Mapping[str, Takes]:
    found: dict[str, Takes] = {}
    for word in text.split():
        match = _OPTION.fullmatch(word)
        if match is None:
            raise ValueError(f"[{where}] has the option {word!r}, which can't be read")
        kind = match["value"] or match["joined"] or FLAG
        if kind and kind.partition("(")[0] not in KINDS:
            raise ValueError(f"[{where}] has the unknown kind {kind!r}")
        if match["name"] in found:
            raise ValueError(f"[{where}] has the option {match['name']!r} twice")
        found[match["name"]] = Takes(kind, joined_only=match["joined"] is not None)
    return found


def _forms(text: str, where: str) -> tuple[Form, ...]:
    return () if text == "command" else tuple(_form(part, where) for part in text.split(";"))


def _form(text: str, where: str) -> Form:
    given, _, rest = text.rpartition(":")
    words = rest.split()
    if words == ["none"]:
        return Form((), "", _given(given))
    last = words[-1][-1:] if words and words[-1][-1:] in "*+?" else ""
    if words[-1:] == ["run"]:
        last = "+"
    kinds = tuple(word.rstrip("*+?") for word in words)
    if not kinds or not KINDS.issuperset(kind.partition("(")[0] for kind in kinds):
        raise ValueError(f"[{where}] has the operands {text.strip()!r}, which can't be read")
    return Form(kinds, last, _given(given))


def _given(text: str) -> frozenset[str]:
    return frozenset(text.split()) - {"with"}


def accepts(kind: str, word: str) -> bool:
    """Whether the word is spelled as its kind demands; True for kinds that aren't a matter of spelling.

    A ``number`` may carry a unit (``10``, ``-5``, ``+3``, ``2.5s``, ``10MB``). A ``pretty`` format has neither ``%G``
    nor ``%(signature``: git runs gpg to fill them in (git-log(1), git-for-each-ref(1)).
    """
    name, _, words = kind.partition("(")
    if name == "word":
        return set(word.split(",")) <= set(words.rstrip(")").split(","))
    if name == "number":
        return _NUMBER.fullmatch(word) is not None
    if name == "format":
        return word.startswith("+")
    if name == "slug":
        return _SLUG.fullmatch(word) is not None
    if name == "pretty":
        return _SIGNATURE.search(word) is None
    return name != "named" or not (word.startswith(("@", "+")) or ":" in word)
