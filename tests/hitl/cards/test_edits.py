"""What a card shows of an edit by a coding agent, whose arguments hold the old and the new text."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from hitl.call import Call, CardTerms
from hitl.cards.card import Way, card, is_cut
from hitl.cards.edits import TEXTS
from hitl.cards.lines import plain
from hitl.cards.masked import masked
from hitl.cards.shown import PartKind, show
from hitl.cards.text import one_line
from hitl.cards.wording import say
from hitl.proof.canonical import canonical
from hitl.testing import a_call
from tests.hitl.world import NOON

SECRET = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
OLD, NEW = "a = 1\nb = 2\nc = 3", "a = 1\nb = 9\nc = 3"
DIFF = " a = 1\n-b = 2\n+b = 9\n c = 3"
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-b = 2\n+b = 9\n*** End Patch"


def edited(tool: str, args: dict[str, Any], tools: str = "claude-code") -> Call:
    """A call of a hook, to which no executor of ours added a preview or a sentence about this tool."""
    sentence = say("card.does.fallback", tool=tool)
    return a_call(NOON, tools=tools, tool=tool, args=canonical(args), sentence=sentence, preview="")


def parts(call: Call) -> list[tuple[str, str]]:
    """The kind or name of each part, and its text."""
    return [(part.name or part.kind.value, part.text) for part in show(call).parts]


@pytest.mark.parametrize(
    ("tools", "tool", "args"),
    [
        ("claude-code", "Edit", {"file_path": "a.py", "old_string": OLD, "new_string": NEW}),
        ("claude-code", "MultiEdit", {"file_path": "a.py", "edits": [{"old_string": OLD, "new_string": NEW}]}),
        ("gemini", "replace", {"file_path": "a.py", "old_string": OLD, "new_string": NEW}),
        ("qwen", "edit", {"file_path": "a.py", "old_string": OLD, "new_string": NEW}),
        ("opencode", "edit", {"filePath": "a.py", "oldString": OLD, "newString": NEW}),
        ("copilot", "edit", {"path": "a.py", "old_str": OLD, "new_str": NEW}),
        ("filesystem", "edit_file", {"path": "a.py", "edits": [{"oldText": OLD, "newText": NEW}]}),
    ],
)
def test_an_edit_names_its_file_and_shows_a_diff(tools: str, tool: str, args: dict[str, Any]) -> None:
    """Every host has names of its own for the file and the two texts."""
    call = edited(tool, args, tools)

    assert [("diff", DIFF)] == parts(call)
    assert "a.py" in show(call).phrase


@pytest.mark.parametrize(("tools", "name"), [("codex", "command"), ("opencode", "patchText")])
def test_a_patch_is_shown_as_a_diff(tools: str, name: str) -> None:
    """Codex sends it to the hook as if it were a command."""
    call = edited("apply_patch", {name: PATCH}, tools)

    assert [("diff", PATCH)] == parts(call)
    assert "a.py" in show(call).phrase


def test_a_patch_of_several_files_names_none_in_the_headline() -> None:
    """The headline must not name only one of them."""
    both = PATCH.replace("*** End Patch", "*** Delete File: b.py\n*** End Patch")

    assert "a.py" not in show(edited("apply_patch", {"command": both}, "codex")).phrase


@pytest.mark.parametrize("before", [" ", "\t", " " * 40, "\u3000"])
def test_blanks_before_the_name_of_a_file_hide_it_from_nobody(before: str) -> None:
    """Codex takes no notice of them."""
    both = PATCH.replace("*** End Patch", f"{before}*** Delete File: b.py\n*** End Patch")

    assert "a.py" not in show(edited("apply_patch", {"command": both}, "codex")).phrase


def test_blanks_around_the_lines_of_a_patch_name_no_other_file() -> None:
    """Neither those that end a line, nor three stars within one."""
    spaced = PATCH.replace("a.py", "a.py \t").replace("*** End Patch", "+b *** c\n *** End Patch ")

    assert show(edited("apply_patch", {"command": spaced}, "codex")).phrase.endswith(" a.py")


@pytest.mark.parametrize("name", ["old_string", "new_string", "file_path"])
def test_an_operators_headline_may_name_the_texts(name: str) -> None:
    """The diff shows them as well."""
    call = edited("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"})
    call = replace(call, verdict=replace(call.verdict, card=CardTerms(headline=f"Put {{{name}}}")))

    assert f"put {call.arguments[name]}" == show(call).phrase
    assert ("diff", "-x\n+y") in parts(call)


@pytest.mark.parametrize(("old", "new"), [*TEXTS, ("old", "new")])
def test_a_preview_shows_the_texts_in_place_of_the_arguments(old: str, new: str) -> None:
    """Whatever an executor calls the two texts."""
    call = replace(edited("Edit", {old: "x", new: "y"}), preview="@@ -3 +3 @@\n-x\n+y")

    assert [("diff", "@@ -3 +3 @@\n-x\n+y")] == parts(call)


def test_a_card_that_is_drawn_again_compares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card is drawn at every change of its call."""
    call = edited("Edit", {"file_path": "a.py", "old_string": "drawn\nonce", "new_string": "drawn\ntwice"})
    first = show(call)
    monkeypatch.setattr("hitl.cards.edits.change", None)

    assert first == show(call)


@pytest.mark.parametrize(("edits", "repeated"), [(1, 90), (20, 6)])
def test_what_takes_long_to_compare_counts_as_changed_between_its_shared_ends(edits: int, repeated: int) -> None:
    """All edits of a list together are within one bound."""
    lines = ["a", "b"] * repeated
    one = {"old_string": "\n".join(["x", *lines]), "new_string": "\n".join(["x", *lines[1:], "c"])}
    call = edited("MultiEdit", {"file_path": "a.py", "edits": [one] * edits})
    each = "\n".join(["@@", *(f"-{line}" for line in lines), *(f"+{line}" for line in [*lines[1:], "c"])])

    assert "\n".join([each] * edits) == f"@@\n{masked(call).diff}"


def test_the_headline_holds_neither_text() -> None:
    """The old text alone looked as if it was the new one."""
    shown = card(edited("Edit", {"file_path": "a.py", "old_string": OLD, "new_string": NEW}), way=Way.BUTTONS)

    assert "a = 1" not in shown.headline


def test_other_arguments_of_an_edit_are_shown() -> None:
    """They change what the edit does."""
    args = {"file_path": "a.py", "old_string": OLD, "new_string": NEW, "replace_all": True, "mode": "x"}
    assert {("replace_all", "true"), ("mode", "x"), ("diff", DIFF)} == set(parts(edited("Edit", args)))

    each = {"old_string": OLD, "new_string": NEW, "replace_all": True}
    assert ["edits"] == [
        name for name, _ in parts(edited("MultiEdit", {"file_path": "a.py", "edits": [each]})) if name == "edits"
    ]


@pytest.mark.parametrize(
    "args",
    [
        {"file_path": "a.py", "old_string": OLD},
        {"file_path": "a.py", "old_string": OLD, "new_string": 7},
        {"file_path": "a.py", "old_string": OLD, "new_string": OLD},
        {"file_path": "a.py", "old_string": OLD, "new_string": NEW, "old_str": "x", "new_str": "y"},
        {"file_path": "a.py", "edits": "x"},
        {"file_path": "a.py", "edits": []},
        {"file_path": "a.py", "edits": [{"old_string": OLD, "new_string": NEW, "why": "x"}]},
        {"file_path": "a.py", "old_string": "token = " + SECRET, "new_string": "token = " + SECRET.replace("01", "98")},
    ],
    ids=str,
)
def test_an_edit_that_is_not_understood_shows_its_arguments(args: dict[str, Any]) -> None:
    """No diff is better than one that shows only a part of the change."""
    shown = [part for part in show(edited("Edit", args)).parts if part.name]

    assert set(args) == {part.name for part in shown}


def test_two_files_are_not_taken_for_one() -> None:
    """The headline names no file then, and both are shown."""
    args = {"file_path": "a.py", "notebook_path": "b.py", "old_string": OLD, "new_string": NEW}
    call = edited("Edit", args)

    assert "a.py" not in show(call).phrase
    assert {"file_path", "notebook_path", "diff"} == {name for name, _ in parts(call)}


def test_a_line_feed_at_the_end_counts_as_a_change() -> None:
    """It would be lost in a comparison of lines."""
    assert [("diff", " a\n+")] == parts(edited("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "a\n"}))


def test_a_secret_in_an_edit_is_masked() -> None:
    """As in every argument."""
    args = {"file_path": "a.py", "old_string": "x = 1", "new_string": f"x = '{SECRET}'"}

    assert SECRET not in str(parts(edited("Edit", args)))


def test_no_text_looks_like_a_line_of_the_diff() -> None:
    """Each line of the texts has its sign, and what is invisible is written out."""
    args = {"file_path": "a.py", "old_string": "x", "new_string": "y\n@@\n-z\r-w\u202e"}
    ((kind, text),) = parts(edited("Edit", args))

    assert "diff" == kind
    assert ["-x", "+y", "+@@"] == text.split("\n")[:3]
    assert all(line[:1] in "+-" for line in text.split("\n"))
    assert "\r" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("lines", [200, 20_000])
def test_a_long_edit_is_cut_and_counted(lines: int) -> None:
    """A risky call then needs its details opened, as any call that is cut."""
    old, new = ("\n".join(f"{word} {number}" for number in range(lines)) for word in ("old", "new"))
    call = edited("Edit", {"file_path": "a.py", "old_string": old, "new_string": new})

    assert is_cut(call)
    assert PartKind.OURS in {part.kind for part in show(call).parts}


def test_a_long_path_is_shown_whole() -> None:
    """The headline cuts it."""
    path = "/".join(f"folder{number}" for number in range(60))
    call = edited("Edit", {"file_path": path, "old_string": OLD, "new_string": NEW})

    assert one_line(path, 200) != path
    assert path in [text for name, text in parts(call) if name in {"file_path", "code"}]


def test_a_tool_that_does_not_edit_is_not_compared() -> None:
    """Only the table of tools says which tool edits."""
    call = edited("frobnicate", {"file_path": "a.py", "old_string": OLD, "new_string": NEW})

    assert "diff" not in {kind for kind, _ in parts(call)}
    assert plain(card(call).approvers, str)
