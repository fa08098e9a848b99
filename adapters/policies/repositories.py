"""Finds the git repository that a command would use, and whether the repository's files could make git run a program.

Git runs programs that a repository's configuration names. Even `git status` may start a file system monitor, a filter
for each file, and a hook, also in every submodule. A policy may allow `git status`, which only reads, without asking
anyone. A user who can write one file of the repository could therefore make that command run any program.

This module finds and reads the same files as git, and never runs git. The module has a list of harmless keys. If a
repository has any other key, also a key that a later version of git adds, the repository counts as armed (able to make
git run a program).

The search follows gitrepository-layout(5), gitsubmodules(7) and git's setup.c. In some cases, git's own test of a
repository is stricter. Then the folder counts as armed, because git might use another repository.
"""

from __future__ import annotations

# Paths are strings here: a Path would drop the dots of `link/..`, and takes ten times as long.
# ruff: noqa: PTH118, PTH119, PTH120, PTH123
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from adapters.policies.gitconfig import Setting, Unreadable, settings
from hitl.cards.text import one_line
from hitl.ports import Repository

#: A configuration file has at most this many bytes. A usual configuration file has a few hundred bytes.
_MOST_CONFIG = 256 * 1024
_MOST_INDEX = 32 * 1024 * 1024
_MOST_POINTER = 4096
_MOST_SUBMODULES = 100
_SHOWN = 100
# The content of a valid HEAD file: validate_headref() in git's path.c.
_HEAD = re.compile(rb"ref:[ \t\r\n]*refs/|[0-9a-f]{40}")
# The hooks that git may run for a command that changes nothing except perhaps the index: githooks(5).
_HOOKS = ("post-index-change", "reference-transaction", "pre-auto-gc")
# The mode of an index entry for a submodule: 160000 in octal (gitformat-index(5)).
_GITLINK = b"\x00\x00\xe0\x00"
_HEADER, _ALIGNED, _MODE_AT, _FLAGS_AT, _NAME_AT = 12, 8, 24, 60, 62
_WHOLE_NAMES = frozenset({2, 3})
_EXTENDED = 0x4000

_HARMLESS_SECTIONS = frozenset({"advice", "color", "column"})
# `*` is any subsection. Each of these keys is plain data: no value of such a key makes git run a program or read
# another file.
_HARMLESS = frozenset(
    """
    branch.*.description branch.*.gh-merge-base branch.*.github-pr-owner-number branch.*.merge branch.*.pushremote
    branch.*.rebase branch.*.remote branch.*.vscode-merge-base branch.autosetupmerge branch.autosetuprebase branch.sort
    checkout.defaultremote checkout.guess commit.cleanup commit.status commit.verbose
    core.abbrev core.autocrlf core.bare core.bigfilethreshold core.checkstat core.commentchar core.commitgraph
    core.compression core.eol core.filemode core.fscache core.hidedotfiles core.ignorecase core.ignorestat
    core.logallrefupdates core.longpaths core.loosecompression core.multipackindex core.precomposeunicode
    core.prefersymlinkrefs core.preloadindex core.protecthfs core.protectntfs core.quotepath
    core.repositoryformatversion core.safecrlf core.sharedrepository core.sparsecheckout core.sparsecheckoutcone
    core.splitindex core.symlinks core.trustctime core.untrackedcache core.whitespace
    diff.algorithm diff.colormoved diff.colormovedws diff.context diff.indentheuristic diff.interhunkcontext
    diff.mnemonicprefix diff.noprefix diff.renamelimit diff.renames diff.statgraphwidth diff.wserrorhighlight
    extensions.noop extensions.objectformat extensions.preciousobjects extensions.refstorage
    extensions.relativeworktrees extensions.worktreeconfig
    feature.manyfiles fetch.prune fetch.prunetags
    gc.auto gc.autodetach gc.autopacklimit grep.column grep.extendedregexp grep.linenumber grep.patterntype
    gui.geometry gui.wmstate i18n.commitencoding i18n.logoutputencoding index.sparse index.threads index.version
    init.defaultbranch lfs.repositoryformatversion
    log.abbrevcommit log.date log.decorate log.follow log.mailmap
    maintenance.auto maintenance.strategy merge.conflictstyle merge.ff merge.renamelimit merge.renames merge.stat
    pull.ff pull.rebase push.autosetupremote push.default push.followtags
    rebase.autosquash rebase.autostash rebase.updaterefs
    remote.*.fetch remote.*.gh-resolved remote.*.mirror remote.*.prune remote.*.prunetags remote.*.push
    remote.*.pushurl remote.*.skipdefaultupdate remote.*.skipfetchall remote.*.tagopt remote.*.url
    remote.pushdefault rerere.autoupdate rerere.enabled
    stash.showpatch stash.showstat status.aheadbehind status.branch status.displaycommentprefix status.relativepaths
    status.renames status.short status.showstash status.showuntrackedfiles
    submodule.*.active submodule.*.branch submodule.*.ignore submodule.*.url submodule.active
    tag.sort user.email user.name user.useconfigonly versionsort.suffix
    """.split()  # noqa: SIM905 - a long list of words is easiest to read and sort as text
)


#: The keys that name the order of branches and tags. Git runs gpg to sort by signatures (git-for-each-ref(1)).
_SORTING = frozenset({"branch.sort", "tag.sort"})


class _Armed(Exception):
    """The repository could make git run a program or read files elsewhere. The argument names the first reason."""


#: The user name, with or without a password, before the host of a URL (RFC 3986, section 3.2.1).
_SOMEBODY = re.compile(r"://[^/\s]*@")


@dataclass(frozen=True, slots=True)
class _Place:
    """The folders in which git finds a repository's files."""

    #: The folder with the working files.
    root: str
    #: The folder with git's files for this worktree.
    own: str
    #: The folder with git's files that all worktrees share. Equal to `own` if there is only one worktree.
    common: str


def repository(path: str) -> Repository | None:
    """Return the repository that git would use in this folder, or None without a repository.

    Implements `hitl.ports.Paths.repository`.
    """
    try:
        at = os.path.realpath(path)
    except (OSError, ValueError):
        return Repository(path, "the path")
    while True:
        try:
            found = _found(at)
            if found is not None:
                return Repository(at, None, secret=_names_somebody(found, _examine(found)))
        except _Armed as finding:
            return Repository(at, one_line(str(finding), _SHOWN))
        except (OSError, ValueError):
            return Repository(at, ".git can't be read")
        if at == "/":
            return None
        at = os.path.dirname(at)


def _found(at: str) -> _Place | None:
    """Return the repository whose root is this folder, or None. Raises _Armed if git might use another repository."""
    entry = f"{at}/.git"
    status = _status(entry)
    if status is not None:
        if stat.S_ISLNK(status.st_mode):
            raise _Armed(".git is a link")
        if not stat.S_ISDIR(status.st_mode):
            return _pointed(at, entry)
        if _like_repository(entry):
            return _Place(at, entry, _common(entry))
    if _like_repository(at):
        raise _Armed("a bare repository")
    return None


def _like_repository(folder: str) -> bool:
    """Return whether git might accept the folder as a repository. This test accepts more folders than git does."""
    held = {name for name in ("HEAD", "objects", "refs", "commondir") if _there(f"{folder}/{name}")}
    return "HEAD" in held and ({"objects", "refs"} <= held or "commondir" in held)


def _pointed(root: str, entry: str) -> _Place:
    """Return the repository that a `.git` file names: a linked worktree's or a submodule's.

    Raises _Armed if that repository doesn't name this folder in return.
    """
    _refuse_others(entry)
    text = os.fsdecode(_content(entry, ".git", _MOST_POINTER))
    if not text.startswith("gitdir: "):
        raise _Armed(".git is no folder")
    own = os.path.realpath(os.path.join(root, text.removeprefix("gitdir: ").rstrip("\r\n")))
    if not _like_repository(own):
        raise _Armed(".git leads to no repository")
    common = _common(own)
    if not (_is_worktree(entry, own, common) or _is_submodule(root, own)):
        raise _Armed(".git leads elsewhere")
    return _Place(root, own, common)


def _common(own: str) -> str:
    pointer = f"{own}/commondir"
    if not _there(pointer):
        return own
    text = os.fsdecode(_content(pointer, "commondir", _MOST_POINTER)).rstrip("\r\n")
    common = os.path.realpath(os.path.join(own, text))
    if os.path.realpath(own) != f"{common}/worktrees/{os.path.basename(own)}":
        raise _Armed("commondir")
    return common


def _is_worktree(entry: str, own: str, common: str) -> bool:
    """Return whether the repository lists this linked worktree: gitrepository-layout(5), `worktrees/<id>`."""
    if common == own or not _there(f"{own}/gitdir"):
        return False
    text = os.fsdecode(_content(f"{own}/gitdir", "gitdir", _MOST_POINTER)).rstrip("\r\n")
    return os.path.realpath(os.path.join(own, text)) == os.path.realpath(entry)


def _is_submodule(root: str, own: str) -> bool:
    """Return whether this is a submodule whose files are in the `.git/modules` of a repository in a parent folder."""
    if not any(setting.key == "core.worktree" for setting in _settings(f"{own}/config", "config")):
        return False
    above = os.path.dirname(root)
    while above != "/":
        if own.startswith(f"{above}/.git/modules/"):
            return True
        above = os.path.dirname(above)
    return False


def _examine(place: _Place, seen: list[str] | None = None) -> Sequence[Setting]:
    """Return the settings of a repository, or raise _Armed.

    _Armed names the first setting or file that could make git run a program or read outside the repository. The same
    check applies to every submodule; `seen` holds the roots that were already examined.
    """
    seen = [] if seen is None else seen
    seen.append(place.root)
    for folder in (place.root, place.own, place.common):
        _refuse_others(folder)
    _examine_layout(place)
    found = []
    for setting in _all_settings(place):
        if not _harmless(setting, place):
            raise _Armed(setting.key)
        found.append(setting)
    for name in _HOOKS:
        if _there(f"{place.common}/hooks/{name}") or _there(f"{place.own}/hooks/{name}"):
            raise _Armed(f"hooks/{name}")
    for name in _submodules(place):
        _examine_submodule(place, name, seen)
    return found


def _all_settings(place: _Place) -> Iterator[Setting]:
    for path in dict.fromkeys((f"{place.common}/config", f"{place.own}/config", f"{place.own}/config.worktree")):
        yield from _settings(path, os.path.basename(path))


def _names_somebody(place: _Place, configured: Sequence[Setting]) -> bool:
    """Return whether a remote's URL may hold a user name or a password.

    Also return True if git's older `remotes` or `branches` folder has files, because the URLs in them aren't read.
    """
    for name in ("remotes", "branches"):
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(f"{place.common}/{name}") as entries:
            if any(entries):
                return True
    return any(_SOMEBODY.search(setting.value or "") for setting in configured if setting.section == "remote")


def _examine_layout(place: _Place) -> None:
    """Raise _Armed for objects borrowed from another repository, and for a layout that git itself might refuse."""
    status = _status(f"{place.own}/HEAD")
    if status is None or not stat.S_ISREG(status.st_mode) or not _HEAD.match(_head(place.own)):
        raise _Armed("HEAD")
    for name in ("objects", "refs"):
        status = _status(f"{place.common}/{name}")
        if status is None or not stat.S_ISDIR(status.st_mode) or not os.access(f"{place.common}/{name}", os.X_OK):
            raise _Armed(name)
    for name in ("objects/info", "objects/pack"):
        status = _status(f"{place.common}/{name}")
        if status is not None and not stat.S_ISDIR(status.st_mode):
            raise _Armed(name)
    if _there(f"{place.common}/objects/info/alternates"):
        raise _Armed("objects/info/alternates")


def _head(own: str) -> bytes:
    with suppress(OSError), open(f"{own}/HEAD", "rb") as file:
        return file.read(_SHOWN)
    return b""


def _harmless(setting: Setting, place: _Place) -> bool:
    if setting.key == "core.worktree":
        leads = os.path.realpath(os.path.join(place.own, setting.value or ""))
        return setting.value is not None and leads == place.root
    if setting.section in _HARMLESS_SECTIONS:
        return True
    if setting.key in _SORTING and "signature" in (setting.value or ""):
        return False
    general = setting.key if setting.subsection is None else f"{setting.section}.*.{setting.name}"
    return general in _HARMLESS


def _settings(path: str, shown: str) -> Iterator[Setting]:
    if not _there(path):
        return
    _refuse_others(path)
    try:
        yield from settings(_content(path, shown, _MOST_CONFIG))
    except Unreadable:
        raise _Armed(f"{shown} can't be parsed") from None


def _submodules(place: _Place) -> Iterator[str]:
    """Yield the paths of the submodules in the index. `git status` also runs git in each submodule that exists."""
    for path in (f"{place.own}/index", *_shared_indexes(place)):
        status = _status(path)
        if status is None or not status.st_size:
            continue
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_INDEX:
            raise _Armed("index")
        with open(path, "rb") as file:
            yield from _gitlinks(file.read(_MOST_INDEX))


def _shared_indexes(place: _Place) -> list[str]:
    """Return the files that may hold further index entries: gitrepository-layout(5), `sharedindex.<SHA-1>`."""
    with suppress(FileNotFoundError), os.scandir(place.own) as entries:
        return [entry.path for entry in entries if entry.name.startswith("sharedindex.")]
    return []


def _gitlinks(index: bytes) -> Iterator[str]:
    """Yield the names of the submodule entries of an index.

    An index may be long, so this searches for the bytes of a submodule's mode instead of reading every entry. Entries
    of versions 2 and 3 begin at multiples of 8 bytes after the header of 12 bytes. Version 4 shortens names, so the
    name of a submodule can't be read there. Raises _Armed for a submodule in such an index.
    """
    version = int.from_bytes(index[4:8], "big")
    at = index.find(_GITLINK, _HEADER)
    while at >= 0:
        entry = at - _MODE_AT
        if version not in _WHOLE_NAMES:
            raise _Armed(f"a submodule in an index of version {version}")
        if entry >= _HEADER and (entry - _HEADER) % _ALIGNED == 0:
            start = _name_start(index, entry)
            yield os.fsdecode(index[start : max(index.find(b"\0", start), start)])
        at = index.find(_GITLINK, at + 1)


def _name_start(index: bytes, entry: int) -> int:
    """Return the position of the name of an index entry."""
    flags = int.from_bytes(index[entry + _FLAGS_AT : entry + _NAME_AT], "big")
    return entry + _NAME_AT + (2 if flags & _EXTENDED else 0)


def tracked(path: str, most: int) -> tuple[str, ...] | None:
    """Return the paths in the index of this folder's repository, or None if the index can't be read.

    Implements `hitl.ports.Paths.tracked`: without a repository or an index, the result is empty.
    """
    try:
        at = os.path.realpath(path)
        while (place := _found(at)) is None:
            if at == "/":
                return ()
            at = os.path.dirname(at)
        if _shared_indexes(place):
            return None
        if not _there(f"{place.own}/index"):
            return ()
        return _names(_content(f"{place.own}/index", "index", _MOST_INDEX), most)
    except (_Armed, OSError, ValueError):
        return None


def _names(index: bytes, most: int) -> tuple[str, ...] | None:
    """Return the names in an index of version 2 or 3 (gitformat-index(5)), or None.

    None also means that the index is broken or has more than `most` entries.
    """
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    if index[:4] != b"DIRC" or version not in _WHOLE_NAMES or count > most:
        return None
    found: list[str] = []
    entry = _HEADER
    for _ in range(count):
        start = _name_start(index, entry)
        end = index.find(b"\0", start)
        if end < 0:
            return None
        found.append(os.fsdecode(index[start:end]))
        entry += (end - entry) // _ALIGNED * _ALIGNED + _ALIGNED
    return tuple(found)


def _examine_submodule(place: _Place, name: str, seen: list[str]) -> None:
    root = os.path.realpath(os.path.join(place.root, name))
    if not name or not _there(f"{root}/.git") or root in seen:
        return
    if len(seen) > _MOST_SUBMODULES:
        raise _Armed("too many submodules")
    try:
        found = _found(root)
        if found is not None:
            _examine(found, seen)
    except _Armed as finding:
        raise _Armed(f"submodule {name}: {finding}") from None


def _content(path: str, shown: str, most: int) -> bytes:
    """Return the bytes of a regular file of at most `most` bytes.

    Raises _Armed, which names the file as `shown`, if the file is missing, a link or longer.
    """
    status = _status(path)
    if status is None or not stat.S_ISREG(status.st_mode):
        raise _Armed(f"{shown} is no file")
    with open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise _Armed(f"{shown} is too long")
    return data


def _refuse_others(path: str) -> None:
    """Raise _Armed for a file or folder of another user, as git does (safe.directory in git-config(1))."""
    status = os.lstat(path)
    if status.st_uid != os.geteuid():
        raise _Armed(f"{os.path.basename(path)} belongs to another user (uid {status.st_uid})")


def _there(path: str) -> bool:
    """Return whether a file, folder or link has this name.

    Raises OSError if this process isn't permitted to find out. The user who runs git may be permitted.
    """
    return _status(path) is not None


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
