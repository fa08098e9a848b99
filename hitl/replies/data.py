"""Reads the language files, which are in the folder `languages` next to this module."""

from importlib.resources import files


def lines(name: str) -> list[str]:
    """Return the lines of a file in `languages/`, without comments and blank lines."""
    text = files("hitl.replies").joinpath("languages", name).read_text(encoding="utf-8")
    bare = (line.split(" # ")[0].strip() for line in text.splitlines())
    return [line for line in bare if line and not line.startswith("#")]
