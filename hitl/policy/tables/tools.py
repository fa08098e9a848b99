"""The table of tools: the kind and the arguments of the tools of coding agents and of well-known MCP servers.

The data are in ``tools.ini`` beside this module. The head of a section is a kind of tool, and then the host or server:

    [read Claude Code]
    names = Read NotebookRead       names of the tools
    reads = file_path               arguments that name a file or folder to read
    harmless = offset limit         arguments that can do no harm with any value
    servers = filesystem            only for MCP servers: the names that people give to this server

``writes``, ``command``, ``folder`` (the working folder of a command), ``url`` and ``content`` (text that is written or
sent) list arguments as ``reads`` does. An argument in ``off`` is harmless only if it is false, null or absent. An
argument that no key lists is unknown. ``tree = yes``: the tool shows the contents of every file below the folders that
it reads. ``tree_with`` lists arguments: a call with one of them shows these contents.

Several hosts have tools of the same name, and a call doesn't say which host made it. So their sections are joined, and
the stricter meaning of an argument counts: a role before ``off``, and ``off`` before ``harmless``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from configparser import SectionProxy
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from hitl.policy.tables import ini

KINDS: Final = (
    "command", "read", "list", "search", "write", "edit", "move", "copy", "delete", "mkdir", "fetch", "web_search",
    "note", "get",
)  # fmt: skip
ROLES: Final = ("reads", "writes", "command", "folder", "url", "content")
_KEYS: Final = frozenset((*ROLES, "names", "servers", "harmless", "off", "tree", "tree_with"))

#: The forms in which hosts name the tool of an MCP server: Claude Code and Codex, Gemini CLI, OpenCode, Copilot (two).
_JOINED: Final = ("mcp__{}__{}", "mcp_{}_{}", "{}_{}", "{}-{}", "{}/{}")


@dataclass(frozen=True, slots=True)
class Shape:
    """The entry of a tool: its kind (one of KINDS), and its arguments by role."""

    kind: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    folder: tuple[str, ...] = ()
    url: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    #: Arguments that can do no harm with any value.
    harmless: frozenset[str] = frozenset()
    #: Arguments that can do no harm if they are false, null or absent.
    off: frozenset[str] = frozenset()
    #: Whether the tool shows the contents of every file below the folders that it reads.
    tree: bool = False
    #: If `tree` is false: the arguments with which the tool shows the contents of every file below the folders.
    tree_with: frozenset[str] = frozenset()

    def shows_trees(self, args: Iterable[str]) -> bool:
        """Return whether a call with these arguments shows the contents of all files in the folders that it reads."""
        return self.tree or not self.tree_with.isdisjoint(args)

    def named(self) -> frozenset[str]:
        """Return the names of all arguments with a role. A rule that allows the tool must look at these arguments."""
        return frozenset(name for role in ROLES for name in getattr(self, role))


@lru_cache(maxsize=4096)
def shape(tools: str, tool: str) -> Shape | None:
    """Return the entry of a tool in the table, or None for an unknown tool.

    `tools` is the call's tool group. If the group is an MCP server of the table, only the tools of that server are
    found. In any other group, two kinds of names are found: the tools of hosts, and the tools of MCP servers if their
    name includes the server (``mcp__time__...``).
    """
    known = shapes()
    return known.get((tools.removeprefix("mcp__") if is_server(tools) else "", tool))


def is_server(tools: str) -> bool:
    """Return whether a tool group is an MCP server that the table knows."""
    return tools.removeprefix("mcp__") in _servers()


@cache
def _servers() -> frozenset[str]:
    return frozenset(server for server, _ in shapes() if server)


@cache
def shapes() -> Mapping[tuple[str, str], Shape]:
    """Return the entry of each tool in the table: (server, or '' for hosts; name of the tool) -> entry.

    Raises ValueError for a mistake in the data file.
    """
    return parse(files("hitl.policy.tables").joinpath("tools.ini").read_text(encoding="utf-8"))


def parse(text: str) -> Mapping[tuple[str, str], Shape]:
    """Return the entries in the text of a data file: (server, or '' for hosts; name of the tool) -> entry.

    Raises ValueError for an unknown kind or key, and for a tool that has two kinds.
    """
    parser = ini.read(text, _KEYS)
    found: dict[tuple[str, str], Shape] = {}
    for title in parser.sections():
        one = _shape(title, parser[title])
        for key in _places(parser[title]):
            found[key] = _join(found[key], one, title) if key in found else one
    return found


def _shape(title: str, keys: SectionProxy) -> Shape:
    kind = title.split(maxsplit=1)[0]
    if kind not in KINDS:
        raise ValueError(f"[{title}] begins with {kind!r}, which is none of {', '.join(KINDS)}")
    roles = {role: tuple(keys.get(role, "").split()) for role in ROLES}
    harmless, off, tree_with = (frozenset(keys.get(key, "").split()) for key in ("harmless", "off", "tree_with"))
    tree = keys.get("tree") == "yes"
    return _strict(Shape(kind, harmless=harmless, off=off, tree=tree, tree_with=tree_with, **roles))


def _places(keys: SectionProxy) -> Iterator[tuple[str, str]]:
    names, servers = keys.get("names", "").split(), keys.get("servers", "").split()
    for name in names:
        if not servers:
            yield "", name
        for server in servers:
            yield server, name
            for form in _JOINED:
                yield server, form.format(server, name)
                yield "", form.format(server, name)


def _join(one: Shape, other: Shape, title: str) -> Shape:
    if one.kind != other.kind:
        raise ValueError(f"[{title}] names a tool that is {one.kind!r} in another section")
    roles = {role: tuple(dict.fromkeys((*getattr(one, role), *getattr(other, role)))) for role in ROLES}
    harmless, off = one.harmless | other.harmless, one.off | other.off
    tree, tree_with = one.tree or other.tree, one.tree_with | other.tree_with
    return _strict(Shape(one.kind, harmless=harmless, off=off, tree=tree, tree_with=tree_with, **roles))


def _strict(one: Shape) -> Shape:
    """Return the entry with each argument in only one field: in its roles, else in ``off``, else in ``harmless``."""
    named = one.named()
    off = one.off - named
    return Shape(
        one.kind, one.reads, one.writes, one.command, one.folder, one.url, one.content,
        harmless=one.harmless - named - off, off=off, tree=one.tree, tree_with=one.tree_with,
    )  # fmt: skip
