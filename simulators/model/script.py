"""What a simulated model says, from a file: the first entry that fits what was said last."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from simulators.model.formats import Asked, Call, Reply

#: What is said where no file says otherwise.
DEFAULT: list[dict[str, Any]] = [
    {"said": '"asks": ', "text": "Nothing needs that file any more, as far as I can see from here."},
    {
        "said": "clean up",
        "text": "I found two staging files that nothing needs.",
        "calls": [
            {"tool": "workspace__delete_file", "args": {"path": "staging-1.txt"}},
            {"tool": "workspace__delete_file", "args": {"path": "staging-2.txt"}},
        ],
    },
    {"results": ".", "text": "That is all. Here is how it went: {results}"},
    {"said": ".", "text": "I am a simulated model. Say: clean up the staging files"},
]


class ScriptError(ValueError):
    """The script can't be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Script:
    """Entries of a script: `said` or `results` is a regular expression on the newest words or results.

    `text` may hold `{results}`. `calls` lists `tool` and `args`. `status`, `raw` and `wait_s` script a failure.
    """

    entries: tuple[dict[str, Any], ...]

    @classmethod
    def read(cls, path: str) -> Self:
        """The script of a file, or the default for ''. Raises ScriptError."""
        if not path:
            return cls(tuple(DEFAULT))
        try:
            entries = json.loads(Path(path).read_text("utf-8"))
            for entry in entries:
                re.compile(entry.get("said") or entry["results"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, re.error) as error:
            raise ScriptError(f"{path} is no script: {error}") from error
        return cls(tuple(entries))

    def __call__(self, asked: Asked) -> Reply:
        """The reply of the first entry that fits, or a word that none does."""
        kind, newest = ("results", " ".join(asked.fresh.values())) if asked.fresh else ("said", asked.words[-1])
        for entry in self.entries:
            if kind in entry and re.search(entry[kind], newest, re.IGNORECASE | re.DOTALL):
                return _reply(entry, newest)
        return Reply("The script says nothing to that.")


def _reply(entry: dict[str, Any], newest: str) -> Reply:
    return Reply(
        str(entry.get("text", "")).replace("{results}", newest),
        tuple(Call(each["tool"], each["args"]) for each in entry.get("calls", [])),
        int(entry.get("status", 200)),
        entry["raw"].encode() if "raw" in entry else None,
        float(entry.get("wait_s", 0.0)),
    )
