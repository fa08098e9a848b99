"""Finds the script (writing system) of a word by Unicode's blocks.

A word in several scripts may imitate another word.
"""

from bisect import bisect_right

_BLOCKS = (
    (0x0000, ""), (0x0041, "Latin"), (0x0250, "Latin"), (0x0300, ""), (0x0370, "Greek"), (0x0400, "Cyrillic"),
    (0x0530, "Armenian"), (0x0590, "Hebrew"), (0x0600, "Arabic"), (0x0700, "Syriac"), (0x0750, "Arabic"),
    (0x0780, "Thaana"), (0x07C0, "Nko"), (0x08A0, "Arabic"), (0x0900, "Devanagari"), (0x0980, "Bengali"),
    (0x0A00, "Gurmukhi"), (0x0A80, "Gujarati"), (0x0B00, "Oriya"), (0x0B80, "Tamil"), (0x0C00, "Telugu"),
    (0x0C80, "Kannada"), (0x0D00, "Malayalam"), (0x0D80, "Sinhala"), (0x0E00, "Thai"), (0x0E80, "Lao"),
    (0x0F00, "Tibetan"), (0x1000, "Myanmar"), (0x10A0, "Georgian"), (0x1100, "Hangul"), (0x1200, "Ethiopic"),
    (0x13A0, "Cherokee"), (0x1400, "Canadian"), (0x1680, "Other"), (0x1780, "Khmer"), (0x1800, "Mongolian"),
    (0x1C80, "Cyrillic"), (0x1C90, "Georgian"), (0x1D00, "Latin"), (0x1DC0, ""), (0x1E00, "Latin"), (0x1F00, "Greek"),
    (0x2000, ""), (0x2C60, "Latin"), (0x2C80, "Coptic"), (0x2D30, "Tifinagh"), (0x2D80, "Ethiopic"),
    (0x2DE0, "Cyrillic"), (0x2E00, ""), (0x2E80, "Han"), (0x3040, "Kana"), (0x3100, "Han"), (0x3130, "Hangul"),
    (0x3190, "Han"), (0x31F0, "Kana"), (0x3200, ""), (0x3400, "Han"), (0xA000, "Yi"), (0xA4D0, "Lisu"),
    (0xA640, "Cyrillic"), (0xA720, "Latin"), (0xA800, "Other"), (0xAC00, "Hangul"), (0xD800, ""), (0xF900, "Han"),
    (0xFB00, "Latin"), (0xFB50, "Arabic"), (0xFE00, ""), (0xFE70, "Arabic"), (0xFF00, ""), (0x10000, "Other"),
    (0x11100, "Chakma"), (0x11150, "Other"), (0x20000, "Han"), (0x32000, ""),
)  # fmt: skip
_STARTS = [start for start, _ in _BLOCKS]


def scripts(word: str) -> set[str]:
    """Return the names of the scripts of a word's letters. Digits, marks and signs have no script."""
    if word.isascii():
        return {"Latin"}
    return {_BLOCKS[bisect_right(_STARTS, ord(letter)) - 1][1] for letter in word if letter.isalpha()} - {""}
