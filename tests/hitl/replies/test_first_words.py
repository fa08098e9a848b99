"""Phrases are added to a language when a word comes that may begin them."""

import pytest

from hitl.replies import lexicon
from hitl.replies.automaton import Phrases
from hitl.replies.templates import Choice, Sequence, first_words, joined, parse


def _begins(template: Sequence) -> set[str]:
    """Return the words that may begin a phrase of a parsed template."""
    found: set[str] = set()
    for item in template:
        if not isinstance(item, Choice):
            return found | {item.text}
        for option in item.options:
            found |= _begins(option)
        if not item.optional and all(item.options):
            return found
    return found


@pytest.mark.parametrize(
    "text",
    ["go ahead", "[please] do it", "(a|b c|[d] e) f", "[(a|b) [c]] <x> d", "(a|) b", "[a] [b|c] (d|e [f]) g", "好的"],
)
def test_the_first_words_of_a_template_are_those_of_its_phrases(text: str) -> None:
    """A quick look at the beginning of a template finds the words that its parsed form begins with."""
    lists = {"x": Choice((parse("y", {}), parse("[z] w", {})))}
    assert _begins(parse(text, lists)) == first_words(text, lambda name: {"x": {"y", "z", "w"}}[name])


@pytest.mark.parametrize("code", sorted(lexicon.all_codes()))
def test_a_language_finds_the_same_phrases_whether_they_are_added_early_or_late(code: str) -> None:
    """Each word of the language is looked up twice: in a graph that grows, and in one that was complete before."""
    lexicon._graph.cache_clear()  # noqa: SLF001
    growing = lexicon.load(code).phrases
    lexicon._graph.cache_clear()  # noqa: SLF001
    whole = lexicon.load(code).phrases
    whole.complete()
    words = sorted(lexicon.load(code).vocabulary)
    pairs = [[one, other] for one, other in zip(words, words[1:] + words[:1], strict=True)]
    assert [growing.matches(pair, 0) for pair in pairs] == [whole.matches(pair, 0) for pair in pairs]


def test_a_phrase_is_parsed_when_its_first_word_comes() -> None:
    """A template whose words never come costs nothing but its place."""
    graph, parsed = Phrases(), []

    def template() -> Sequence:
        parsed.append(1)
        return parse("go ahead", {})

    graph.expect({"go"}, template, 1)
    assert ((), []) == (graph.matches(["stop"], 0), parsed)
    assert (((2, 1),), [1]) == (graph.matches(["go", "ahead"], 0), parsed)
    graph.complete()
    assert [1] == parsed


def test_a_choice_behind_an_apostrophe_offers_whole_words() -> None:
    """`n'(a|b)` covers `n'a` and `n'b`, and also `n a` and `n b`, as people write it on a phone."""
    assert parse("(n'aide|n'ouvre|n aide|n ouvre)", {}) == parse(joined("n'(aide|ouvre)"), {})
