"""Reads the data files (``*.ini``) of the tables of tools and programs."""

from __future__ import annotations

from collections.abc import Collection
from configparser import ConfigParser


def read(text: str, keys: Collection[str]) -> ConfigParser:
    """Return the sections in the text of a data file. Names and keys keep their letter case.

    Raises ValueError for a key that isn't one of ``keys``, and configparser.Error for a text that can't be read.
    """
    parser = ConfigParser(
        delimiters=("=",), comment_prefixes=("#",), interpolation=None, strict=True, default_section="\0"
    )
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read_string(text)
    for title in parser.sections():
        if odd := set(parser[title]) - set(keys):
            raise ValueError(f"[{title}] has the unknown key {min(odd)!r}")
    return parser
