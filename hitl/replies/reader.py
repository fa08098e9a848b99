"""Reads a reply: first whose words they are, then in which language they make an answer."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from hitl.replies import lexicon, unmeasured
from hitl.replies.automaton import Match
from hitl.replies.emoji import Sign
from hitl.replies.explain import why_unclear
from hitl.replies.formatting import marked, without_quotes
from hitl.replies.model import ALL, Reading, Span, Verdict
from hitl.replies.normalise import own_words
from hitl.replies.parse import NOWHERE, Parse
from hitl.replies.reasons import reason_start, verbatim
from hitl.replies.roles import (
    ALL_OF_THEM,
    AND,
    BECAUSE,
    BEFORE_NO,
    CONDITION,
    FAULT,
    HEDGE,
    LATER,
    NO,
    NO_OPEN,
    POLITE,
    QUESTION,
    REASON_START,
    REFUSES,
    UNCLEAR,
    YES,
)
from hitl.replies.scripts import scripts
from hitl.replies.spelling import fold
from hitl.replies.targets import is_ref
from hitl.replies.tokens import Kind, Token, tokenise

_FIRST = "en"
_DIFFERS = "means yes in one language and no in another"
_PLAIN = frozenset({Kind.WORD, Kind.BREAK, Kind.MENTION, Kind.TARGET})
_MAY_FOLLOW_NO = REASON_START | BECAUSE | POLITE | REFUSES
_SAYS_SOMETHING = YES | REFUSES | CONDITION | QUESTION | LATER | HEDGE
_YES_AFTER_ALL = POLITE | CONDITION | HEDGE | BEFORE_NO | LATER


#: What programs write for a missing number; folded, it would be a French no.
_NOT_A_NUMBER = "NaN"


def read(
    text: str, *, known_refs: Collection[str] = (), language: str | None = None, spans: Sequence[Span] = ()
) -> list[Reading]:
    """Read a person's reply to a card: one reading, or one for each answer if it gives several with their targets.

    `known_refs` are the refs that are open, so that one without a digit is known as a ref. `language` is the
    conversation's language (BCP 47); it settles words that mean yes in one language and no in another. `spans` are the
    formatted stretches of the text: words under one that is struck, hidden, code or a link never decide, a mention
    makes a yes unclear, and quoted words are set aside. Never raises.
    """
    if text.strip() == _NOT_A_NUMBER:
        return [_unclear("a program's word, not a person's")]
    own = without_quotes(text, spans)
    message = own_words(own)
    tokens, mentions = marked(tokenise(message.text, frozenset(map(fold, known_refs))), text, spans)
    readings = [_unclear(message.trick)] if message.trick else _understood(tokens, language, text)
    if not tokens and (message.quoted or own != text):
        return [_unclear("quotation")]
    if message.signature and _decides(message.signature):
        return [_unclear("words in the signature")]
    if mentions and any(reading.verdict is Verdict.APPROVE for reading in readings):
        return [_unclear("said to another")]
    return readings


def verdict(readings: Sequence[Reading]) -> Reading:
    """Give the message as a whole: its only reading, or unclear if it holds none or several answers."""
    if len(readings) == 1:
        return readings[0]
    return _unclear("two answers" if readings else "nothing said")


def _unclear(why: str) -> Reading:
    return Reading(Verdict.UNCLEAR, why=why)


def _decides(signature: str) -> bool:
    tokens = tokenise(signature)
    parses = [Parse(tokens, lexicon.load(code)) for code in _languages(tokens)]
    return any(parse.longest(at)[1] & _SAYS_SOMETHING for parse in parses for at in range(len(tokens)))


def _scripts(tokens: list[Token]) -> set[str]:
    found = {script for token in tokens if token.kind is Kind.WORD for script in scripts(token.text)}
    return found - {"Han"} if "Kana" in found else found


def _languages(tokens: list[Token]) -> list[str]:
    return lexicon.closest((token.text for token in tokens if token.kind is Kind.WORD), sorted(_scripts(tokens)))


def _understood(tokens: list[Token], language: str | None, text: str) -> list[Reading]:
    """Read the message in the conversation's language or English if they know all its words, else in the closest.

    Only languages that know every word can differ on an approval: of those that know some, the first is asked alone.
    """
    texts = [token.text for token in tokens if token.kind is Kind.WORD]
    if _spelled_out(texts):
        return [_unclear("spelled out")]
    own = language.replace("_", "-").partition("-")[0].casefold() if language else ""
    words = len(texts)
    for code in (own, _FIRST) if own and own in lexicon.all_codes() else (_FIRST,):
        parse = Parse(tokens, lexicon.load(code))
        if parse.known() == words and (code == own or not _contested(parse)):
            readings = _answers(parse, text)
            if _tells(readings) or code == _FIRST:
                return readings
    codes = _languages(tokens) or [_FIRST]
    first, *others = [own] if own in codes else codes
    if first != parse.language.code:
        parse = Parse(tokens, lexicon.load(first))
    whole = parse.known() == words
    parses = [parse, *(Parse(tokens, lexicon.load(code)) for code in others if whole)]
    readings = _agreed(parses, text)
    return _with_unmeasured(tokens, own, readings, whole=whole)


def _spelled_out(words: list[str]) -> bool:
    return len(words) > 1 and max(map(len, words)) == 1 and "".join(words).isascii() and len(set(words)) > 1


def _contested(parse: Parse) -> bool:
    """Tell whether a language knows a word of the message that says yes here and something else there."""
    return not lexicon.homographs().isdisjoint(parse.words)


def _with_unmeasured(tokens: list[Token], own: str, readings: list[Reading], *, whole: bool) -> list[Reading]:
    """Let the languages of which only phrases are known speak: alone, or against what a measured one says."""
    words = [token.text for token in tokens if token.kind is Kind.WORD]
    found = unmeasured.signs([word for word in words if word not in lexicon.polite_anywhere()] or words)
    if not found:
        return readings
    said = {found[own]} if own in found else set(found.values())
    if len(said) > 1 or (_tells(readings) and readings[0].verdict not in said and own not in found):
        return [_unclear(_DIFFERS)]
    if ((_tells(readings) or whole) and own not in found) or not all(token.kind in _PLAIN for token in tokens):
        return readings
    targets = [token.text for token in tokens if token.kind is Kind.TARGET]
    code = own if own in found else min(found)
    return [Reading(said.pop(), target=targets[0] if targets else None, why=f"unmeasured language: {code}")]


def _agreed(parses: list[Parse], text: str) -> list[Reading]:
    """Settle what the languages that know all the words say: the first speaks for all unless they differ."""
    answers = [_answers(parse, text) for parse in parses]
    telling = [readings for readings in answers if _tells(readings)]
    if not telling:
        return answers[0]
    verdicts = {reading.verdict for readings in telling for reading in readings[:1]}
    others = [parse for parse, readings in zip(parses, answers, strict=True) if not _tells(readings)]
    doubted = any(map(_refuses, others)) or (any(map(_contested, parses)) and not all(map(_agrees, others)))
    refused = Verdict.APPROVE in verdicts and doubted
    return [_unclear(_DIFFERS)] if len(verdicts) > 1 or refused else telling[0]


def _refuses(parse: Parse) -> bool:
    """Tell whether a language finds a no in a message, or an idiom that answers nothing and no yes."""
    return _holds(parse, REFUSES) or parse.holds_idiom() or (_holds(parse, UNCLEAR) and not _agrees(parse))


def _agrees(parse: Parse) -> bool:
    return _holds(parse, YES)


def _holds(parse: Parse, roles: int) -> bool:
    at = 0
    while at < len(parse.tokens):
        end, found = parse.longest(at)
        if found & roles:
            return True
        at = max(end, at + 1)
    return False


def _tells(readings: list[Reading]) -> bool:
    return all(reading.verdict is not Verdict.UNCLEAR for reading in readings)


def _answers(parse: Parse, text: str) -> list[Reading]:
    """Read one answer, or several that each name their target."""
    cuts = parse.cuts() if len(parse.targets(0, len(parse.tokens))) > 1 else [0]
    if len(cuts) > 1:
        several = _several(parse, text, cuts)
        if several:
            return several
    return [_answer(parse, text)]


def _several(parse: Parse, text: str, cuts: list[int]) -> list[Reading]:
    readings: list[Reading] = []
    for start, end in zip(cuts, [*cuts[1:], len(parse.tokens)], strict=True):
        part = Parse(_without_and(parse, start, end), parse.language)
        reading = _answer(part, text[: parse.tokens[end - 1].end])
        if readings and reading.verdict is Verdict.UNCLEAR and all(map(part.is_target, range(len(part.tokens)))):
            reading = replace(readings[-1], target=part.tokens[0].text)
        if reading.verdict is Verdict.UNCLEAR or reading.target is None:
            return []
        readings.append(reading)
    return readings


def _without_and(parse: Parse, start: int, end: int) -> list[Token]:
    tokens = parse.tokens[start:end]
    while tokens and (tokens[-1].kind is Kind.BREAK or parse.longest(start + len(tokens) - 1)[1] & AND):
        tokens = tokens[:-1]
    return tokens


def _answer(parse: Parse, text: str) -> Reading:
    asks = Kind.ASKS in parse.kinds
    furthest, yes = parse.covered(0, len(parse.tokens), YES)
    reading = None if asks else _approval(parse, furthest, yes=yes) or _rejection(parse, text)
    return reading or _unclear(why_unclear(parse, furthest))


def _approval(parse: Parse, furthest: int, *, yes: bool) -> Reading | None:
    end = len(parse.tokens)
    everything = furthest < end
    if everything:
        furthest, yes = parse.covered(0, end, YES, ALL_OF_THEM)
    if furthest < end or not yes or _emoji_beside_others(parse) or _asks_another(parse) or parse.holds_idiom():
        return None
    targets = [ALL] * everything + parse.targets(0, end)
    if len(targets) > 1:
        return _unclear("two answers")
    return Reading(Verdict.APPROVE, target=targets[0] if targets else None)


def _asks_another(parse: Parse) -> bool:
    """Tell whether it speaks to several people, or may ask the one whom it mentions to decide."""
    if Kind.MENTION not in parse.kinds:
        return False
    several = sum(token.kind is Kind.MENTION for token in parse.tokens) > 1
    return several or any(token.text in lexicon.asking() for token in parse.tokens)


def _emoji_beside_others(parse: Parse) -> bool:
    """Tell whether an emoji alone stands beside what may be another's: "!", or what only looks like an id."""
    if not parse.wordless:
        return False
    breaks = [i for i, token in enumerate(parse.tokens) if token.kind is Kind.BREAK and token.text.strip()]
    apart = any(i == 0 or parse.tokens[i].start > parse.tokens[i - 1].end for i in breaks)
    return apart or any(parse.is_target(at) and not _is_ref(token) for at, token in enumerate(parse.tokens))


def _is_ref(token: Token) -> bool:
    return token.end - token.start > len(token.text) or is_ref(token.text)


def _rejection(parse: Parse, text: str) -> Reading | None:
    start = _head(parse)
    if start == NOWHERE:
        return None
    after, roles = _head_end(parse, start)
    end = len(parse.tokens)
    if after < end and _glued(parse, after):
        return None
    runs_on = after < end and parse.tokens[after].kind is Kind.WORD
    if _contradicted(parse, _clause_end(parse, after) if runs_on and roles & NO_OPEN else after):
        return _unclear("yes and no")
    if runs_on and not roles & NO_OPEN and not _may_follow(parse, after):
        return None
    reason_at = reason_start(parse, after)
    return Reading(Verdict.REJECT, _reason(parse, text, start, after, reason_at), _target(parse, max(reason_at, after)))


def _glued(parse: Parse, at: int) -> bool:
    """Tell whether a sign that is no stop sticks to the no: "no=yes", "n°"."""
    return at > 0 and parse.tokens[at].kind is Kind.OTHER and parse.tokens[at].start == parse.tokens[at - 1].end


def _head(parse: Parse) -> int:
    """Give the token at which a no begins, after nothing but politeness; NOWHERE if something else comes first."""
    at = 0
    while at < len(parse.tokens):
        token = parse.tokens[at]
        end, roles = parse.longest(at)
        if token.sign is Sign.NO or roles & (REFUSES):
            return at
        if token.kind in {Kind.BREAK, Kind.MENTION} or parse.is_target(at):
            at += 1
        elif roles & (POLITE | BEFORE_NO) and not roles & YES:
            at = end
        else:
            return NOWHERE
    return NOWHERE


def _head_end(parse: Parse, at: int) -> tuple[int, int]:
    if parse.tokens[at].kind is Kind.EMOJI:
        return at + 1, NO | NO_OPEN
    any_role = 0
    for _, roles in parse.phrases(at):
        any_role |= roles & NO_OPEN
    end, roles = _before_fault(parse, at)
    return end, roles | any_role


def _before_fault(parse: Parse, at: int) -> Match:
    """Give the longest no at a token, or the shorter one that a fault follows: "stop" of "stop this is wrong"."""
    longest = parse.longest(at)
    for match in parse.phrases(at)[:-1]:
        end, roles = parse.longest(match[0]) if match[0] < len(parse.tokens) else match
        if match[1] & REFUSES and roles & FAULT and end > longest[0]:
            return match
    return longest


def _clause_end(parse: Parse, at: int) -> int:
    return next((i for i in range(at, len(parse.tokens)) if parse.tokens[i].kind is Kind.BREAK), len(parse.tokens))


def _may_follow(parse: Parse, at: int) -> bool:
    """Tell whether a reason, or more of the no, can begin at a word that follows it without a stop."""
    end, roles = parse.longest(at)
    closes = end == len(parse.tokens) or parse.tokens[end].kind is not Kind.WORD
    return bool(roles & _MAY_FOLLOW_NO or (roles & ALL_OF_THEM and closes))


def _contradicted(parse: Parse, at: int) -> bool:
    """Tell whether a yes stands anywhere beside the no: an emoji, or a whole clause."""
    if Kind.EMOJI in parse.kinds and any(token.sign is Sign.YES for token in parse.tokens):
        return True
    breaks = [i for i in range(at, len(parse.tokens)) if parse.tokens[i].kind is Kind.BREAK]
    edges = [at - 1, *breaks, len(parse.tokens)]
    return any(_is_yes(parse, left + 1, right) for left, right in pairwise(edges))


def _is_yes(parse: Parse, start: int, end: int) -> bool:
    furthest, yes = parse.covered(start, end, YES, _YES_AFTER_ALL)
    return yes and furthest == end


def _reason(parse: Parse, text: str, start: int, after: int, reason_at: int) -> str | None:
    end = len(parse.tokens)
    joined = any(parse.role_ends(at, BECAUSE) != NOWHERE for at in range(after, reason_at))
    if not joined and parse.covered(start, end, NO, BEFORE_NO | ALL_OF_THEM)[0] == end:
        return None
    roles = parse.longest(start)[1]
    sentence = roles & FAULT or (roles & NO_OPEN and after < end and parse.tokens[after].kind is Kind.WORD)
    return verbatim(parse, text, start if sentence else reason_at)


def _target(parse: Parse, end: int) -> str | None:
    named = parse.targets(0, end)
    if named:
        return named[0]
    everything = any(parse.longest(at)[1] & ALL_OF_THEM for at in range(min(end, len(parse.tokens))))
    return ALL if everything else None
