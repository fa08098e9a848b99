"""The operators that test the files that a path may mean: ``glob``, ``path_matches``, ``open_tree``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from hitl.policy import values
from hitl.policy.globs import BadGlob, Glob, expand_braces, glob
from hitl.policy.operators.base import (
    FLAG,
    MAX_PATH,
    TEXT,
    BadValue,
    Condition,
    ConditionUse,
    Judge,
    Operator,
    Test,
    a_text,
    flag,
    scoped,
)
from hitl.policy.operators.scope import ANYWHERE, ROLE, CallScope
from hitl.policy.operators.text import is_encodable, pattern, pattern_set
from hitl.policy.paths import plain_path
from hitl.policy.three_valued import NO, UNSURE, YES, opposite
from hitl.policy.wording import say

_MAX_WILD = 256
_MIN_HINT = 3
# Units of the call's budget: for searching a text for a glob's literals, and for judging a path by the glob itself.
_HINTED_COST, _PATH_COST = 2, 40


def _globs(value: Any) -> tuple[Glob | None, ...]:
    patterns = [value] if isinstance(value, str) else value
    if not isinstance(patterns, list) or not patterns or not all(isinstance(one, str) and one for one in patterns):
        raise BadValue(say("fault.takes.globs"))
    return tuple(_glob(one) for one in patterns)


def _glob(pattern: str) -> Glob:
    try:
        return glob(pattern)
    except BadGlob as error:
        raise BadValue(say("fault.glob", pattern=repr(pattern), why=error)) from error


def _contenox_globs(value: Any) -> tuple[Glob | None, ...]:
    """Return a tuple with the compiled glob of a contenox document.

    A malformed glob, which contenox loads but never matches, becomes None. The condition then answers UNSURE.
    """
    pattern = a_text(value)
    try:
        expand_braces(pattern)
    except BadGlob as error:
        raise BadValue(say("fault.glob", pattern=repr(pattern), why=error)) from error
    try:
        return (glob(pattern),)
    except BadGlob:
        return (None,)


def _build_path_matches(condition: Condition, use: ConditionUse) -> Test:
    """Compile ``path_matches``.

    The regular expression is tried on each spelling of a path: as written, without ``..`` and ``//``, and with its
    links resolved.
    """
    match, other = pattern_set([condition.value.pattern]), use.other(condition.key)

    def of(scope: CallScope) -> Judge:
        def judge(value: Any) -> int:
            if type(value) is not str:
                return other
            if len(value) > MAX_PATH or not is_encodable(value):
                return UNSURE
            names, doubtful, certain = scope.paths.spellings(value)
            found = [bool(match(name)) for name in names]
            if use.loosen:
                return YES if all(found) and certain else UNSURE if any(found) else NO
            if any(found):
                return YES
            return NO if certain and not any(match(name) for name in doubtful) else UNSURE

        return judge

    return scoped(condition.key, of, use, _PATH_COST)


def _build_glob(condition: Condition, use: ConditionUse) -> Test:
    globs: tuple[Glob | None, ...] = condition.value
    anywhere, other = condition.key == ANYWHERE, use.other(condition.key)
    as_text = use.textual or not (use.loosen or anywhere)
    quick = hints(globs) if not use.loosen else None
    relevant = quick if anywhere else None
    listing = condition.key == f"{ROLE}reads"

    def of(scope: CallScope) -> Judge:
        judge_one = scope.paths.tightens
        if use.loosen:
            judge_one = scope.paths.lists if listing and scope.lists_names else scope.paths.loosens

        def judge(value: Any) -> int:
            if type(value) is not str:
                # A tool may take a number, true or false as a file name, so the glob is tried on the value's text.
                spelt = as_text and value is not None and judge(values.text(value))
                return spelt if use.textual and value is not None else max(spelt, other)
            text: str = value
            # No path is so long. But with the key ``*``, the text may not be a path at all, so the answer is NO.
            if len(text) > MAX_PATH:
                return NO if anywhere else UNSURE
            if relevant is not None:
                if not relevant(text):
                    return NO
                scope.work -= _PATH_COST
            elif quick is not None and scope.paths.has_no_name(text, quick):
                return NO
            few = globs if quick is None or anywhere else _may_cover(scope, globs, text)
            return max((UNSURE if one is None else judge_one(one, text) for one in few), default=NO)

        return judge

    slowly = scoped(condition.key, of, use, _PATH_COST if relevant is None else _HINTED_COST)
    only = globs[0]
    if len(globs) > 1 or only is None or not only.absolute or condition.key[:1] in ("/", ANYWHERE):
        return slowly
    return _one_plain_path(condition.key, only, slowly)


def _one_plain_path(key: str, only: Glob, slowly: Test) -> Test:
    """Return a quick test of one absolute glob. It judges only paths with one meaning; ``slowly`` judges the rest."""
    both = only.sources[0] == only.sources[1]

    def test(scope: CallScope) -> int:
        value = scope.args.get(key)
        if (
            both
            and type(value) is str
            and scope.surroundings.paths is None
            and plain_path(value)
            and len(value) <= MAX_PATH
        ):
            # A policy may have thousands of globs, so each glob is compiled when a call first needs it.
            if not only.folded.fullmatch(value):
                return NO
            if only.sure.fullmatch(value):
                return YES
        return slowly(scope)

    return test


def hints(globs: Sequence[Glob | None]) -> Callable[[str], bool] | None:
    """Return a function that quickly tests a text: it returns False if none of the globs can cover the text.

    Return None if one of the globs has no literal part to search for.
    """
    return _hints(tuple(globs))


def _may_cover(scope: CallScope, globs: Sequence[Glob | None], text: str) -> list[Glob | None]:
    """Return the globs that may cover a path, because the path has their literal parts.

    Compiling all globs would take far longer.
    """
    looks = ((one, hints((one,))) for one in globs)
    return [one for one, quick in looks if quick is None or not scope.paths.has_no_name(text, quick)]


@lru_cache(maxsize=256)
def _hints(globs: tuple[Glob | None, ...]) -> Callable[[str], bool] | None:
    literals = {_literal(alternative) for one in globs if one is not None for alternative in one.alternatives}
    if "" in literals or any(one is None or not one.alternatives for one in globs):
        return None
    try:
        search = pattern_set(["(?i)" + "|".join(re.escape(literal) for literal in sorted(literals))])
    except ImportError:
        return None

    def relevant(text: str) -> bool:
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
            return bool(search(text) or search(normalize("NFKC", text)))
        if search(text) or (len(text) <= _MAX_WILD and _WILD_PATH(text)):
            return True
        return "%" in text and bool(search(unquote(unquote(text))))

    return relevant


_WILD_PATH = re.compile(r"\S*[/~$]\S*[*?\[{]\S*|\.\S*[*?\[{]\S*").fullmatch


@lru_cache(maxsize=8192)
def _literal(alternative: str) -> str:
    """Return a text that is in every path that the glob covers, or ''.

    Components are tried from the last to the first. The text is the longest literal of the first component that has a
    literal of _MIN_HINT or more characters.
    """
    for component in reversed(alternative.split("/")):
        parts = re.split(r"\\.|\[(?:\\.|[^\]])*\]|\*|\?", component)
        longest = max(parts, key=len)
        if len(longest) >= _MIN_HINT:
            return longest
    return ""


def _build_tree(condition: Condition, _use: ConditionUse) -> Test:
    """Compile ``open_tree``: whether the policy allows reading every file in the folders whose files the tool shows.

    The test holds for a call that doesn't show the files of whole folders.
    """
    wanted: bool = condition.value

    def test(scope: CallScope) -> int:
        known = scope.shape
        if known is None or not known.shows_trees(scope.args):
            return YES if wanted else NO
        folders = list(values.leaves(scope.role("reads")))
        answer = scope.open_trees(folders) if all(isinstance(path, str) for path in folders) else UNSURE
        return answer if wanted else opposite(answer)

    return test


OPERATORS: Mapping[str, Operator] = {
    "path_matches": Operator(pattern, _build_path_matches, say("takes.path_regex"), TEXT),
    "glob": Operator(_globs, _build_glob, say("takes.globs"), contenox_check=_contenox_globs),
    "open_tree": Operator(flag, _build_tree, say("takes.flag"), FLAG, keyed=False),
}
