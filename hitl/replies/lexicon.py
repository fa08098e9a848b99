"""The words and phrases of each language. A language is loaded when a reply first needs it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

from hitl.replies import data
from hitl.replies.automaton import Phrases
from hitl.replies.phrase_roles import SECTIONS
from hitl.replies.spelling import bare, fold, pieces, slips, unstretched
from hitl.replies.templates import Choice, first_words, parse, phrases

_LIST = "list "
_TYPOS = "may be misspelt"
_ACCENTED = "keeps its accents"
_SHORTS = "short for"
_NO_PHRASES = frozenset({_TYPOS, _ACCENTED, _SHORTS})
_WORD = re.compile(r"[^\s()\[\]|<>,]+|<[^>]+>")
_PLAIN = re.compile(r"[^()\[\]|<>]+\Z")
_SHORTEST_BARE = 3


@dataclass(frozen=True)
class Language:
    """The words in the file of one language, and other spellings of these words."""

    code: str
    vocabulary: frozenset[str]
    spellings: Mapping[str, str]

    @cached_property
    def phrases(self) -> Phrases:
        """The phrases of the language. They are built at the first use."""
        return _graph(self.code)

    def known(self, word: str) -> str | None:
        """Return the word in the spelling of the language's file, or None if the file doesn't have the word."""
        if word in self.vocabulary:
            return word
        if word in self.spellings:
            return self.spellings[word]
        return next((short for short in unstretched(word) if short in self.vocabulary), None)


@cache
def load(code: str) -> Language:
    """Return the language with this code. Raises `FileNotFoundError` for a language that has no file."""
    sections = _sections(code)
    words = frozenset(piece for word in _words(sections) for piece in pieces(word))
    vocabulary = words.difference(shorts(code))
    return Language(code, vocabulary, dict(_spellings(vocabulary, _all(sections.get(_TYPOS, [])))) | shorts(code))


@cache
def shorts(code: str) -> dict[str, str]:
    """Return abbreviation -> word for the abbreviations of a language, such as "ko" -> "không"."""
    entries = (entry.partition(": ") for entry in _all(_sections(code).get(_SHORTS, [])))
    return {fold(short): fold(word) for short, _, word in entries}


@cache
def codes() -> dict[str, tuple[str, ...]]:
    """Return script -> the codes of the languages that are written in it, in the order of `languages/index.txt`."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in data.lines("index.txt"):
        code, _, scripts = (field.strip() for field in line.split("|"))
        for script in scripts.split():
            found[script].append(code)
    return {script: tuple(languages) for script, languages in found.items()}


@cache
def all_codes() -> frozenset[str]:
    """Return the codes of all languages that have a file."""
    return frozenset(code for languages in codes().values() for code in languages)


@cache
def polite_anywhere() -> frozenset[str]:
    """Return the polite words that count in a reply in any language."""
    lines = data.lines("common.txt")
    return frozenset(phrases(lines[lines.index("= beside yes") + 1]))


@cache
def homographs() -> frozenset[str]:
    """Return the words that mean yes in one language and something else in another language."""
    return frozenset(fold(line.partition("|")[0].strip()) for line in data.lines("homographs.txt"))


@cache
def asking() -> frozenset[str]:
    """Return the words for "please" in all languages.

    In Chinese, Japanese and Korean, each entry is one character of such a word.
    """
    return frozenset(fold(word) for line in data.lines("please.txt") for word in phrases(line))


@cache
def pleases(code: str) -> tuple[str, ...]:
    """Return a language's own phrases for "please" that have no choices and no optional parts."""
    polite = [phrase for phrase in _all(_sections(code)["beside yes"]) if phrase not in polite_anywhere()]
    return tuple(p for p in polite if not asking().isdisjoint(map(fold, p.split())) and _PLAIN.match(p))


def closest(words: Iterable[str], scripts: Iterable[str]) -> list[str]:
    """Return the languages in these scripts that know the most words of the reply. There may be several."""
    order, tables = _written_in(tuple(scripts))
    some: list[str] = []
    by_all = False
    for word in words:
        known = {code for table in tables for code in _who(word, table)} if len(tables) != 1 else _who(word, tables[0])
        if len(known) == len(order):
            by_all = True
        else:
            some += known
    if not some:
        return list(order) if by_all else []
    counts = Counter(some)
    most = max(counts.values())
    return [code for code in order if counts.get(code) == most]


@cache
def _written_in(scripts: tuple[str, ...]) -> tuple[tuple[str, ...], list[dict[str, tuple[str, ...]]]]:
    """Return the languages of these scripts, in the order of `languages/index.txt`, and one table for each script.

    A table maps each word of its script to the languages that have this word.
    """
    order = dict.fromkeys(code for script in scripts for code in codes().get(script, ()))
    return tuple(order), [_speakers(script) for script in scripts]


def speakers(word: str, scripts: Iterable[str]) -> frozenset[str]:
    """Return the codes of the languages in these scripts that know the word."""
    return frozenset(code for script in scripts for code in _who(word, _speakers(script)))


def _who(word: str, table: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if word in table:
        return table[word]
    return next((table[short] for short in unstretched(word) if short in table), ())


@cache
def _speakers(script: str) -> dict[str, tuple[str, ...]]:
    """Return word -> the codes of the languages that have this word, for all languages in one script."""
    found: dict[str, tuple[str, ...]] = {}
    for code in codes().get(script, ()):
        language = load(code)
        for word in (*language.vocabulary, *language.spellings):
            found[word] = (*found.get(word, ()), code)
    return found


@cache
def _graph(code: str) -> Phrases:
    sections = _sections(code)
    lists = _Lists(sections)
    accents = _accents(load(code).vocabulary, _all(sections.get(_ACCENTED, [])))
    graph = Phrases(accents, shorts(code))
    for name, lines in sections.items():
        if name in SECTIONS:
            for phrase in _all(lines):
                graph.expect(first_words(phrase, lists.first_words), partial(parse, phrase, lists), SECTIONS[name])
    return graph


class _Lists(dict[str, Choice]):
    """The lists of a language by name. Each list is parsed when a template first needs it."""

    def __init__(self, sections: Mapping[str, list[str]]) -> None:
        super().__init__()
        self._phrases = {
            name.removeprefix(_LIST): _all(lines) for name, lines in sections.items() if name.startswith(_LIST)
        }
        self._firsts: dict[str, frozenset[str]] = {}

    def __missing__(self, name: str) -> Choice:
        self[name] = Choice(tuple(parse(phrase, self) for phrase in self._phrases[name]))
        return self[name]

    def first_words(self, name: str) -> frozenset[str]:
        """Return the words with which a phrase of a list may begin."""
        if name not in self._firsts:
            self._firsts[name] = frozenset[str]().union(
                *(first_words(phrase, self.first_words) for phrase in self._phrases[name])
            )
        return self._firsts[name]


def _accents(vocabulary: frozenset[str], kept: Sequence[str]) -> dict[str, str]:
    """Return word -> its spelling without accents, if that spelling is another word of the language.

    An example is "mí" -> "mi" in Spanish. The words of `kept` are left out, because without accents they would give
    their phrases another meaning.
    """
    pairs = ((word, bare(word)) for word in vocabulary.difference(kept) if not word.isascii())
    return {word: plain for word, plain in pairs if plain != word and plain in vocabulary}


def _all(lines: list[str]) -> list[str]:
    return [phrase for line in lines for phrase in phrases(line)]


def _words(sections: dict[str, list[str]]) -> set[str]:
    lines = [line for name, lines in sections.items() if name not in _NO_PHRASES for line in lines]
    return {word for word in set(_WORD.findall("\n".join(lines))) if not word.startswith("<") or word == "<3"}


@cache
def _sections(code: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in [*data.lines(f"{code}.txt"), *data.lines("common.txt")]:
        if line.startswith("= "):
            current = sections.setdefault(line.removeprefix("= "), [])
        else:
            current.append(line)
    unknown = [
        name for name in sections if name not in SECTIONS and name not in _NO_PHRASES and not name.startswith(_LIST)
    ]
    if unknown:
        raise ValueError(f"no such section: {', '.join(unknown)}")
    return sections


def _spellings(vocabulary: frozenset[str], typos: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (spelling, word) for other spellings of words.

    These are the words without their accents, and small mistakes in the words of `typos`. A spelling that is another
    word of the language is left out.
    """
    plain: dict[str, list[str]] = defaultdict(list)
    for word in vocabulary:
        if not word.isascii() and len(word) >= _SHORTEST_BARE:
            plain[bare(word)].append(word)
    for spelling, words in plain.items():
        if len(words) == 1 and spelling not in vocabulary:
            yield spelling, words[0]
    for typo in typos:
        word = pieces(typo)[0]
        yield from ((slip, word) for slip in slips(word) if slip not in vocabulary)
