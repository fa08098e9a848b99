"""The presets that Sayso ships, as YAML files.

Four presets are whole policies for an installation, and three are templates for one kind of tool. All presets deny
access to secrets, no matter which argument names the secret. Templates ask about every tool that they don't know. In
these files, ``&NAME`` is replaced by the text NAME of ``shared.yaml``. This works only in shipped presets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from hitl.policy import text
from hitl.policy.ports import Document, check_names
from hitl.policy.wording import say

NAMES: Final = ("default", "strict", "dev", "headless", "payments", "email", "database")
_named = re.compile(r"&([A-Z_]+)")


class PresetSource:
    """A store of the presets, as a DocumentSource. They are the same for every tenant."""

    def names(self) -> list[str]:
        """Return the names of the presets."""
        return list(NAMES)

    def read(self, tenant: str, name: str) -> Document:
        """Return the preset of that name. Raises LookupError for an unknown name."""
        check_names(tenant, name)
        if name not in NAMES:
            raise LookupError(say("fault.preset", name=repr(name), names=", ".join(NAMES)))
        return Document(name, f"the preset {name}", preset(name), "yaml", fixed=True)


def presets() -> Mapping[str, str]:
    """Return all presets: name -> text in YAML."""
    return {name: preset(name) for name in NAMES}


@cache
def preset(name: str) -> str:
    """Return the text of a preset. Raises KeyError for an unknown name."""
    if name not in NAMES:
        raise KeyError(name)
    return _filled(_file(name))


def _filled(document: str) -> str:
    """Return the text with each ``&NAME`` replaced by the text NAME of ``shared.yaml``, also inside shared texts."""
    return "\n".join(_line(line) for line in document.split("\n"))


def _line(line: str) -> str:
    indented = "\n" + " " * (len(line) - len(line.lstrip(" ")))
    return _named.sub(lambda name: _filled(_shared()[name[1]]).replace("\n", indented), line)


@cache
def _shared() -> Mapping[str, str]:
    found: Mapping[str, str] = text.parse(_file("shared"), name="shared", format="yaml").value
    return found


def _file(name: str) -> str:
    return files(__name__).joinpath(f"{name}.yaml").read_text("utf-8")
