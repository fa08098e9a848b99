"""The catalogue and the code that speaks from it fit: no sentence is missing, none is dead, none lacks a fact."""

from __future__ import annotations

import ast
import re
import string
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import pytest

from adapters.database.folder import FolderInUse
from bot import wording as process_wording
from hitl.call import Risk, Status
from hitl.cards import wording
from hitl.cards.wording import SIGNS, Wording, say
from hitl.errors import SaysoError
from hitl.outcomes import Refusal
from hitl.policy import wording as policy_wording
from sayso_client import wording as client_wording
from tests.sentences import ENGLISH, OWNERS, SERVICE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[3]
SOURCES = [
    path for package in ("hitl", "adapters", "bot", "clients") for path in sorted((ROOT / package).rglob("*.py"))
]

#: Files that quote sentences on purpose, relative to `tests`, each with the reason.
QUOTING: Mapping[str, str] = {
    "hitl/cards/test_wording.py": "It is the catalogue's own test.",
}
#: The shortest run of characters that counts as a quote. Shorter ones are also words of people, tools and settings.
QUOTE = 24


@dataclass(frozen=True)
class Said:
    """One call of `say`: where, the keys that it may mean, and the facts that it gives (None: not to be read off)."""

    place: str
    keys: frozenset[str]
    facts: frozenset[str] | None


def fields(template: str) -> set[str]:
    """The facts that a template wants."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@cache
def trees() -> Mapping[Path, ast.Module]:
    """The sources, parsed once for all tests here."""
    return {path: ast.parse(path.read_text()) for path in SOURCES}


@cache
def sayings() -> tuple[Said, ...]:
    """Every call of `say` in the sources."""
    return tuple(
        Said(f"{path.name}:{node.lineno}", _keys(_key(node), function), _facts(node))
        for path, tree in trees().items()
        for function, node in _calls(tree)
    )


def _facts(node: ast.Call) -> frozenset[str] | None:
    given = [keyword.arg for keyword in node.keywords]
    return None if None in given else frozenset(filter(None, given))


def _calls(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.Call]]:
    """Each `say(...)`, once, with the innermost function around it."""
    owners: dict[ast.Call, ast.AST] = {}
    for owner in ast.walk(tree):
        if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
            owners |= {node: owner for node in ast.walk(owner) if _is_say(node)}
    return ((owner, node) for node, owner in owners.items())


def _is_say(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether this is a call of `say`, a wording's or not, or of `line`, which makes a line of a sentence."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    if isinstance(node.func, ast.Attribute):
        named = isinstance(_key(node), ast.JoinedStr | ast.Constant)
        return node.func.attr in {"say", "_say"} and named
    return isinstance(node.func, ast.Name) and node.func.id in {"say", "line"}


def _key(node: ast.Call) -> ast.expr:
    """The key that is said. A line gets the wording before it."""
    line = isinstance(node.func, ast.Name) and node.func.id == "line"
    return node.args[1] if line and len(node.args) > 1 else node.args[0]


def _keys(key: ast.expr, function: ast.AST) -> frozenset[str]:
    """The keys that this argument may be."""
    if isinstance(key, ast.Constant):
        return frozenset({str(key.value)})
    if isinstance(key, ast.JoinedStr):
        return frozenset(filter(_pattern(key).fullmatch, ENGLISH))
    named = [_key(node) for node in ast.walk(function) if _is_say(node)]
    return _mentioned(function) - {str(key.value) for key in named if isinstance(key, ast.Constant)}


def _pattern(key: ast.JoinedStr) -> re.Pattern[str]:
    """What an f-string may come to."""
    parts = (re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-z_]+" for part in key.values)
    return re.compile("".join(parts))


def _mentioned(tree: ast.AST) -> frozenset[str]:
    """The keys of the catalogue that a piece of source holds, whole or as an f-string."""
    nodes = list(ast.walk(tree))
    whole = {str(node.value) for node in nodes if isinstance(node, ast.Constant) and node.value in ENGLISH}
    made = {
        key for node in nodes if isinstance(node, ast.JoinedStr) for key in filter(_pattern(node).fullmatch, ENGLISH)
    }
    return frozenset(whole | made)


def test_no_key_is_in_two_catalogues() -> None:
    """No two owners name a sentence alike, so that a key in a test means one sentence."""
    catalogues = (
        wording.ENGLISH,
        policy_wording.ENGLISH,
        process_wording.ENGLISH,
        client_wording.ENGLISH,
        *OWNERS.values(),
    )

    assert len(ENGLISH) == sum(map(len, catalogues))


def test_no_sentence_of_the_core_is_of_one_platform() -> None:
    """The platform keeps it in a catalogue of its own, so that a new platform changes nothing here."""
    assert {"slack", "telegram"} <= OWNERS.keys()
    for name, sentences in OWNERS.items():
        assert [] == [key for key in wording.ENGLISH if name in key.split(".")]
        assert [] == [key for key in sentences if name not in key.split(".")]


def test_an_owner_joins_the_catalogue_with_sentences_of_its_own_alone() -> None:
    """Another language says a joined sentence in English until it has its own; no owner takes another's sentence."""
    english, german = Wording("en", {"a.b": "one {x}"}), Wording("de", {})
    with pytest.raises(ValueError, match=r"a\.b"):
        english.join({"a.b": "two"})
    english.join({"c.d": ""})
    german.join({"why.floor": "Bretter"})

    assert ("one 1", "", "Bretter") == (english.say("a.b", x=1), english.say("c.d"), german.say("why.floor"))
    assert say("why.off") == german.say("why.off")


#: The parts of the core that say something: cards, and the policy engine about documents, to operators.
SAYING = ("hitl/cards", "hitl/policy")
#: The parts of the policy engine that make verdicts. A verdict holds facts.
JUDGING = ("hitl/policy/engine.py", "hitl/policy/risk.py", "hitl/policy/vouching.py", "hitl/policy/index.py")


def test_the_core_says_no_sentence() -> None:
    """It returns and stores facts. Whoever shows them makes the sentences, in the language of the reader."""
    core = {path.relative_to(ROOT).as_posix(): trees()[path] for path in SOURCES if ROOT / "hitl" in path.parents}
    saying = {name for name, tree in core.items() if any(True for _ in _calls(tree))}

    assert set() == {name for name in saying if not name.startswith(SAYING) or name in JUDGING}
    assert JUDGING == tuple(name for name in JUDGING if name in core)


def test_every_key_that_is_said_exists() -> None:
    """A key without a sentence would be an error in front of people."""
    assert [] == [said.place for said in sayings() if said.keys - set(ENGLISH)]


def test_every_text_that_looks_like_a_key_is_one() -> None:
    """Keys are handed about in tables and as arguments too: each of them exists."""
    groups = "|".join({key.partition(".")[0] for key in ENGLISH})
    looks_like_a_key = re.compile(rf"(?:{groups})(?:\.[a-z_]+)+")
    wrong = [
        (path.name, node.value)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and looks_like_a_key.fullmatch(node.value)
        if node.value not in ENGLISH
    ]

    assert [] == wrong


def test_every_sentence_is_said_somewhere() -> None:
    """Nobody translates what nobody reads."""
    spoken: set[str] = set()
    for path, tree in trees().items():
        if path.name not in {"wording.py", "german.py"}:
            spoken |= _mentioned(tree)

    assert set() == set(ENGLISH) - spoken


def test_every_sentence_gets_its_facts() -> None:
    """Wherever the facts can be read off the source, they are those that the template wants, and no others."""
    wrong = [
        (said.place, key)
        for said in sayings()
        for key in said.keys
        if said.facts is not None and not fields(ENGLISH[key]) <= said.facts
    ]

    assert [] == wrong


def test_no_fact_is_given_for_nothing() -> None:
    """A fact that none of the sentences wants is a mistake in one of the two."""
    wrong = [
        (said.place, said.facts)
        for said in sayings()
        if said.facts and said.keys and not said.facts <= {name for key in said.keys for name in fields(ENGLISH[key])}
    ]

    assert [] == wrong


@pytest.mark.parametrize("status", Status)
def test_every_status_has_a_sentence_for_people_and_one_for_agents(status: Status) -> None:
    """They are found by the status' name."""
    assert {f"outcome.{status}", f"agent.{status}"} <= set(ENGLISH)


def test_a_missing_fact_or_key_is_an_error() -> None:
    """A bug is seen in a test, not papered over with an empty place."""
    with pytest.raises(KeyError):
        say("card.how.critical")
    with pytest.raises(KeyError):
        say("no.such.key")


def test_facts_are_put_in_as_they_are() -> None:
    """Braces in what somebody wrote are no places to fill."""
    assert "yes {0} {short} because" in say("answer.reason_needed", short="{0} {short}")


#: Sentences whose number is never one: a text that is there several times.
SEVERAL = frozenset({"edit.several"})


def test_a_number_before_a_plural_has_words_for_one_too() -> None:
    """No person reads "1 requests": the template says both (`{count:request|requests}`). Limits are never one."""
    bare = re.compile(r"\{(\w+)(?::,)?\} (?:more |open |pending )?[a-z]{3,}s\b")
    numbers = {
        "count",
        "size",
        "lines",
        "calls",
        "requests",
        "open",
        "erased",
        "archived",
        "seconds",
        "wait",
        "minutes",
    }
    numbers |= {"people", "judged", "shifted", "approved", "times"}
    found = {key: {each[1] for each in bare.finditer(text)} & numbers for key, text in SERVICE.items()}

    assert set() == {key for key, names in found.items() if names} - SEVERAL


@pytest.mark.parametrize(("count", "told"), [(0, "0 bytes"), (1, "1 byte"), (2, "2 bytes"), (1234, "1,234 bytes")])
def test_a_number_is_said_with_the_words_that_it_takes(count: int, told: str) -> None:
    """In the singular for one, else in the plural, with a mark between thousands."""
    assert told == say("count.bytes", count=count)


def test_every_risk_has_a_sign() -> None:
    """And no two share one."""
    assert set(Risk) == set(SIGNS)
    assert len(SIGNS) == len(set(SIGNS.values()))


def test_no_test_quotes_a_sentence_of_the_catalogue() -> None:
    """Tests name a sentence by its key or fact (`tests.sentences`), so that a new wording changes the catalogue alone.

    A quote is a run of `QUOTE` characters that a string constant shares with the fixed text of a sentence.
    """
    sentences = runs_of_sentences()
    skipped = {ROOT / "tests" / name for name in QUOTING}
    quotes = [
        (str(path.relative_to(ROOT)), line, sentences[run])
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path not in skipped
        for line, text in constants(path)
        if (run := next(filter(sentences.__contains__, runs_of(text)), None))
    ]

    assert [] == quotes


@pytest.mark.parametrize(
    "refusal",
    [Refusal.PEER, Refusal.REQUESTER, Refusal.SCOPE, Refusal.ORIGIN, Refusal.ROUTE, Refusal.BEHALF],
)
def test_a_refusal_for_missing_rights_names_who_can_give_them(refusal: Refusal) -> None:
    """An operator can. An agent may read the sentence too, so it doesn't tell the reader to do it."""
    told = ENGLISH[refusal]

    assert "operator" in told.partition("Nothing was ")[2]


@pytest.mark.parametrize(
    "quote",
    [
        "Bots can't DECIDE. Nothing was decided.",
        "you, so\nSOMEBODY else must  approve it",
        r"Silence\ is\ no\ answer\ by\ a\ person\.",
        "isn't bound to the conversation",
    ],
)
def test_a_quote_is_seen_in_any_case_across_line_breaks_and_in_patterns(quote: str) -> None:
    """Blanks, capitals and the backslashes of a regular expression hide no sentence, and a part of one is a quote."""
    assert runs_of_sentences().keys() & set(runs_of(quote))


def runs_of_sentences() -> dict[str, str]:
    """Each run in the fixed text of a sentence, with the key of that sentence."""
    return {
        run: key
        for key, template in ENGLISH.items()
        for text, *_ in string.Formatter().parse(template)
        for run in runs_of(text.strip(string.whitespace + string.punctuation))
    }


def runs_of(text: str) -> Iterator[str]:
    """Each run of `QUOTE` characters in a text, in lower case, with single blanks and without backslashes."""
    plain = " ".join(text.replace("\\", "").split()).casefold()
    return (plain[start : start + QUOTE] for start in range(len(plain) - QUOTE + 1))


def constants(path: Path) -> Iterator[tuple[int, str]]:
    """The line and text of each string constant in a file, except for docstrings; f-strings give their fixed parts."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    docstrings = {node.value for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and node not in docstrings:
            if isinstance(node.value, str):
                yield node.lineno, node.value
            elif isinstance(node.value, bytes):
                yield node.lineno, node.value.decode(errors="replace")


def every_error(root: type[SaysoError] = SaysoError) -> list[type[SaysoError]]:
    """The tree, flat. An adapter's error is in it once its module is imported, as `FolderInUse` is here."""
    assert issubclass(FolderInUse, SaysoError)
    return [root, *(error for child in root.__subclasses__() for error in every_error(child))]


@pytest.mark.parametrize("error", every_error())
def test_every_error_has_a_sentence_a_code_and_a_status(error: type[SaysoError]) -> None:
    """Its docstring is what people read where nothing better is known."""
    assert error().message == str(error())
    assert error().message.endswith(".")
    assert 400 <= error.status <= 503


def test_error_codes_are_stable_and_of_one_error_each() -> None:
    """Programs rely on them."""
    codes = [error.code for error in every_error()]

    assert len(codes) == len(set(codes))
    assert {
        "HITL_001": 400,
        "CALL_DENIED": 403,
        "NOT_APPROVER": 403,
        "CALL_UNKNOWN": 404,
        "EXEC_TIMEOUT": 408,
        "ALREADY_DECIDED": 409,
        "STILL_PENDING": 409,
        "KEY_CONFLICT": 409,
        "CONF_EXPIRED": 410,
        "POLICY_INVALID": 422,
        "TOO_MANY_PENDING": 429,
        "OUTCOME_UNKNOWN": 500,
        "TAMPERED": 500,
        "STATE_IN_USE": 503,
        "UNAVAILABLE": 503,
    }.items() <= {error.code: error.status for error in every_error()}.items()
