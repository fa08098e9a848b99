"""The table of programs whose effects are known: the effect, the options and the operands of each program.

The data are in the ``programs/*.ini`` files next to this module, written from the programs' manuals. If a command has
an option or operand that its section doesn't list, a person is asked. A section describes one program, or one of its
sub-commands:

    [head]                          the program's name, then the words of a sub-command: [git log], [docker ps]
    does = read                     its effect on its operands: one of EFFECTS
    says = prints the beginning     completes the sentence "The command ..." for people
    options = -q --quiet -c:text --bytes=text -NUM
    asks = --output=out             known options that a person must judge
    operands = path*                the kinds of the words that aren't options

Effects: ``read`` reads files or the state of this machine; ``query`` asks a service or another host and changes
nothing; ``write`` writes files; ``build`` runs the project's own code (builds, tests, hooks); ``connect`` fetches from
or sends to another host; ``delete`` deletes or discards something.

Options: ``-q`` is a flag. ``-c:KIND`` takes a value, joined or as the next word. ``-c[KIND]`` takes only a joined
value. ``--long``, ``--long=KIND`` and ``--long[=KIND]`` are the same for long options. ``-NUM`` and ``+NUM`` are a sign
and digits. Long options may be shortened (getopt_long(3)), unless ``style`` says otherwise.

Operands: the kinds in order. The last may have ``*`` (any number), ``+`` (at least one) or ``?`` (at most one). ``;``
separates several forms. A form after ``with -e --regexp:`` applies if one of these options is given. ``operands =
none``: the program takes no operands. ``operands = command``: the words name a sub-command, which has its own section.

Kinds:

- ``text``: any harmless text
- ``number``: a number, perhaps with a unit
- ``path``: a file or folder that is read
- ``named``: a ``path``, but the program takes a word that begins with ``@`` or ``+``, or holds ``:``, for something
  else (a file of options, a command, another machine)
- ``out``: a file or folder that is written
- ``folder``: the folder in which the program works after this option
- ``rev``: a git revision
- ``item``: a git revision or a path
- ``run``: another command, which is all of the remaining words
- ``only``: a pattern that limits the base names of the files in a tree
- ``glob``: a pattern of files in a tree; the program then reads hidden files with such names, too
- ``type``: a kind of files in a tree, by a name of the program's own; as ``glob``
- ``word(a,b)``: one of these words, or several joined by commas
- ``slug``: a name, or an owner and a name, but not the address of another host
- ``format``: a text that begins with ``+``
- ``pretty``: a git format that runs no gpg
- ``order``: a sort key of git that runs no gpg

`accepts` checks the spelling of ``number``, ``named``, ``word``, ``slug``, ``format``, ``pretty`` and ``order``.

More keys:

- ``needs``: one of these options must be given
- ``tree``: ``always``, or the options with which the program reads every file below a folder
- ``names``: options with which it shows only names, so that it reads no file below a folder; an option in ``tree``
  overrides them
- ``bare``: ``folder`` if it reads the working folder when no path is given
- ``ends``: ``yes`` if options end at the first operand
- ``style``: ``words`` if options are whole words with one or two dashes, as Go's flag package reads them; ``exact`` if
  long options can't be shortened
- ``unknown``: ``text`` if words that are known only when the line runs can do no harm, because no option of the program
  reads, writes or runs anything
- ``like``: an earlier section of the same file; its options, ``asks``, ``operands``, ``tree``, ``names`` and ``style``
  also apply here, unless this section sets them
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final

from hitl.policy.tables import ini, names

FLAG: Final = ""
EFFECTS: Final = ("read", "query", "write", "build", "connect", "delete")
KINDS: Final = names("text number path named out folder rev item run word format pretty order slug only glob type")
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
#: Matches a field of a format for which git runs gpg. With a star, the field is that of the commit behind a tag.
_SIGNATURE = re.compile(r"%[-+ ]?G|\(\*?signature")
#: The names of git's built-in formats (git-log(1), "Pretty formats"). A word that `_OWN_FORMAT` matches is the text of
#: a format, such as `%h %s`, and not a name.
_FORMATS = names("oneline short medium full fuller reference email mboxrd raw") | {""}
_OWN_FORMAT = re.compile(r"^t?format:|%")
_SLUG = re.compile(r"[\w.#-]+(?:/[\w.-]+)?", re.ASCII)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?[a-zA-Z]{0,3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Takes:
    """The value that an option takes: its kind ('' for a flag), and whether the value must be joined to the option."""

    kind: str = FLAG
    joined_only: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """One form of a program's operands.

    ``kinds`` are the kinds of the operands, in order. ``last`` says how often the last may come: `*`, `+`, `?` or ''
    for once. ``given`` are options; the form applies if one of them is given.
    """

    kinds: tuple[str, ...]
    last: str = ""
    given: frozenset[str] = frozenset()

    def fits(self, count: int) -> bool:
        """Return whether the form allows this number of operands."""
        least = len(self.kinds) - (self.last in ("*", "?"))
        return count >= least and (self.last in ("*", "+") or count <= len(self.kinds))

    def kind(self, at: int) -> str:
        """Return the kind of the operand at this index."""
        return self.kinds[min(at, len(self.kinds) - 1)]


@dataclass(frozen=True, slots=True)
class Program:
    """One section of a data file: a program, or one of its sub-commands. The module's docstring explains the keys."""

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


#: The line that begins a section: its name in brackets.
_HEAD: Final = re.compile(r"^\[(.+)\]$", re.MULTILINE)
_NOTHING: Final = Program((), "read", "", {}, {}, ())


class Sections:
    """The sections of data files. Each section is parsed on first use, because a process needs few of them."""

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
        """Return the section of the program or sub-command with these words, or None.

        Raises ValueError for a key, kind or option in the section that can't be parsed.
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
    """Return the sections of all shipped data files. Raises ValueError if two sections have the same name."""
    folder = files("hitl.policy.tables").joinpath("programs")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".ini"))
    return Sections(*(folder.joinpath(name).read_text(encoding="utf-8") for name in names))


def program(path: tuple[str, ...]) -> Program | None:
    """Return the section of a program or sub-command, such as ``("git", "log")``, or None for an unknown name."""
    return sections().get(path)


def programs() -> Mapping[tuple[str, ...], Program]:
    """Return all sections by the words of their program or sub-command.

    Raises ValueError for a mistake in a data file; the error's text names the section.
    """
    known = sections()
    return {path: found for path in known if (found := known.get(path)) is not None}


def parse(text: str) -> list[Program]:
    """Return the sections in the text of one data file. A section whose head has several names is returned once for
    each name.

    Raises ValueError for a key, kind or option that can't be parsed.
    """
    known = Sections(text)
    return [found for path in known if (found := known.get(path)) is not None]


def _paths(section: str) -> list[tuple[str, ...]]:
    """Return the words of each name in the head of a section. ``egrep | fgrep`` are two names, ``git log`` is one."""
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
    """Return whether a word of the command has the form that its kind requires, or True for kinds that allow any form.

    A ``number`` may have a unit (``10``, ``-5``, ``+3``, ``2.5s``, ``10MB``). A ``pretty`` format has neither ``%G``
    nor ``%(signature``, because git would run gpg to fill them in (git-log(1), git-for-each-ref(1)). A name that isn't
    one of git's built-in formats is refused too. It may be the name of a format in git's configuration, or the
    beginning of one, and that format may run gpg. An ``order`` is a field of git-for-each-ref(1), so it isn't the
    signature either.
    """
    name, _, words = kind.partition("(")
    if name == "word":
        return set(word.split(",")) <= set(words.rstrip(")").split(","))
    spelled = _SPELLED.get(name)
    return spelled is None or spelled(word)


def _runs_no_gpg(word: str) -> bool:
    return _SIGNATURE.search(word) is None and (_OWN_FORMAT.search(word) is not None or word in _FORMATS)


_SPELLED: Final[Mapping[str, Callable[[str], bool]]] = {
    "number": lambda word: _NUMBER.fullmatch(word) is not None,
    "format": lambda word: word.startswith("+"),
    "slug": lambda word: _SLUG.fullmatch(word) is not None,
    "order": lambda word: "signature" not in word,
    "pretty": _runs_no_gpg,
    "named": lambda word: not (word.startswith(("@", "+")) or ":" in word),
}
