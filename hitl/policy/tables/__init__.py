"""Tables of the effects of tools and programs, and a helper for tables that are lists of words."""


def names(text: str) -> frozenset[str]:
    """Return the set of words in a text."""
    return frozenset(text.split())
