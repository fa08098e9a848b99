"""Finds an option that a policy lists, such as ``-r`` in the entry ``rm -r``, anywhere in a command and in any
spelling.

A long option may be joined to its value (``--opt=x``) or abbreviated. Short options may be combined (``-rf``) or joined
to a value (``-ofile``). ``_SAME`` has the other spellings of an option (``-r``, ``--recursive``) from the manuals of
some programs. For any other program, a long option that begins with the letter of a short option may be the same
option, so the answer is UNSURE.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from hitl.policy.globs import is_pattern
from hitl.policy.shell.reading import Words, base_name
from hitl.policy.tables import names
from hitl.policy.three_valued import NO, UNSURE, YES

_LONG: Final = 3  # characters; the shortest long option is two dashes and a letter

#: Program -> its options. Each text has all spellings of one option.
_SAME: Final[dict[str, tuple[str, ...]]] = {
    "rm": ("-r -R --recursive", "-f --force", "-d --dir"),
    "cp": ("-r -R --recursive", "-f --force", "-a --archive", "-T --no-target-directory", "-t --target-directory"),
    "mv": ("-f --force", "-t --target-directory", "-T --no-target-directory", "-n --no-clobber"),
    "ln": ("-f --force", "-s --symbolic"),
    "chmod": ("-R --recursive",),
    "chown": ("-R --recursive", "-h --no-dereference"),
    "chgrp": ("-R --recursive",),
    "grep": ("-r --recursive", "-R --dereference-recursive", "-f --file"),
    "sed": ("-i --in-place", "-e --expression", "-f --file"),
    "sort": ("-o --output",),
    "git": (
        "-f --force", "-d --delete", "-n --no-verify --dry-run --no-commit", "-a --all", "-m --message", "-D",
        "-x", "-X", "-c --create --config", "-C", "-o --output", "-u --set-upstream", "-i --interactive",
    ),
    "docker": ("-v --volume", "-p --publish", "-e --env", "-u --user", "-d --detach", "-f --force --file", "-a --all",
               "-w --workdir", "-H --host", "-h --hostname", "-m --memory", "-i --interactive", "-t --tty --tag"),
    "podman": ("-v --volume", "-p --publish", "-e --env", "-u --user", "-d --detach", "-f --force --file", "-a --all",
               "-w --workdir", "-h --hostname", "-m --memory", "-i --interactive", "-t --tty --tag"),
    "kubectl": ("-n --namespace", "-f --filename", "-A --all-namespaces", "-l --selector", "-c --container",
                "-o --output", "-i --stdin", "-t --tty", "-k --kustomize", "-R --recursive", "-s --server"),
    "curl": ("-X --request", "-o --output", "-O --remote-name", "-d --data --data-ascii", "-T --upload-file",
             "-k --insecure", "-F --form", "-H --header", "-K --config", "-u --user", "-x --proxy", "-L --location",
             "-f --fail"),
    "wget": ("-O --output-document", "-o --output-file", "-P --directory-prefix", "-i --input-file"),
    "tar": ("-x --extract --get", "-c --create", "-f --file", "-C --directory", "-I --use-compress-program",
            "-P --absolute-names", "-r --append", "-u --update", "-t --list", "-z --gzip --gunzip --ungzip"),
    "rsync": ("-r --recursive", "-a --archive", "-e --rsh", "-n --dry-run", "-d --dirs"),
    "npm": ("-g --global", "-f --force", "-D --save-dev", "-w --workspace", "-y --yes"),
    "pip": ("-U --upgrade", "-r --requirement", "-e --editable", "-i --index-url", "-t --target", "-y --yes"),
    "apt": ("-y --yes --assume-yes", "-f --fix-broken", "-t --target-release"),
    "apt-get": ("-y --yes --assume-yes", "-f --fix-broken", "-t --target-release"),
    "sudo": ("-u --user", "-g --group", "-i --login", "-s --shell", "-E --preserve-env", "-e --edit", "-S --stdin"),
    "kill": ("-s --signal", "-l --list"),
    "ssh": (),
    "find": (),
    "terraform": (),
    "python": (),
    "python3": (),
    "node": ("-e --eval", "-p --print", "-r --require"),
}  # fmt: skip
#: Programs whose long options begin with one dash. For them, ``-abc`` is one option, not three.
_ONE_DASH = names(
    "find terraform java javac go gcc g++ clang openssl ffmpeg mvn php tofu packer vault consul nomad xcodebuild"
)


def option_in(words: Words, option: str, after: Sequence[str] = ()) -> int:
    """Return YES, NO or UNSURE: whether the command has ``option``, and the words ``after`` too.

    ``after`` are the words that follow the option in the policy's entry. The answer is UNSURE, for example, if a word
    of the command is known only when the command runs, may be an abbreviation, or follows ``--``.
    """
    program = base_name(words[0] or "")
    result, ended = NO, False
    for at, word in enumerate(words[1:], start=1):
        if word == "--":
            ended = True
            continue
        found = _spelt(program, word, option)
        if found and after:
            found = min(found, _value(words, at, option, after))
        if ended:
            found = min(found, UNSURE)
        result = max(result, found)
    if result != YES and _is_cluster(program, option) and len(option) > len("-r"):
        each = [option_in(words, f"-{letter}") for letter in option[1:]]
        value = _anywhere(words, after) if after else YES
        result = max(result, min(*each, value))
    return result


def _is_cluster(program: str, option: str) -> bool:
    return option[1:].isalpha() and program not in _ONE_DASH


def _spelt(program: str, word: str | None, option: str) -> int:
    """Return YES, NO or UNSURE: whether a word of a command is the option, in any spelling."""
    if word is None:
        return UNSURE
    if word[:1] != "-" or word == "-":
        return UNSURE if is_pattern(word[:1]) else NO
    if is_pattern(option):
        return YES if fnmatchcase(word, option) or fnmatchcase(word.partition("=")[0], option) else NO
    return max(_same(program, word, one) for one in _others(program, option))


@lru_cache(maxsize=1024)
def _others(program: str, option: str) -> tuple[str, ...]:
    """Return all spellings of an option: as written, with one or two dashes, and those in the program's manual."""
    found = [option]
    plain = option.lstrip("-")
    if len(plain) > 1 and not _is_cluster(program, option):
        found += [f"-{plain}", f"--{plain}"]
    for group in _SAME.get(program, ()):
        spellings = group.split()
        if option in spellings or f"--{plain}" in spellings:
            found += spellings
    return tuple(dict.fromkeys(found))


def _same(program: str, word: str, option: str) -> int:
    name, joined, _ = word.partition("=")
    if name == option:
        return YES
    if option.startswith("--"):
        return _abbreviated(program, name, option)
    letter = option[1:]
    if word.startswith("--"):
        guess = program not in _SAME and len(letter) == 1 and name[2:3].lower() == letter.lower()
        return UNSURE if guess else NO
    if len(letter) > 1 or program in _ONE_DASH:
        return NO
    if word[1:2] == letter:
        return YES
    flags = name[1:] if joined else word[1:]
    at = flags.find(letter)
    return NO if at < 0 else YES if flags[:at].isalpha() and len(flags) <= _CLUSTER else UNSURE


_CLUSTER: Final = 6  # letters; a longer word with one dash is probably an option with its value


def _abbreviated(program: str, name: str, option: str) -> int:
    """Return UNSURE if a word may be the long option ``option``, else NO.

    The word may be an abbreviation. If ``_SAME`` doesn't list the program, the word may also be the option's short
    form.
    """
    if name.startswith("--"):
        return UNSURE if len(name) >= _LONG and option.startswith(name) else NO
    guess = program not in _SAME and len(option) > _LONG and option[2] in name[1:].partition("=")[0]
    return UNSURE if guess and len(name) <= _CLUSTER and name[1:].isalpha() else NO


def _value(words: Words, at: int, option: str, after: Sequence[str]) -> int:
    """Return YES, NO or UNSURE: whether the command has the words ``after``, which follow the option in the policy's
    entry.

    The first of them may be joined to the option. The others may be anywhere in the command.
    """
    word = words[at] or ""
    joined = word.partition("=")[2] or word[len(option) :]
    first = after[0]
    if fnmatchcase(joined, first) or (first == "*" and len(after) == 1):
        return _anywhere(words, after[1:])
    return _anywhere(words, after)


def _anywhere(words: Words, wanted: Sequence[str]) -> int:
    result = YES
    for one in wanted:
        if one == "*":
            continue
        found = max((_word(word, one) for word in words[1:]), default=NO)
        result = min(result, found)
    return result


def _word(word: str | None, wanted: str) -> int:
    if word is None or is_pattern(word):
        return UNSURE
    return YES if fnmatchcase(word, wanted) else NO
