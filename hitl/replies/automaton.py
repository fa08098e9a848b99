"""Finds every phrase that begins at a given word. The time is linear in the length of the longest phrase.

The phrases form a nondeterministic finite automaton without empty edges. Its deterministic form is built during use:
each set of nodes that is reached for the first time becomes a state. After that, each known word costs one look-up.
Edges are stored as plain numbers, and only for nodes that have edges. So thousands of phrases give the garbage
collector very few objects to visit. A phrase is added when a word comes that may begin it, because most phrases of a
language never come.
"""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as Words
from types import MappingProxyType
from typing import TypeGuard

from hitl.replies.templates import Choice, Item, Sequence, TemplateWord

Match = tuple[int, int]
Matches = tuple[Match, ...]
_DEAD = -1
_NONE: Mapping[str, str] = MappingProxyType({})


class Phrases:
    """All phrases of a language, with their roles (`hitl.replies.phrase_roles`).

    `accents` maps words with accents to the same words without them, because people leave accents out. In a phrase of
    several words, both spellings match. `shorts` maps abbreviations to the words that replace them in phrases. Only one
    thread may use the phrases, because look-ups build them.
    """

    def __init__(self, accents: Mapping[str, str] = _NONE, shorts: Mapping[str, str] = _NONE) -> None:
        self._accents = accents
        self._shorts = shorts
        self._bare = _NONE
        self._edges: dict[int, dict[str, tuple[int, ...]]] = {}
        self._lists: dict[int, list[tuple[frozenset[str], int]]] = {}
        self._sets: dict[tuple[int, bool], tuple[Choice, frozenset[str]]] = {}
        self._behind: dict[tuple[int, str, str | None], int] = {}
        self._roles: list[int] = [0]
        self._members: list[tuple[int, ...]] = [(0,)]
        self._numbers: dict[tuple[int, ...], int] = {(0,): 0}
        self._moves: list[dict[str, int]] = [{}]
        self._accepts: list[int] = [0]
        self._expected: dict[str, list[tuple[Callable[[], Sequence], int]]] = {}
        self._added: set[int] = set()

    def expect(self, firsts: Iterable[str], template: Callable[[], Sequence], role: int) -> None:
        """Add a template with a role when a word of `firsts` is first met.

        `firsts` holds each word with which a phrase of the template may begin. So when a word is met, all phrases that
        begin with it are known.
        """
        entry = template, role
        for word in firsts:
            known = self._shorts.get(word, word)
            for spelling in {known, self._accents.get(known, known)}:
                self._expected.setdefault(spelling, []).append(entry)

    def complete(self) -> None:
        """Add all templates that are expected."""
        while self._expected:
            self._add_expected(next(iter(self._expected)))

    def _add_expected(self, word: str) -> None:
        for entry in self._expected.pop(word, ()):
            if id(entry) not in self._added:
                self._added.add(id(entry))
                self._add(entry[0](), entry[1])

    def _add(self, template: Sequence, role: int) -> None:
        self._bare = self._accents if len(template) > 1 else _NONE
        for node in self._sequence(template, frozenset({0})):
            self._roles[node] |= role

    def matches(self, words: Words[str | None], at: int) -> Matches:
        """Return (end, roles) of every phrase that begins at the word `at`. The longest phrase comes last."""
        return self.found(words, range(at, at + 1))[0]

    def found(self, words: Words[str | None], starts: range) -> list[Matches]:
        """Return, for each word of `starts`, the result of `matches`."""
        moves, accepts = self._moves, self._accepts
        found: list[Matches] = []
        for at in starts:
            here: Matches = ()
            state = 0
            for end in range(at, len(words)):
                word = words[end]
                if word is None:
                    break
                known = moves[state].get(word)
                state = self._learn(state, word) if known is None else known
                if state == _DEAD:
                    break
                if accepts[state]:
                    here += ((end + 1, accepts[state]),)
            found.append(here)
        return found

    def _learn(self, state: int, word: str) -> int:
        if not state and word in self._expected:
            self._add_expected(word)
        members = self._members[state]
        nodes = {to for node in members if node in self._edges for to in self._edges[node].get(word, ())}
        nodes |= {to for node in members for words, to in self._lists.get(node, ()) if word in words}
        self._moves[state][word] = number = self._state(tuple(sorted(nodes))) if nodes else _DEAD
        return number

    def _state(self, nodes: tuple[int, ...]) -> int:
        if nodes not in self._numbers:
            roles = 0
            for node in nodes:
                roles |= self._roles[node]
            self._members.append(nodes)
            self._moves.append({})
            self._accepts.append(roles)
            self._numbers[nodes] = len(self._members) - 1
        return self._numbers[nodes]

    def _sequence(self, items: Sequence, entries: frozenset[int]) -> frozenset[int]:
        for item in items:
            entries = self._item(item, entries)
        return entries

    def _item(self, item: Item, entries: frozenset[int]) -> frozenset[int]:
        if isinstance(item, TemplateWord):
            return self._word(self._shorts.get(item.text, item.text), entries)
        exits = self._single_words(item, entries)
        for option in item.options:
            if not _is_word(option):
                exits |= self._sequence(option, entries)
        return exits | entries if item.optional else exits

    def _word(self, text: str, entries: frozenset[int]) -> frozenset[int]:
        """Add an edge for a word, and return the node at its end, in a set.

        Phrases with the same beginning share nodes. A node is shared only if exactly one node leads to it; otherwise
        parts of different phrases would mix.
        """
        bare = self._bare.get(text)
        place = (min(entries), text, bare) if len(entries) == 1 else None
        if place and place in self._behind:
            return frozenset({self._behind[place]})
        node = self._node()
        if place:
            self._behind[place] = node
        for entry in entries:
            edges = self._edges.setdefault(entry, {})
            for spelling in (text, bare) if bare else (text,):
                edges[spelling] = (*edges.get(spelling, ()), node)
        return frozenset({node})

    def _single_words(self, item: Choice, entries: frozenset[int]) -> frozenset[int]:
        """Add one shared edge for all options that are a single word, and return the node at its end, in a set.

        So a long list costs as little as a short list.
        """
        place = id(item), self._bare is _NONE
        if place not in self._sets:
            texts = [word.text for option in item.options if _is_word(option) for word in option]
            words = frozenset(self._shorts.get(text, text) for text in texts)
            self._sets[place] = item, words.union(self._bare[word] for word in words & self._bare.keys())
        words = self._sets[place][1]
        if not words:
            return frozenset()
        node = self._node()
        for entry in entries:
            self._lists.setdefault(entry, []).append((words, node))
        return frozenset({node})

    def _node(self) -> int:
        self._roles.append(0)
        return len(self._roles) - 1


def _is_word(option: Sequence) -> TypeGuard[tuple[TemplateWord]]:
    return len(option) == 1 and isinstance(option[0], TemplateWord)
