"""Finds out who could switch off an installed hook: who can change its settings, its Python or its packages.

A user can change a file that they may write or own, and a file in a folder where they may put another file in its
place. So every folder and every link on the way to a file is checked. The rights come from mode bits. Access control
lists are checked only for the user who runs this check.
"""

from __future__ import annotations

import itertools
import json
import os
import stat
import subprocess
from pathlib import Path

from sayso_client.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: At most this many links are followed on the way to a file, as in the kernel.
_MOST_LINKS = 40
#: The largest number of paths in one sentence.
_NAMED = 3
#: A program that prints the files and folders from which a hook's Python loads code: first the package of the hook.
_LOADED = """
import json, os, sys
import sayso_client
own = os.path.dirname(os.path.abspath(sayso_client.__file__))
print(json.dumps([own, sys.executable, os.path.join(sys.prefix, "pyvenv.cfg"), *sys.path]))
"""


def weak_points(hook: Sequence[str], files: Iterable[Path], users: Iterable[int], way: str) -> list[tuple[str, str]]:
    """Return a state and a sentence for each user, and for everybody, who could switch off the hook.

    - `hook` is the hook's command. The files that it names are checked too.
    - `files` are the files that install the hook.
    - `users` are the ids of the users as whom agents run.
    - `way` is the sentence that says how to keep these users out.

    The state is `red` if the service runs as another user, because the hook is then the weak point. It is `yellow` if
    the service runs as the agent's own user, or on another machine: such an agent could change more than the hook.
    Anybody else who can change something is `red`.
    """
    at = hook.index("-I") if "-I" in hook else len(hook)
    python = hook[at - 1] if hook else ""
    options = dict(itertools.pairwise(hook[at:]))
    named = [*hook[: at - 1], options.get("--token-file", ""), options.get("--ca-file", "")]
    paths = [*files, *(Path(word) for word in named if word.startswith("/")), *_code(python)]
    walks = [[*_steps(path)] for path in paths]
    found: list[tuple[str, str]] = []
    if anybody := _changeable(walks, None):
        found.append(("red", say("hook.open.anybody", paths=_told(anybody))))
    service = _service(hook)
    for user in sorted(set(users)):
        if opened := _changeable(walks, user) - anybody:
            key = "hook.open" if service in {None, user} else "hook.open.apart"
            state = "yellow" if service in {None, user} else "red"
            found.append((state, f"{say(key, user=_name(user), paths=_told(opened))} {way}"))
    return found


def _service(hook: Sequence[str]) -> int | None:
    """Return the user id of the service that the hook asks, or None for a service at a URL."""
    uid = dict(itertools.pairwise(hook)).get("--uid", "")
    return int(uid) if uid.isdecimal() else None


def _code(python: str) -> Iterator[Path]:
    """Yield the files and folders whose content the hook's Python runs. Yield nothing if this Python doesn't work."""
    try:
        words = [python, "-I", "-c", _LOADED]
        ran = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True)  # noqa: S603 - the hook's own command
        package, *loaded = map(Path, json.loads(ran.stdout))
    except (OSError, ValueError, subprocess.SubprocessError):
        return  # Another check runs the hook itself, and reports that its Python doesn't work.
    yield from package.rglob("*")
    for path in (Path(python), package, *loaded):
        if path.exists():
            yield path
            yield from path.iterdir() if path.is_dir() else ()


def _changeable(walks: Sequence[Sequence[Path]], user: int | None) -> set[Path]:
    """Return the files and folders by which the user can change the last path of a walk.

    A walk is the list of files, folders and links on the way to its last path (`_steps`). If that path is a folder,
    everything below it is included. If `user` is None, the result is for every user of the machine.
    """
    # Most walks lead through the same folders, so each step is examined only once.
    found = {step.parent for step in {step for walk in walks for step in walk} if _replaceable(step, user)}
    ends = {walk[-1] for walk in walks if walk}
    found |= {end for end in ends if not end.is_symlink() and _may_write(end, user)}
    return {path for path in found if found.isdisjoint(path.parents)}


def _replaceable(step: Path, user: int | None) -> bool:
    """Return whether the user could put another file in the place of this one."""
    folder = step.parent
    kept_by_sticky_bit = _mode(folder) & stat.S_ISVTX and user not in {_owner(folder), _owner(step)}
    return _may_write(folder, user) and not kept_by_sticky_bit


def _steps(path: Path) -> Iterator[Path]:
    """Yield each file, folder and link on the way to the path, from the root on."""
    here, left, links = Path("/"), list(reversed(path.absolute().parts[1:])), 0
    while left:
        step = here / left.pop()
        if step.name == "..":
            here = here.parent
            continue
        yield step
        if not step.is_symlink():
            here = step
        elif (links := links + 1) <= _MOST_LINKS:
            target = step.readlink()
            here = Path("/") if target.is_absolute() else here
            left += reversed(target.parts[1:] if target.is_absolute() else target.parts)


def _may_write(path: Path, user: int | None) -> bool:
    """Return whether the user may write the file or folder, or may give themselves this right (its owner, and root)."""
    mode = _mode(path)
    if user is None:
        return bool(mode & stat.S_IWOTH)
    if user in {0, _owner(path)} or mode & stat.S_IWOTH:
        return True
    in_group = mode & stat.S_IWGRP and path.lstat().st_gid in _groups(user)
    return bool(in_group) or (user == os.geteuid() and os.access(path, os.W_OK))


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _owner(path: Path) -> int | None:
    try:
        return path.lstat().st_uid
    except OSError:
        return None


def _groups(user: int) -> list[int]:
    import pwd

    try:
        known = pwd.getpwuid(user)
    except KeyError:
        return []
    return os.getgrouplist(known.pw_name, known.pw_gid)


def _name(user: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def _told(paths: set[Path]) -> str:
    named = [str(path) for path in sorted(paths)]
    return ", ".join([*named[:_NAMED], *([say("hook.open.more", count=len(named) - _NAMED)] if named[_NAMED:] else [])])
