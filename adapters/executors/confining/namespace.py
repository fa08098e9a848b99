"""Confinement in namespaces that the keeper makes itself. Used if bubblewrap isn't installed and the kernel allows it.

The command has the same view as under bubblewrap. It sees the system's programs read-only, the workspace, and its own
`/tmp`, `/dev` and `/proc`. It sees no other process, and no network except its own loopback. This kind of confinement
needs Linux 5.12 (mount_setattr).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import stat
import struct
from typing import TYPE_CHECKING, NoReturn

from adapters.executors.confining import seccomp, system

if TYPE_CHECKING:
    from adapters.executors.confining.plan import Plan

# Flags of unshare(2) for new namespaces (linux/sched.h): mounts, control groups, host name, IPC, users, processes,
# network.
_NEW = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
# Flags of mounts, from linux/mount.h.
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE, _DETACH = 2, 4, 8, 4096, 16384, 1 << 18, 2
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV, _RECURSIVE = 0x1, 0x2, 0x4, 0x8000
_AT_FDCWD = -100
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR = 442
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}
# Requests and a flag for network interfaces, from linux/if.h and linux/sockios.h.
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1
#: A folder that every host has. The new root is mounted there, and only this mount namespace sees it.
_BUILD = "/tmp"  # noqa: S108 - the mount covers the folder before it is used


def enter(plan: Plan, command: list[str], _channel: object = None) -> list[str]:
    """Fork twice, confine the grandchild of the calling process, and return the command there.

    The calling process waits for its child, which is the first process of the new namespace. The child waits for the
    grandchild, which the caller turns into the command. So only the grandchild returns from this function.
    """
    uid, gid = os.getuid(), os.getgid()
    system.unshare(_NEW)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")
    if first := os.fork():
        _wait_for(first)
    system.prctl(system.PDEATHSIG, signal.SIGKILL)
    _build(plan)
    _loopback()
    # When the first process of the namespace ends, the kernel kills all other processes in it.
    if second := os.fork():
        _wait_for(second)
    with contextlib.suppress(OSError):
        _write("/proc/sys/user/max_user_namespaces", "0")
    system.no_privileges()
    seccomp.load(seccomp.inside())
    return command


def _write(path: str, text: str) -> None:
    with open(path, "wb", 0) as file:
        file.write(text.encode())


def _wait_for(child: int) -> NoReturn:
    """Wait for the child, and exit with its status. Until then, reap orphaned processes."""
    system.rename(system.AROUND)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        ended, status = os.wait()
        if ended == child:
            os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


def _build(plan: Plan) -> None:
    """Build the root file system that the command sees, and leave the old root."""
    system.mount("none", "/", None, _REC | _PRIVATE)
    system.mount("tmpfs", _BUILD, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=1m")
    os.mkdir(f"{_BUILD}/new")
    os.mkdir(f"{_BUILD}/old")
    _pivot(_BUILD, f"{_BUILD}/old")
    os.chdir("/")
    # pivot_root accepts only a mount as the new root.
    system.mount("tmpfs", "/new", "tmpfs", _NOSUID | _NODEV, "mode=0755,size=1m")
    for place in ("proc", "tmp"):
        os.mkdir(f"/new/{place}")
    system.mount("proc", "/new/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    system.mount("tmpfs", "/new/tmp", "tmpfs", _NOSUID | _NODEV, f"mode=1777,size={plan.bounds.file}")
    _own_devices(plan)
    for path in plan.reads:
        _show(path)
    _bind(f"/old{plan.root}", f"/new{plan.root}", read_only=False)
    for copy, path in plan.frozen:
        _bind(f"/old{copy}", f"/new{path}", read_only=True)
    os.chdir("/new")
    _pivot(".", ".")
    system.unmount(".", _DETACH)
    _change_mount("/", _ATTR_RDONLY, recursive=False)
    os.chdir(plan.root)


def _show(path: str) -> None:
    """Show a path of the old root read-only in the new root. Do nothing if the path doesn't exist.

    If the path is a link, make a link with the same target in the new root.
    """
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISLNK(os.lstat(f"/old{path}").st_mode):
            os.makedirs(os.path.dirname(f"/new{path}"), exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.symlink(os.readlink(f"/old{path}"), f"/new{path}")
        else:
            _bind(f"/old{path}", f"/new{path}", read_only=True)


def _bind(source: str, target: str, *, read_only: bool) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))
    system.mount(source, target, None, _BIND | _REC)
    _change_mount(target, _ATTR_NOSUID | _ATTR_NODEV | (_ATTR_RDONLY if read_only else 0))


def _own_devices(plan: Plan) -> None:
    os.makedirs("/new/dev/pts")
    os.makedirs("/new/dev/shm")
    for name in _DEVICES:
        os.close(os.open(f"/new/dev/{name}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))
        system.mount(f"/old/dev/{name}", f"/new/dev/{name}", None, _BIND)
    for name, target in _LINKS.items():
        os.symlink(target, f"/new/dev/{name}")
    system.mount("devpts", "/new/dev/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
    options = f"mode=1777,size={plan.bounds.file}"
    system.mount("tmpfs", "/new/dev/shm", "tmpfs", _NOSUID | _NODEV | _NOEXEC, options)


def _pivot(new: str, old: str) -> None:
    system.call(_PIVOT_ROOT[os.uname().machine], os.fsencode(new), os.fsencode(old))


def _change_mount(target: str, attributes: int, *, recursive: bool = True) -> None:
    """Add attributes to a mount.

    The mount keeps its other attributes. A remount would remove some of them, which the kernel doesn't let users do.
    """
    how = struct.pack("QQQQ", attributes, 0, 0, 0)
    flags = _RECURSIVE if recursive else 0
    system.call(_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(target), flags, how, len(how))


def _loopback() -> None:
    """Bring up the namespace's own loopback, so that the command's processes can talk to each other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH22x", b"lo", 0)
        flags = struct.unpack("16sH22x", fcntl.ioctl(any_socket, _GET_FLAGS, request))[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH22x", b"lo", flags | _UP))
