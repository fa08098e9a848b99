"""Walks through all phrases of a language, so that a test can state a rule for each of them."""

# The automaton shows its states to nobody else.
# ruff: noqa: SLF001

from collections import deque
from collections.abc import Collection, Iterator, Sequence

from hitl.replies import lexicon
from hitl.replies.automaton import Phrases
from hitl.replies.spelling import bare, fold, pieces

_Words = tuple[str, ...]
_DEAD = -1


def phrases(code: str, needed: Sequence[str] = (), absent: Sequence[str] = ()) -> Iterator[tuple[int, str]]:
    """Give roles and words of the phrases that hold a word of `needed`, if any is given, and no word of `absent`.

    Phrases that end in the same state have the same roles, and one of them stands for all. So a rule that holds for
    the phrases given holds for every phrase.
    """
    graph, groups = lexicon.load(code).phrases, (_spelled(needed), _spelled(absent))
    graph.complete()
    marked = {piece for group in groups for word in group for piece in word}
    edges: dict[int, list[tuple[str, int]]] = {}
    start: tuple[int, _Words, bool] = (0, (), not needed)
    seen: dict[tuple[int, _Words, bool], _Words] = {start: ()}
    queue = deque([start])
    while queue:
        state, tail, met = key = queue.popleft()
        if state not in edges:
            edges[state] = _edges(graph, state, marked)
        for word, target in edges[state]:
            path = (*tail, word)
            then = (target, _unfinished(path, groups), met or _ends_with(path, groups[0]))
            if then not in seen and not _ends_with(path, groups[1]):
                seen[then] = (*seen[key], word)
                queue.append(then)
                if then[2]:
                    yield graph._accepts[target], " ".join(seen[then])


def _spelled(words: Sequence[str]) -> list[_Words]:
    return [tuple(pieces(spelling)) for word in words for spelling in {fold(word), bare(fold(word))}]


def _edges(graph: Phrases, state: int, marked: Collection[str]) -> list[tuple[str, int]]:
    """Return the words that lead on from a state: every marked word, and one other word for each next state."""
    words: set[str] = set()
    for node in graph._members[state]:
        words.update(graph._edges.get(node, ()), *(some for some, _ in graph._lists.get(node, ())))
    found = [(word, graph._learn(state, word)) for word in sorted(words)]
    plain = {target: word for word, target in found if word not in marked and target != _DEAD}
    return [(word, target) for word, target in found if word in marked] + [(word, to) for to, word in plain.items()]


def _ends_with(path: _Words, words: list[_Words]) -> bool:
    return any(path[-len(word) :] == word for word in words)


def _unfinished(path: _Words, groups: Sequence[list[_Words]]) -> _Words:
    """Return the longest end of a path that begins a word of several pieces, and doesn't finish it."""
    words = [word for group in groups for word in group if len(word) > 1]
    ends = [path[at:] for at in range(len(path))]
    return next((end for end in ends if any(word[: len(end)] == end and word != end for word in words)), ())
