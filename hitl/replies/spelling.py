"""Makes words comparable: gives all spellings of a word one form, and lists the small mistakes that are accepted."""

import re
import unicodedata
from collections.abc import Iterator

#: A doubled last letter counts as a mistake only in words longer than this: "noo" may be "no", but "oo" isn't "o".
_SHORTEST_DOUBLED = 2
_DROPPED = re.compile(
    "['\u2018\u2019\u201b\u02bc\u02bb\u02b9\u2032\u00b4`\uff07\u05f3"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2064\u206a-\u206f\ufe00-\ufe0f\ufeff"
    "\u0307\u064b-\u065f\u0670\u0640\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]+"
)
_SAME = str.maketrans(
    {"ı": "i", "ي": "ی", "ى": "ی", "ك": "ک", "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ة": "ه", "ş": "ș", "ţ": "ț"}
)
_HAMZA = "أ"
#: A hamza at the end is kept only in words longer than this, because the word "no" is written with and without it.
_SHORTEST_HAMZA = 2
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
#: Two accents in a Greek word, as in "διάγραψέ το": before some short words, the last syllable gets an accent too.
_TWO_ACCENTS = re.compile(r"([άέήίόύώ]\w*)([άέήίόύώ])")
_PIECE = re.compile(f"[{_SPACELESS}]|[^{_SPACELESS}]+")
_RUN = re.compile(r"([^\W\d])\1{2,}")
_VOWELS = frozenset("aeiou")
_LEAST_LETTERS = 5


def fold(word: str) -> str:
    """Return a word in a form that ignores case, width, apostrophes, invisible characters and variants of letters.

    This uses Unicode's normalisation form NFKC (UAX 15) and its case folding.
    """
    if word.isascii():
        return word.lower().replace("'", "").replace("`", "")
    plain = unicodedata.normalize("NFKC", word).casefold()
    spelled = _DROPPED.sub("", unicodedata.normalize("NFC", plain))
    folded = _TWO_ACCENTS.sub(lambda found: found[1] + bare(found[2]), spelled.translate(_SAME))
    # At the end of an Arabic word, the hamza distinguishes "start" from "never". At its beginning, people leave it out.
    return folded[:-1] + _HAMZA if len(folded) > _SHORTEST_HAMZA and spelled.endswith(_HAMZA) else folded


def pieces(word: str) -> list[str]:
    """Return the pieces of a folded word. In Korean and in scripts without spaces, each character is one piece."""
    folded = fold(word)
    return [folded] if folded.isascii() else _PIECE.findall(folded)


def bare(word: str) -> str:
    """Return a word without its accents, as people type it on a keyboard that lacks them."""
    apart = unicodedata.normalize("NFD", word)
    return (
        "".join(c for c in apart if not "\u0300" <= c <= "\u036f").replace("đ", "d").replace("ł", "l").replace("ø", "o")
    )


def unstretched(word: str) -> Iterator[str]:
    """Yield the words that a word with repeated letters may mean (`yesss`, `okkk`, `yess`, `nooo`).

    A laugh (`kkk`) gives no word.
    """
    if _RUN.search(word):
        if word == word[0] * len(word):
            return
        yield _RUN.sub(r"\1", word)
        yield _RUN.sub(r"\1\1", word)
    elif len(word) > _SHORTEST_DOUBLED and word[-1] == word[-2]:
        yield word[:-1]


def slips(word: str) -> Iterator[str]:
    """Yield small misspellings of a long word.

    One of two equal letters is missing, two neighbouring letters are swapped, or a vowel is missing. No letter is
    replaced, because that makes other words: "conform" for "confirm", "except" for "accept".
    """
    if len(word) < _LEAST_LETTERS:
        return
    for i in range(1, len(word) - 1):
        if word[i] in _VOWELS or word[i] == word[i + 1]:
            yield word[:i] + word[i + 1 :]
        yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
