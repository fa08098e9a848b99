"""Patterns of file names that git and ripgrep expand themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hitl.policy.globs import names_in
from hitl.policy.shell.arguments import ParsedArguments
from hitl.policy.shell.plain_words import ShellWord

_EXPANDED = re.compile(r"[*?\[\\]")
#: A name's end without wildcards behind one star.
_ENDING = re.compile(r"\*[^*?\[\\]*")


def pathspec(text: str) -> tuple[ShellWord, tuple[str, ...]]:
    """Return the folder whose files a pattern of git may match, and the limit of their names, if there is one.

    A wildcard of git also matches slashes, so only the end of the pattern limits the names.
    """
    if not _EXPANDED.search(text):
        return ShellWord(text), ()
    folder, end = _EXPANDED.split(text, maxsplit=1)[0].rpartition("/")[0], text.rpartition("/")[2]
    only = (end,) if _ENDING.fullmatch(end) else ()
    return ShellWord(folder or ("/" if text.startswith("/") else ".")), only


#: The types of ripgrep that no name of a hidden file belongs to, with the endings of their names.
_TYPES: Mapping[str, tuple[str, ...]] = {
    "c": ("*.c", "*.h", "*.h.in", "*.cats"), "cpp": ("*.c*", "*.h*", "*.inl", "*.in"), "cs": ("*.cs",),
    "css": ("*.css", "*.scss"), "csv": ("*.csv",), "go": ("*.go",), "graphql": ("*.graphql", "*.graphqls"),
    "html": ("*.htm*", "*.ejs"), "java": ("*.java", "*.jsp*", "*.properties"),
    "js": ("*.js", "*.jsx", "*.mjs", "*.cjs", "*.vue"), "json": ("*.json", "*.sarif", "composer.lock"),
    "kotlin": ("*.kt", "*.kts"), "markdown": ("*.m*",), "md": ("*.m*",), "php": ("*.ph*",),
    "py": ("*.py", "*.pyi"), "rust": ("*.rs",), "scala": ("*.scala", "*.sbt"), "sql": ("*.sql", "*.psql"),
    "swift": ("*.swift",), "toml": ("*.toml", "*.lock"), "ts": ("*.ts", "*.tsx", "*.cts", "*.mts"),
    "txt": ("*.txt",), "yaml": ("*.yaml", "*.yml"),
}  # fmt: skip


def hidden_names(call: ParsedArguments) -> tuple[str, ...]:
    """Return the patterns of hidden names that the options of ripgrep add to a search."""
    return tuple(dict.fromkeys(name for kind, word in call.values for name in _names(call, kind, word.text or "*")))


def _names(call: ParsedArguments, kind: str, text: str) -> tuple[str, ...]:
    """Return the patterns of hidden names that an option of ripgrep adds to a search."""
    if kind == "type":
        return ("*",) if call.has("--type-add", "--type-clear") else _TYPES.get(text, ("*",))
    return names_in(text) if kind == "glob" and not text.startswith("!") else ()
