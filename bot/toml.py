"""Reads settings files, and says in plain sentences what is wrong with a file that isn't TOML.

The words of Python's parser are for programmers, so people never see them.
"""

from __future__ import annotations

import re
import tomllib
from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Any

from bot.errors import SettingsError
from bot.wording import say

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: The beginning of a message of `tomllib` -> the key of our sentence about the same mistake. The first match counts.
_MISTAKES: Mapping[str, str] = {
    "Cannot": "toml.twice",
    "Duplicate": "toml.twice",
    "Invalid value": "toml.value",
    "Invalid date": "toml.value",
    "Expected '='": "toml.line",
    "Expected newline": "toml.line",
    "Invalid statement": "toml.line",
    "Invalid initial": "toml.line",
    "Expected ']": "toml.table",
    "Unclosed": "toml.unclosed",
    "Unterminated": "toml.text",
    r"Illegal character '\n'": "toml.text",
    'Expected "': "toml.text",
    "Illegal character": "toml.character",
    "Found invalid character": "toml.character",
    "Unescaped": "toml.escape",
    "Escaped": "toml.escape",
    "Invalid hex": "toml.escape",
}
_LINE = re.compile(r"\(at line (\d+)")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file. Raises OSError if it can't be read, and SettingsError if it isn't TOML."""
    written = path.read_bytes()
    if written.startswith(BOM_UTF8):
        raise SettingsError(say("toml.bom", path=path))
    try:
        text = written.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(say("toml.utf8", path=path, line=written[: error.start].count(b"\n") + 1)) from error
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise SettingsError(say("toml.deep", path=path)) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(_told(path, text, str(error))) from error


def _told(path: Path, text: str, message: str) -> str:
    """Return a sentence about a mistake in a file. `message` is what `tomllib` says about it."""
    lines = text.rstrip().split("\n")
    found = _LINE.search(message)
    line = int(found[1]) if found else len(lines)
    key = next((key for start, key in _MISTAKES.items() if message.startswith(start)), "toml.other")
    if found is None and lines[-1].rstrip().endswith((",", "[", "{")):
        key = "toml.unclosed"  # The end of the file is behind a comma, so the parser looks for another value.
    if key == "toml.twice":
        name = lines[min(line, len(lines)) - 1].partition("=")[0].strip()
        return say("toml.twice", path=path, line=line, key=name)
    return say(key, path=path, line=line)
