"""Finds the effects of programs whose arguments may be expressions, scripts or commands, not only options and paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING

from hitl.policy.globs import is_pattern
from hitl.policy.shell import awk
from hitl.policy.shell.arguments import ParsedArguments, parse
from hitl.policy.shell.globbing import hidden_names, pathspec
from hitl.policy.shell.plain import Step, steps
from hitl.policy.shell.plain_words import Below, NotPlain, ShellWord, looks_like_a_file
from hitl.policy.shell.printed import printed, source
from hitl.policy.tables import names
from hitl.records import replace

if TYPE_CHECKING:
    from hitl.policy.shell.found import Found

Handler = Callable[["Found", Step], None]

_NAMES = ("-v", "-R")  # options that test a variable; a subscript in the variable's name may run a command
_FILE_TESTS = re.compile(r"-[abcdefghkprstuwxGLNOS]")
#: The words that may follow a value in a test.
_BEHIND_VALUE = names("= == != =~ < > -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o && || ) ] ]]")
#: Matches a conversion of printf that stores the number of printed characters in a variable (Bash manual, printf).
_STORES = re.compile(r"%[^A-Za-z%]*n")
#: Matches a conversion of printf. Group 1 is its letter, or None if the conversion has other parts (`%*d`, `%1$s`).
_CONVERSION = re.compile(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?(?:\([^()]*\))?([A-Za-z])|)")
#: The letters of conversions that print a text, not a number.
_AS_TEXT = frozenset("sbqcT")
_WRITTEN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?", re.ASCII)
#: Builtins that change the state of the shell in which they run.
_CHANGES_SHELL = names("cd read")

# --- the effects of the shell's builtins


def _cd(found: Found, step: Step) -> None:
    call = parse(step)
    found.effect("read", call.program.says)
    for _, word in call.operands:
        found.path("read", word, step.folders)


def _test(found: Found, step: Step) -> None:
    """Add the effects of ``test``, ``[`` or ``[[``. Raises NotPlain if the test may run a command."""
    found.effect("read", "tests files and texts")
    for word in step.words:
        if any(option == word.text or (word.wild and fnmatchcase(option, word.text or "")) for option in _NAMES):
            raise NotPlain("a test may run a substitution")
        if word.loose and step.words[0].text != "[[":  # ``[[`` doesn't split a value into words
            raise NotPlain("a test gets words that are known only when the line runs")
    for before, word in pairwise(step.words):
        if before.text is None and word.text not in _BEHIND_VALUE:
            # The first of two values may be `-v`, and the second a name with a subscript.
            raise NotPlain("a test gets a value in place of an operator")
        if before.text is not None and (_FILE_TESTS.fullmatch(before.text) or before.text in ("-nt", "-ot", "-ef")):
            found.path("read", word, step.folders)
        elif word.text in ("-nt", "-ot", "-ef"):
            found.path("read", before, step.folders)


def _printf(found: Found, step: Step) -> None:
    """Add the effects of ``printf``. Raises NotPlain if it sets a variable (``-v``, ``%n``) or computes a number.

    For ``%d``, zsh computes the value as an arithmetic expression, which may run a command.
    """
    given = [word for at, word in enumerate(step.words[1:]) if at > 1 or word.text != "--"]
    form = given[0].literal if given else ""
    if form is None or form.startswith("-v") or _STORES.search(form.replace("%%", "")):
        raise NotPlain("printf sets a variable")
    if not _prints_text(form, given[1:]):
        raise NotPlain("printf computes a value that isn't a written number")
    found.effect("read", "prints text")


def _prints_text(form: str, values: Sequence[ShellWord]) -> bool:
    """Return whether ``printf`` gets a written number for each conversion that takes a number."""
    letters = [match[1] for match in _CONVERSION.finditer(form) if match[0] != "%%"]
    if _AS_TEXT.issuperset(filter(None, letters)) and all(letters):
        return True
    if not all(letters) or any(word.loose or word.wild or word.below for word in values):
        letters = ["d"]
    return all(
        letters[at % len(letters)] in _AS_TEXT or _WRITTEN_NUMBER.fullmatch(word.literal or "x")
        for at, word in enumerate(values)
    )


def _command(found: Found, step: Step) -> None:
    """Add the effects of ``command``. Without an option it runs its words as a command; ``-v`` only finds a program."""
    first = step.words[1].literal if len(step.words) > 1 else None
    if first in _CHANGES_SHELL:
        raise NotPlain("a builtin is run through command")
    if first is not None and not first.startswith("-"):
        found.step(replace(step, words=step.words[1:], inputs=(), outputs=()))
    else:
        found.listed(step)


def _shell(found: Found, step: Step) -> None:
    """Add the effects of ``bash -c TEXT``, which are those of the text as a separate line."""
    call = parse(step)
    if not call.has("-c"):
        if call.given.keys() <= {"--version"} and not call.operands and call.given:
            found.effect("read", "says its version")
            return
        raise NotPlain(f"{call.program.path[0]} runs a script, or what it reads")
    text = call.operands[0][1].literal if call.operands else None
    if text is None:
        raise NotPlain("a shell gets a text that is known only when the line runs")
    found.run([replace(one, fed_by=one.fed_by or step.fed_by) for one in steps(text, step.folders, found.steps_taken)])


# --- wrappers: programs that run another command


def _wrapper(found: Found, step: Step) -> None:
    """Add the effects of the command in the later words of a wrapper."""
    call = parse(step)
    rest = tuple(word for kind, word in call.operands if kind == "run")
    if not rest or rest[0].literal in _CHANGES_SHELL:
        raise NotPlain(f"{call.program.path[0]} runs nothing that is written out, or a builtin")
    found.step(replace(step, words=rest, inputs=(), outputs=()))


def _env(found: Found, step: Step) -> None:
    """Add the effects of the command in ``env COMMAND``.

    Raises NotPlain without a command, because ``env`` then shows the environment, and for a setting before the command.
    """
    call = parse(step)
    rest = tuple(word for _, word in call.operands)
    if not rest or rest[0].literal is None or "=" in rest[0].literal:
        raise NotPlain("env shows or sets the environment")
    found.step(replace(step, words=rest, inputs=(), outputs=()))


def _xargs(found: Found, step: Step) -> None:
    """Add the effects of the command that ``xargs`` runs. The command gets words of the input, such as file names of
    ``find``.
    """
    call = parse(step)
    rest = tuple(word for _, word in call.operands)
    if not rest:
        raise NotPlain("xargs runs nothing that is written out")
    given = _names_from(step.fed_by, call)
    mark = call.given.get("-I") or call.given.get("--replace")
    if mark is None:
        if not call.has("-r", "--no-run-if-empty"):
            _without_names(found, replace(step, words=rest, inputs=(), outputs=(), fed_by=None))
        rest = (*rest, given)
    else:
        if not mark.text:
            raise NotPlain("xargs puts its input in place of a text that isn't written out")
        if any(mark.text in (word.text or "") for word in rest if word.text != mark.text):
            raise NotPlain("xargs puts its input into a longer word")
        rest = tuple(given if word.text == mark.text else word for word in rest)
    found.step(replace(step, words=rest, inputs=(), outputs=(), fed_by=None))


def _without_names(found: Found, step: Step) -> None:
    """Add the effects of the command without file names. If its input is empty, xargs still runs the command once."""
    try:
        found.step(step)
    except NotPlain:
        # The words alone were refused. The caller then adds the effects of the same words with a file name. If they
        # have another fault than the missing name, they are refused again there.
        return


def _names_from(fed_by: Step | None, call: ParsedArguments) -> ShellWord:
    """Return a word for the file names that xargs gets through the pipe. If other text may come through, the word is
    unknown and may become any number of words.

    With ``find -print0`` and ``xargs -0``, the names arrive unchanged. With one name on each line, xargs splits names
    at blanks and removes quotes and backslashes, so a name may change.
    """
    whole = call.has("-0", "--null")
    if call.has("-d", "--delimiter"):
        return ShellWord(None, loose=True)
    before = fed_by if whole else source(fed_by)
    if before is None or before.merged:
        return ShellWord(None, loose=True)
    if before.words[0].literal != "find":
        below = None if whole else printed(before)
        return ShellWord(None, loose=True) if below is None else ShellWord(None, below=below)
    look = _Find(before)
    if look.actions == {"-print0"} if whole else look.actions <= {"-print"}:
        return look.found_names(split=not whole)
    return ShellWord(None, loose=True)


# --- the effects of find

_FIND_ALONE = names(
    "-true -false -empty -executable -readable -writable -nouser -nogroup -depth -d -mount -xdev -noleaf -prune -print "
    "-print0 -ls -quit -daystart -o -or -a -and -not ! ( ) , -ignore_readdir_race -noignore_readdir_race -nowarn -warn"
)
_FIND_VALUED = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size "
    "-mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -links -inum -fstype -lname -ilname -printf "
    "-newermt -newerat -newerct -used"
)
_FIND_PATHS = names("-newer -anewer -cnewer -samefile")
_FIND_ACTIONS = names("-print -print0 -ls -printf -quit -exec -delete -prune")
_EITHER = names("-o -or , -not ! -prune")
#: Actions of find that don't use the name of a found file.
_FIND_ENDS = names("-quit -prune")


class _Find:
    """The parsed words of one ``find``: its folders, its tests, and its actions."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.roots: list[ShellWord] = []
        self.paths: list[ShellWord] = []
        self.commands: list[tuple[ShellWord, ...]] = []
        self.actions: set[str] = set()
        #: The patterns of ``-name`` before the first action. A test after an action doesn't limit that action.
        self.patterns: list[str] = []
        self.either = False
        self._read(list(step.words[1:]))

    def found_names(self, *, split: bool = False) -> ShellWord:
        """Return a word that may be the name of any file that ``find`` finds."""
        only = tuple(self.patterns[:1]) if len(self.patterns) == 1 and not self.either else ()
        roots = tuple(root.literal or "" for root in self.roots) or (".",)
        return ShellWord(None, prefix=roots[0], below=Below(roots, only, split))

    def _read(self, rest: list[ShellWord]) -> None:
        while rest and rest[0].literal in ("-P", "-H"):
            del rest[0]
        while rest and not self._begins(rest[0]):
            root = rest.pop(0)
            if root.literal is None:
                raise NotPlain("find looks in a folder that isn't written out")
            self.roots.append(root)
        while rest:
            self._term(rest)

    def _begins(self, word: ShellWord) -> bool:
        return word.text is None or word.text[:1] == "-" or word.text in ("(", "!", ")", ",")

    def _term(self, rest: list[ShellWord]) -> None:
        name = rest.pop(0).literal
        if name is None:
            raise NotPlain("find gets a word that is known only when the line runs")
        if name in _FIND_ACTIONS:
            self.actions.add(name)
        self.either |= name in _EITHER
        if name in _FIND_VALUED or name in _FIND_PATHS:
            value = rest.pop(0) if rest else ShellWord(None)
            if value.wild or value.text is None:
                raise NotPlain(f"find {name} gets a value that isn't written out")
            if name in _FIND_PATHS:
                self.paths.append(value)
            elif name == "-name" and self.actions <= _FIND_ENDS:
                self.patterns.append(value.text)
        elif name == "-exec":
            self._exec(rest)
        elif name not in _FIND_ALONE and name != "-delete":
            raise NotPlain(f"find {name[:64]} isn't known here, or a matter for a person")

    def _exec(self, rest: list[ShellWord]) -> None:
        ends = [at for at, word in enumerate(rest) if word.text == ";" or (word.text == "+" and at)]
        if not ends:
            raise NotPlain("find runs a command without an end")
        self.commands.append(tuple(rest[: ends[0]]))
        del rest[: ends[0] + 1]


def _find(found: Found, step: Step) -> None:
    look = _Find(step)
    found.effect("delete", "deletes files") if "-delete" in look.actions else found.effect("read", "lists files")
    how = "write" if "-delete" in look.actions else "read"
    for root in look.roots or [ShellWord(".")]:
        found.path(how, root, step.folders)
    for word in look.paths:
        found.path("read", word, step.folders)
    for command in look.commands:
        if any("{}" in (word.text or "") for word in command if word.text != "{}") or not command:
            raise NotPlain("find puts file names into a longer word")
        names_of = look.found_names()
        words = tuple(names_of if word.text == "{}" else word for word in command)
        if words[0].text is None:
            raise NotPlain("find runs what it finds")
        found.step(Step(words, step.folders))


# --- the effects of sed, awk and jq

#: A set of characters in an expression of sed. Versions of sed disagree about two things: whether a delimiter in a set
#: ends the expression, and whether a backslash in a set is an ordinary character. A set that has two meanings for this
#: reason doesn't match.
_SED_SET = r"\[\^?+\]?+(?:\[(?!{mark}):[a-z]+:\]|\[(?![:.=])|(?!{mark})[^\]\[\\\n]|\\[^\]\n])*\]"
_SED_EXPRESSION = rf"(?:(?!{{mark}})[^\[\\\n]|\\.|{_SED_SET})*{{mark}}"
_SED_PART = r"(?:(?!{mark})[^\\\n]|\\.)*{mark}"
#: The parts of a sed command that only prints or edits the stream: addresses, and then a command that names no file and
#: no program.
_SED_ADDRESS = rf"(?:\d+(?:~\d+)?|\$|/{_SED_EXPRESSION.format(mark='/')}I?)"
_SED_ADDRESSES = rf"(?:{_SED_ADDRESS}\s*(?:,\s*(?:{_SED_ADDRESS}|[+~]\d+)\s*)?!?\s*)?"
_SED_S, _SED_Y = "(?P=mark)", "(?P=other)"
_SED_EDIT = (
    r"(?:[pPdDqQ=nNgGhHxl]\d*"
    rf"|s(?P<mark>[/|#,:@!%]){_SED_EXPRESSION.format(mark=_SED_S)}{_SED_PART.format(mark=_SED_S)}[gpiI\d]*"
    rf"|y(?P<other>[/|#,:@!%]){_SED_PART.format(mark=_SED_Y)}{_SED_PART.format(mark=_SED_Y)})"
)
# After sed's commands a, i and c, the rest of the line is text to print.
_sed_command = re.compile(
    rf"[\s;{{}}]*{_SED_ADDRESSES}(?:{_SED_EDIT}\s*(?=[;}}\n]|$)|\{{|[aic](?:\\|[ \t])[^\\\n]+(?=\n|$))"
)
_MAX_SCRIPT = 2000


def _sed(found: Found, step: Step) -> None:
    words = list(step.words)
    in_place = [word for word in words[1:] if word.text and re.fullmatch(r"-[nErsuz]*i|--in-place", word.text)]
    step = replace(step, words=tuple(word for word in words if word not in in_place))
    call = parse(step)
    given = [word for kind, word in call.values if kind == "text"] if call.has("-e", "--expression") else []
    scripts = given or [word for kind, word in call.operands if kind == "text"]
    for script in scripts:
        if script.literal is None or not _only_edits(script.literal):
            raise NotPlain("a sed script isn't read here")
    found.effect(*(("write", "changes files in place") if in_place else ("read", call.program.says)))
    for word in call.paths():
        found.path("write" if in_place else "read", word, step.folders, guarded=call.guarded(word))


def _only_edits(script: str) -> bool:
    """Return whether every command of a sed script only prints or edits the stream."""
    at, end = 0, len(script.rstrip("; }\n"))
    if len(script) > _MAX_SCRIPT:
        return False
    while at < end:
        match = _sed_command.match(script, at)
        if match is None or match.end() == at:
            return False
        at = match.end()
    return True


def _awk(found: Found, step: Step) -> None:
    call = parse(step)
    for kind, word in call.operands[:1]:
        if kind == "text" and (word.literal is None or not awk.only_prints(word.literal)):
            raise NotPlain("an awk program may run, write or read more than its files")
    _reads(found, call)


_JQ_READS = re.compile(r"\benv\b|\bENV\b|__prog|\bimport\b|\binclude\b|input_filename|get_search_list|\bmodulemeta\b")


def _jq(found: Found, step: Step) -> None:
    call = parse(replace(step, words=_without_variables(step.words)))
    for kind, word in call.operands[:1]:
        if kind == "text" and (word.literal is None or _JQ_READS.search(word.literal)):
            raise NotPlain("a jq filter may read the environment or other files")
    found.apply(call)


def _without_variables(given: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
    """Return the words of jq without ``--arg NAME VALUE`` and ``--argjson NAME VALUE``, which name no file.

    After ``--``, such words name files.
    """
    kept: list[ShellWord] = []
    rest = list(given)
    while rest:
        if rest[0].literal == "--":
            return (*kept, *rest)
        if rest[0].literal not in ("--arg", "--argjson"):
            kept.append(rest.pop(0))
        elif len(rest) <= _VARIABLE or any(word.loose or word.wild for word in rest[1 : _VARIABLE + 1]):
            raise NotPlain("a variable of jq isn't written out")
        else:
            del rest[: _VARIABLE + 1]
    return tuple(kept)


#: The number of words after ``--arg``: the name of a jq variable, and its value.
_VARIABLE = 2


def _reads(found: Found, call: ParsedArguments) -> None:
    found.effect(call.program.does, call.program.says)
    for word in call.paths():
        found.path("read", word, call.folders, guarded=call.guarded(word))


# --- the effects of git

_ADDRESS = re.compile(r"remoteurl|upstream|push")
_REVISION = re.compile(r"[\w./@{}^~+#-]+", re.ASCII)
_WORK_TREE = names("diff grep")
_CHOOSES_REVISIONS = names(
    "--all --branches --tags --remotes --glob --alternate-refs --bisect -g --walk-reflogs --merge"
)
#: Options with which git shows more files than the named paths, or a file under a former name.
_MORE_THAN_PATHS = names("--full-diff --follow")
_SHOWS_OBJECTS = names("show cat-file")
#: Matches a word that may name any git object, by its number or by a tag (gitrevisions(7)). A word that begins with
#: HEAD or @ doesn't match, because it names a commit.
_OBJECT = re.compile(r"^(?!HEAD\b|@)", re.ASCII)


def _git(found: Found, step: Step) -> None:
    """Add the effects of a git command: the command uses the git repository of its folder, and the files that it shows.

    Former contents of a file may hold secrets that were removed later. So a command that shows former contents must
    name files. The policy must allow reading each of these files now.
    """
    call = parse(step)
    found.effect(call.program.does, call.program.says)
    if found.programs.count("git") > 1 and found.does - {"read"}:
        raise NotPlain("git looks at a repository that the same line changes")
    found.options_of(call)
    found.path("repository", ShellWord("."), call.folders)
    if call.program.path[-1] == "remote" or any(value.text and _ADDRESS.search(value.text) for _, value in call.values):
        found.path("addresses", ShellWord("."), call.folders)
    paths, revisions, objects = call.paths(), False, False
    for at, (kind, word) in enumerate(call.operands):
        text = word.literal or ""
        if kind == "item" and call.ended and at >= call.before_end:
            paths.append(word)
        elif kind in ("item", "rev") and ":" in text:
            objects = True
            _git_object(found, call, text)
        elif kind in ("item", "rev"):
            named = _git_item(found, call, word, only_revision=kind == "rev" or call.ended)
            paths += named
            revisions |= not named
    if not call.reads_trees():
        _git_paths(found, call, paths, "write" if call.program.does in ("write", "delete") else "read")
        return
    revisions |= call.has(*_CHOOSES_REVISIONS)
    former = revisions or objects or call.program.path[-1] not in _WORK_TREE or call.has("--cached", "--staged")
    if call.has(*_MORE_THAN_PATHS) or call.given.get("-L") or (former and not paths and (revisions or not objects)):
        raise NotPlain("git shows files as they were, which may hold secrets; name the files, or ask for --stat")
    now = "tree" if call.has("--untracked", "--no-exclude-standard") else "tracked"
    _git_paths(found, call, paths, "former" if former else now)
    if not paths and not objects:
        found.path(now, ShellWord("."), call.folders)


def _git_paths(found: Found, call: ParsedArguments, paths: list[ShellWord], how: str) -> None:
    """Add the paths that git uses. ``how`` is ``former`` if git may show former contents of the files."""
    for word in paths:
        if word.text is None or word.text.startswith(":"):
            raise NotPlain("git gets a path with a meaning of its own")
        pattern = word.wild or is_pattern(word.text)
        file = looks_like_a_file(word.text) and not pattern
        if how == "former" and not file:
            raise NotPlain("git shows a folder as it was, which may have held secrets; name the files")
        guarded = not word.wild or call.guarded(word)
        if how in ("tracked", "tree") and pattern and guarded:
            folder, only = pathspec(word.text)
            found.path(how, folder, call.folders, only=() if word.wild else only)
        else:
            shown = "former" if how == "tracked" and file else "tree" if how == "tracked" and pattern else how
            found.path(shown, replace(word, wild=pattern), call.folders, guarded=guarded)


def _git_object(found: Found, call: ParsedArguments, text: str) -> None:
    """Add the path in ``REVISION:PATH``. For a folder, `git show` prints names; other commands show its files."""
    revision, _, path = text.partition(":")
    if not path or ":" in path or ".." in revision or not _REVISION.fullmatch(revision or "x"):
        raise NotPlain("git shows a folder, or the index")
    shows = call.reads_trees() and call.program.path[-1] not in _SHOWS_OBJECTS
    if shows and not looks_like_a_file(path):
        raise NotPlain("git shows a folder as it was, which may have held secrets; name the files")
    found.path("former" if shows else "read", ShellWord(path), call.folders)


def _git_item(found: Found, call: ParsedArguments, word: ShellWord, *, only_revision: bool) -> list[ShellWord]:
    """Return a list with the word if it names a path, or [] if it names a revision.

    A revision is also added as a path that git reads, because a file may have that name.
    """
    text = word.literal
    if text is None:
        return [word]
    if _OBJECT.search(text) and call.program.path[-1] in _SHOWS_OBJECTS:
        raise NotPlain("git shows an object by its number, which may be a file of any name")
    if only_revision or not looks_like_a_file(text):
        if not _REVISION.fullmatch(text) or (not only_revision and not text.strip(".")):
            return [word]
        found.path("read", ShellWord(text), call.folders)
        return []
    return [word]


# --- the effects of ripgrep and tar


def _rg(found: Found, step: Step) -> None:
    """Add the effects of ripgrep. It reads every file below its folders, except hidden files. It also reads hidden
    files that match a glob or a type in its options. With ``--files``, it prints only the names of the files.
    """
    call = parse(step)
    found.effect("read", call.program.says)
    hidden = call.has("-.", "--hidden", "-u", "-uu", "-uuu", "--unrestricted")
    found.options_of(call)
    paths = call.paths()
    if not paths and step.fed_by is not None:
        return
    how = "tree" if call.reads_trees() else "read"
    shown = hidden_names(call)
    for word in paths or [ShellWord(".")]:
        found.path(how, word, call.folders, shown=None if hidden else shown, guarded=call.guarded(word))


#: The letters of tar's options that take a value. tar's table has no other options with a value.
_TAR_VALUED = "fC"


def _tar(found: Found, step: Step) -> None:
    """Add the effects of ``tar tf A`` or ``tar -tf A``. Without the dash, the letters take the next words as their
    values.
    """
    first, rest = (step.words[1], list(step.words[2:])) if len(step.words) > 1 else (ShellWord("-"), [])
    if first.literal is None or not (first.literal.startswith("-") or first.literal.isalpha()):
        raise NotPlain("tar gets a first word that may be options")
    if not first.literal.startswith("-"):
        spread = []
        for letter in first.literal:
            spread.append(ShellWord(f"-{letter}"))
            if letter in _TAR_VALUED and rest:
                spread.append(rest.pop(0))
        step = replace(step, words=(step.words[0], *spread, *rest))
    found.apply(parse(step))


HANDLERS: Mapping[str, Handler] = {
    "cd": _cd,
    **dict.fromkeys(("test", "[", "[["), _test),
    "printf": _printf,
    "command": _command,
    **dict.fromkeys(("bash", "sh", "dash", "zsh"), _shell),
    **dict.fromkeys(("timeout", "nice", "time", "stdbuf"), _wrapper),
    "env": _env,
    "xargs": _xargs,
    "find": _find,
    "sed": _sed,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    "jq": _jq,
    "git": _git,
    "rg": _rg,
    "tar": _tar,
}
