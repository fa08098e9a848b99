"""The tables of tools and programs, and their effects. This module has a helper for tables that are lists of words."""


def names(text: str) -> frozenset[str]:
    """Return the words of a text, split at blanks, as a set."""
    return frozenset(text.split())
