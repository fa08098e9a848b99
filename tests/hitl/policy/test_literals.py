"""What a regular expression cannot match without, against RE2 itself."""

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl.policy.operators.text import any_required, required

READ = {
    r"\brm\s+-rf\b": "-rf",
    r"drop\s+table": "table",
    r"^sudo$": "sudo",
    r"curl.*://x": "curl",
    r"a\.b\-c": "a.b-c",
    r"\d\d\.\d": ".",
    r"ab\Bcd": "ab",
}
NOT_READ = (
    "a|b", "a+", "ab*c", "ab?c", "ab{0}c", "[ab]", "(ab)", "(?i)ab", "(?:ab)?", r"\Qa|b\E", r"\x41b", r"\pNa",
    r"\141b", r"a\_b", r"\zab", r"a.*?b", "é", "a\nb", "",
)  # fmt: skip
# A part of a pattern, and a text that it matches.
PART = st.sampled_from(
    [
        ("a", "a"), ("b", "b"), ("A", "A"), ("-", "-"), (" ", " "), (r"\.", "."), (r"\*", "*"), (r"\\", "\\"),
        (".", "x"), (".*", ""), (".*", "ab"), (".?", ""), (r"\s+", " "), (r"\s*", ""), (r"\w?", ""), (r"\d", "7"),
        (r"\b", ""), ("^", ""), ("$", ""), ("a?", ""), ("b*", ""), ("a{0}", ""), ("(a|b)", "b"), ("[ab]", "b"),
        ("(?i:AB)", "ab"), ("|", ""), (r"\x41", "A"), (r"\Qa+\E", "a+"), ("(?:ab)?", ""), ("a+", "aa"), ("(?i)", ""),
        ("{", "{"), ("}", "}"),
    ]
)  # fmt: skip


@pytest.mark.parametrize(("pattern", "literal"), READ.items())
def test_the_longest_literal_of_a_plain_sequence_is_required(pattern: str, literal: str) -> None:
    """Escapes, classes, any character and anchors end a run of literals; the first of the longest runs is given."""
    assert literal == required(pattern)


@pytest.mark.parametrize("pattern", NOT_READ)
def test_what_is_no_plain_sequence_requires_nothing(pattern: str) -> None:
    """Where a literal may be left out, repeated, chosen or read otherwise, none is sure."""
    assert not required(pattern)
    assert any_required([pattern, "ab"]) is None


@settings(deadline=None, max_examples=400)
@given(st.lists(PART, min_size=1, max_size=6), st.text("abA- .*x7\\", max_size=4), st.text("abA- .*x7\\", max_size=4))
def test_whatever_re2_finds_holds_what_is_required(parts: list[tuple[str, str]], before: str, after: str) -> None:
    """Patterns of parts that are read and of parts that are not, on texts made to match them."""
    pattern, text = "".join(part for part, _ in parts), before + "".join(sample for _, sample in parts) + after
    options = re2.Options()
    options.log_errors = False
    try:
        found = re2.compile(pattern, options).search(text)
    except re2.error:
        return

    hinted = any_required([pattern, "x7"])
    assert found is None or (required(pattern) in text and (hinted is None or hinted(text)))


def test_many_literals_are_left_to_re2() -> None:
    """A search for many texts at once is quicker in RE2, except for texts that begin alike."""
    assert any_required(f"{at}a" for at in range(16)) is not None
    assert any_required(f"{at}a" for at in range(17)) is None
    assert any_required(f"a{at}" for at in range(17)) is not None
