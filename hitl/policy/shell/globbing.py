"""Reads patterns of file names that git and ripgrep expand themselves, instead of the shell."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hitl.policy.globs import names_in
from hitl.policy.shell.arguments import ParsedArguments
from hitl.policy.shell.plain_words import ShellWord

_EXPANDED = re.compile(r"[*?\[\\]")
#: Matches an ending of names: one star, and characters without wildcards.
_ENDING = re.compile(r"\*[^*?\[\\]*")


def pathspec(text: str) -> tuple[ShellWord, tuple[str, ...]]:
    """Return the folder below which a pattern of git matches files, and the pattern of their base names, or () for any
    name.

    A wildcard of git also matches slashes, so only the end of the pattern limits the names.
    """
    if not _EXPANDED.search(text):
        return ShellWord(text), ()
    folder, end = _EXPANDED.split(text, maxsplit=1)[0].rpartition("/")[0], text.rpartition("/")[2]
    only = (end,) if _ENDING.fullmatch(end) else ()
    return ShellWord(folder or ("/" if text.startswith("/") else ".")), only


#: ripgrep's file types to which no hidden file belongs -> the patterns of their names.
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
    """Return the patterns of hidden names that ripgrep searches because of its options."""
    return tuple(dict.fromkeys(name for kind, word in call.values for name in _names(call, kind, word.text or "*")))


def _names(call: ParsedArguments, kind: str, text: str) -> tuple[str, ...]:
    """Return the patterns of hidden names that ripgrep searches because of one option.

    ``kind`` is `glob`, `type` or another kind of value, and ``text`` is the option's value.
    """
    if kind == "type":
        return ("*",) if call.has("--type-add", "--type-clear") else _TYPES.get(text, ("*",))
    return names_in(text) if kind == "glob" and not text.startswith("!") else ()
