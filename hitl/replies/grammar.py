"""Reads a message in one language: as an approval, as a rejection with its reason, or as unclear."""

from itertools import pairwise

from hitl.outcomes import Doubt
from hitl.records import replace
from hitl.replies.automaton import Match
from hitl.replies.emoji import Sign
from hitl.replies.explain import unanswered
from hitl.replies.model import ALL, Meaning, Reading, unclear
from hitl.replies.no_answers import CLOSES, adds_no_answer, asks_back, holds_idiom, is_idiom, only_agrees
from hitl.replies.parse import COLONS, COMMAS, NOWHERE, Parse
from hitl.replies.phrase_roles import (
    ALL_OF_THEM,
    AND,
    BECAUSE,
    BEFORE_NO,
    CONDITION,
    CORRECTS,
    FAULT,
    HEDGE,
    LATER,
    NO,
    NO_OPEN,
    OPENS,
    POLITE,
    QUESTION,
    REASON_START,
    REFUSES,
    REMARK,
    TAKES_BACK,
    THEREFORE,
    TURN,
    UNCLEAR,
    YES,
)
from hitl.replies.reasons import reason_start, verbatim
from hitl.replies.scripts import scripts
from hitl.replies.spelling import fold
from hitl.replies.targets import is_ref
from hitl.replies.tokens import ASKS, BREAK, EMOJI, MENTION, NUMBER, OTHER, TARGET, WORD, Token

_MAY_FOLLOW_NO = REASON_START | BECAUSE | POLITE | REFUSES
_YES_AFTER_ALL = REMARK | OPENS | POLITE | CONDITION | HEDGE | BEFORE_NO | LATER
#: The bot's own name. If the bot has another handle on a platform, the platform's adapter removes that handle first.
_US = "sayso"
#: Between words, these signs mean a choice: "approve/reject", "yes|no".
_OFFERS = frozenset("/|")
#: Words that leave a no open: "so not yet".
_UNDECIDED = LATER | UNCLEAR | CONDITION | HEDGE
#: The most clauses, or words for "so" and "wait", that are tried in a message, so that a long message takes no longer.
_MOST_TRIES = 3
#: The most tokens of a message in which two parts that each say yes ("yes, go ahead") are looked for.
_LONGEST_TWICE = 20
#: The most tokens of a clause that rejects without a reason: "please don't send that email to them".
_LONGEST_NO = 7
#: The fewest tokens of a reason before its no. Fewer tokens may be a yes in a language that we don't know.
_SHORTEST_REASON = 3
#: The fewest tokens of a no that may follow its reason: "don't send it".
_SHORTEST_ORDER = 2
#: The last syllables of a Korean sentence. A word after one of them begins another sentence.
_ENDS_A_SENTENCE = frozenset("요다오죠")
_SPACELESS = frozenset({"Han", "Kana", "Thai"})
_WORDS_ALONE = frozenset({WORD})
_TURNS = THEREFORE | TAKES_BACK
_CONNECTS = THEREFORE | AND | BECAUSE
_BEFORE_HEAD = frozenset({BREAK, MENTION, TARGET})
_MAY_PRECEDE = POLITE | BEFORE_NO | TURN | CORRECTS | THEREFORE
_OPENING_BRACKETS = frozenset("([")
_NOT_ACROSS = REFUSES | QUESTION | CONDITION | HEDGE | AND | TURN | CORRECTS | TAKES_BACK
_APPROVED = Reading(Meaning.APPROVE)


def answers(parse: Parse, text: str) -> list[Reading]:
    """Return the readings of a message in one language: one, or several if each part of the message names a call."""
    if TARGET in parse.kinds and len(parse.targets(0, len(parse.tokens))) > 1:
        cuts = parse.cuts()
        several = _several(parse, text, cuts) if len(cuts) > 1 else []
        if several:
            return several
    return [_answer(parse, text)]


def _several(parse: Parse, text: str, cuts: list[int]) -> list[Reading]:
    """Return the readings of the parts of a message, or [] if one part isn't understood or names no call.

    A ref without an answer takes the answer before it: "yes K7Q2MX, 3F2A9C". After "K7Q2MX yes, 3F2A9C" its answer may
    still follow, so this isn't understood.
    """
    readings: list[Reading] = []
    answer_first = False
    for start, end in zip(cuts, [*cuts[1:], len(parse.tokens)], strict=True):
        part = Parse(_without_and(parse, start, end), parse.language)
        reading = _answer(part, text[: parse.tokens[end - 1].end])
        if not all(map(part.is_target, range(len(part.tokens)))):
            answer_first = not part.is_target(0)
        elif answer_first and readings and reading.verdict is Meaning.UNCLEAR:
            reading = replace(readings[-1], target=part.tokens[0].text)
        if reading.verdict is Meaning.UNCLEAR or reading.target is None:
            return []
        readings.append(reading)
    return readings


def _without_and(parse: Parse, start: int, end: int) -> list[Token]:
    tokens = parse.tokens[start:end]
    while tokens and (tokens[-1].kind is BREAK or parse.longest(start + len(tokens) - 1)[1] & AND):
        tokens = tokens[:-1]
    return tokens


def _answer(parse: Parse, text: str) -> Reading:
    if ASKS in parse.kinds:
        return unclear(Doubt.QUESTION)
    furthest, yes = parse.covered(0, len(parse.tokens), YES)
    reading = approval(parse, furthest, yes=yes) or _after_turn(parse) or _rejection(parse, text)
    return reading or _late_no(parse, text) or _across_commas(parse, furthest) or unanswered(parse, furthest)


def _across_commas(parse: Parse, furthest: int) -> Reading | None:
    """Return the approval of a yes with a comma or a line break inside a phrase: "yes, this is good, for now".

    The words without these signs must approve. `furthest` is the token that phrases reach.

    Return None if the words don't approve, or if phrases cover the whole message already. Also return None if the
    message holds a no, a question, a condition, a hedge, an "and" or a phrase that is no answer. A comma may separate
    such words from others that change their meaning: "no, need to wait, go ahead".
    """
    if furthest == len(parse.tokens) or BREAK not in parse.kinds or parse.holds(_NOT_ACROSS):
        return None
    tokens = [token for token in parse.tokens if token.text not in COMMAS]
    if len(tokens) == len(parse.tokens):
        return None
    if any(roles & UNCLEAR and not roles & POLITE for _, roles in map(parse.longest, range(len(parse.tokens)))):
        return None
    joined = Parse(tokens, parse.language)
    furthest, yes = joined.covered(0, len(tokens), YES)
    reading = approval(joined, furthest, yes=yes)
    return reading if reading and reading.verdict is Meaning.APPROVE else None


def _late_no(parse: Parse, text: str) -> Reading | None:
    """Read a no at the end of a message: after its reason ("it is live, so no", "it is live, don't send it"), or after
    a yes that the person takes back ("yes - wait, no"). Return None if there is no such no.
    """
    ends: list[tuple[int, int, int]] = []
    stops: list[int] = []
    for at in range(1, len(parse.tokens)):
        for end, roles in parse.phrases(at):
            if roles & _TURNS:
                ends.append((at, end, roles))
        if at > _SHORTEST_REASON and parse.tokens[at - 1].kind is BREAK:
            stops.append(at)
    for at, end, _ in [place for place in ends if place[2] & TAKES_BACK][:_MOST_TRIES]:
        if _is_yes(parse, 0, at):
            reading = _rejection(Parse(parse.tokens[end:], parse.language), text)
            return reading if reading and reading.verdict is Meaning.REJECT else None
    behind = [(at, end) for at, end, roles in ends if roles & THEREFORE][-_MOST_TRIES:]
    behind += [(at, at) for at in stops[-_MOST_TRIES:] if _orders_a_stop(parse, at)]
    return next((reading for at, end in behind if (reading := _concluded(parse, text, at, end))), None)


def _orders_a_stop(parse: Parse, at: int) -> bool:
    """Return whether the rest of a message is a no of several words, and the words before hold no doubt.

    A single word such as "no" may be a tag: "that's fine, no".
    """
    end, roles = parse.longest(at)
    if end < at + _SHORTEST_ORDER or roles & (REFUSES | FAULT) != NO or roles & UNCLEAR:
        return False
    return not any(parse.longest(i)[1] & (_UNDECIDED | QUESTION | YES | TURN | TAKES_BACK) for i in range(at))


def _concluded(parse: Parse, text: str, at: int, end: int) -> Reading | None:
    """Read a no whose reason comes first. The word for "so" is between the tokens `at` and `end`.

    Return None if more than a no follows, or if the words before are a yes or a doubt.
    """
    last = len(parse.tokens)
    if end == last or parse.covered(end, last, NO) != (last, True) or _contradicted(parse, end):
        return None
    if parse.longest(0)[1] & QUESTION or _is_yes(parse, 0, at):
        return None
    if any(parse.longest(i)[1] & _UNDECIDED for i in range(end, last)):
        return None
    stop = at
    while stop and parse.tokens[stop - 1].kind is BREAK:
        stop -= 1
    if stop < _SHORTEST_REASON - 1:
        return None
    return Reading(Meaning.REJECT, text[parse.tokens[0].start : parse.tokens[stop - 1].end].strip())


def _after_turn(parse: Parse) -> Reading | None:
    """Return the reading of a message that begins with a change of mind.

    The reading is an approval ("I changed my mind, I accept"), or unclear if the words after the change of mind hold a
    doubt. After a no that is corrected, a yes must be said twice: "no wait, yes, do it". Return None for other
    messages.
    """
    end = parse.role_ends(0, TURN | CORRECTS) if parse.tokens else NOWHERE
    if end in {NOWHERE, len(parse.tokens)}:
        return None
    rest = Parse(parse.tokens[end:], parse.language)
    if rest.wordless or CLOSES.issuperset(token.text for token in rest.tokens if token.kind is WORD):
        return None
    furthest, yes = rest.covered(0, len(rest.tokens), YES)
    doubt = any(rest.longest(at)[1] & (LATER | HEDGE) for at in range(len(rest.tokens)))
    if doubt or (parse.longest(0)[1] & CORRECTS and not _twice_yes(rest)):
        return unanswered(parse, 0)
    return approval(rest, furthest, yes=yes)


def _twice_yes(parse: Parse) -> bool:
    """Return whether the message consists of two parts that each say yes."""
    end = parse.end()
    cuts = range(1, end if end <= _LONGEST_TWICE else 1)
    return any(parse.covered(0, at, YES) == (at, True) and parse.covered(at, end, YES) == (end, True) for at in cuts)


def approval(parse: Parse, furthest: int, *, yes: bool) -> Reading | None:
    """Return the reading of a message that says yes: an approval, or unclear for a doubtful yes.

    Return None without a yes. `furthest` and `yes` are the result of `Parse.covered` for the whole message.
    """
    end = len(parse.tokens)
    everything = furthest < end
    if everything and parse.met() & ALL_OF_THEM:
        furthest, yes = parse.covered(0, end, YES, ALL_OF_THEM)
    if furthest < end or not yes:
        return None
    if end > 1:
        if asks_back(parse):
            return unclear(Doubt.QUESTION)
        if adds_no_answer(parse) or only_agrees(parse):
            return None
    if parse.kinds == _WORDS_ALONE:
        return Reading(Meaning.APPROVE, target=ALL) if everything else _APPROVED
    return _approval_beside_signs(parse, everything=everything)


def _approval_beside_signs(parse: Parse, *, everything: bool) -> Reading | None:
    """Return the reading of a yes whose message also has signs, emoji, mentions or refs.

    Return None if the message isn't a yes. `everything` says that the message means all calls, as in "yes to all".
    """
    signs = {token.text for token in parse.tokens if token.kind is BREAK} if BREAK in parse.kinds else set()
    if signs and holds_idiom(parse):
        return None
    if _asks_another(parse):
        return unclear(Doubt.SOMEBODY)
    if doubt := _doubt_of_signs(parse, signs):
        return unclear(doubt)
    if _emoji_beside_others(parse) or (not signs.isdisjoint(_OPENING_BRACKETS) and _calls(parse)):
        return None
    targets = [ALL] * everything + parse.targets(0, len(parse.tokens))
    if len(targets) > 1:
        return unclear(Doubt.TWO)
    return Reading(Meaning.APPROVE, target=targets[0]) if targets else _APPROVED


def _trails_off(parse: Parse) -> bool:
    """Return whether a comma and only a word that begins another sentence follow the yes: "sí, entonces"."""
    end = parse.end()
    start = next((at + 1 for at in range(end - 1, 0, -1) if parse.tokens[at].text in COMMAS), end)
    if start == end:
        return False
    stop, roles = parse.longest(start)
    return stop == end and bool(roles & _CONNECTS) and not roles & YES


def _calls(parse: Parse) -> bool:
    """Return whether a bracket directly follows a word, as in a function call in code: "run(yes)"."""
    pairs = pairwise(parse.tokens)
    return any(mark.text in _OPENING_BRACKETS and mark.start == word.end and word.kind is WORD for word, mark in pairs)


def _asks_another(parse: Parse) -> bool:
    """Return whether the message mentions anything except the bot: a person, a time or a place ("@6pm")."""
    if MENTION not in parse.kinds:
        return False
    mentions = [token.text for token in parse.tokens if token.kind is MENTION]
    return len(mentions) > 1 or fold(mentions[0]) != f"@{_US}"


def _doubt_of_signs(parse: Parse, signs: set[str]) -> Doubt | None:
    """Return the reason why the punctuation makes a yes doubtful, or None. `signs` holds the punctuation.

    A yes is doubtful in a transcript, in a message that offers a choice, and before the beginning of another sentence.
    """
    if not signs.isdisjoint(COLONS) and _is_transcript(parse):
        return Doubt.SPEAKER
    if not signs.isdisjoint(_OFFERS):
        return Doubt.CHOICE
    return Doubt.UNFINISHED if _trails_off(parse) else None


def _is_transcript(parse: Parse) -> bool:
    """Return whether the message is a line of a transcript, with a speaker's name before a colon: "bot: yes".

    The message isn't a transcript if one of these is before the colon: the bot's name, which addresses the bot; a yes;
    or a ref, which names the call.
    """
    texts = [token.text for token in parse.tokens]
    colon = next((at for at, text in enumerate(texts) if text in COLONS), 0)
    name = range(colon)
    words = [at for at in name if parse.tokens[at].kind is WORD]
    if not words or texts[words[-1]] == _US or parse.targets(0, colon):
        return False
    return not any(parse.longest(at)[1] & YES for at in name)


def _emoji_beside_others(parse: Parse) -> bool:
    """Return whether a message of emoji also has signs with another meaning: a lone "!", or another system's id.

    A message with words doesn't count.
    """
    if not parse.wordless:
        return False
    breaks = [i for i, token in enumerate(parse.tokens) if token.kind is BREAK and token.text.strip()]
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
    if after < end and (_glued(parse, after) or _numbered(parse, after)):
        return None
    runs_on = _runs_on(parse, after)
    open_clause = runs_on and roles & NO_OPEN and parse.tokens[start].kind is WORD
    if _contradicted(parse, _clause_end(parse, after) if open_clause else after):
        return unclear(Doubt.BOTH)
    if is_idiom(parse) and parse.covered(after, end, NO) != (end, True):
        return None
    if runs_on and not roles & NO_OPEN and not _may_follow(parse, after):
        return None
    reason_at = reason_start(parse, after)
    return Reading(
        Meaning.REJECT, _reason(parse, text, start, after, reason_at), _target(parse, start, max(reason_at, after))
    )


def _runs_on(parse: Parse, at: int) -> bool:
    """Return whether a word directly follows the no, without punctuation between them.

    A blank counts as punctuation in scripts that put no blanks between words, and after a Korean sentence.
    """
    if at == len(parse.tokens) or parse.tokens[at].kind is not WORD:
        return False
    if parse.tokens[at - 1].text in _ENDS_A_SENTENCE and parse.tokens[at].start > parse.tokens[at - 1].end:
        return False
    return parse.tokens[at].start == parse.tokens[at - 1].end or not scripts(parse.tokens[at].text) <= _SPACELESS


def _glued(parse: Parse, at: int) -> bool:
    """Return whether a sign other than usual punctuation directly follows the no: "no=yes", "n°"."""
    return at > 0 and parse.tokens[at].kind is OTHER and parse.tokens[at].start == parse.tokens[at - 1].end


def _numbered(parse: Parse, at: int) -> bool:
    """Return whether a no seems to name a call by a number: "reject #2", "reject 2", "no. 7". Calls have no numbers.

    If one more word follows, "no. 7" may also be a rank: "No. 1 priority".
    """
    dotted = parse.tokens[at].text == "." and at + 1 < len(parse.tokens)
    at += dotted
    token = parse.tokens[at]
    if token.kind is not NUMBER:
        return token.text.startswith("#")
    return at + 1 + dotted >= parse.end() or parse.role_ends(at + 1, BECAUSE | AND) != NOWHERE


def _head(parse: Parse) -> int:
    """Return the index of the token at which a no begins, or NOWHERE.

    Before the no there may only be polite words, mentions, refs, punctuation, and phrases that introduce a no.
    """
    at = 0
    while at < len(parse.tokens):
        token = parse.tokens[at]
        end, roles = parse.longest(at)
        if (roles & REFUSES and not roles & (UNCLEAR | LATER)) or (token.sign and token.sign is Sign.NO):
            return at
        if token.kind in _BEFORE_HEAD:
            at += 1
        elif roles & _MAY_PRECEDE and not roles & YES:
            at = end
        else:
            return NOWHERE
    return NOWHERE


def _head_end(parse: Parse, at: int) -> tuple[int, int]:
    if parse.tokens[at].kind is EMOJI:
        return at + 1, NO | NO_OPEN
    any_role = 0
    for _, roles in parse.phrases(at):
        any_role |= roles & NO_OPEN
    end, roles = _before_fault(parse, at)
    return end, roles | any_role


def _before_fault(parse: Parse, at: int) -> Match:
    """Return (end, roles) of the longest no at a token.

    But if a shorter no is followed by a complaint, return the shorter no: "stop" in "stop this is wrong".
    """
    longest = parse.longest(at)
    for match in parse.phrases(at)[:-1]:
        end, roles = parse.longest(match[0]) if match[0] < len(parse.tokens) else match
        if match[1] & REFUSES and roles & FAULT and end > longest[0]:
            return match
    return longest


def _clause_end(parse: Parse, at: int) -> int:
    while at < len(parse.tokens) and parse.tokens[at].kind is not BREAK:
        at += 1
    return at


def _may_follow(parse: Parse, at: int) -> bool:
    """Return whether a word directly after the no can begin its reason or be a part of the no."""
    end, roles = parse.longest(at)
    closes = end == len(parse.tokens) or parse.tokens[end].kind is not WORD
    return bool(roles & _MAY_FOLLOW_NO or (roles & ALL_OF_THEM and closes))


def _contradicted(parse: Parse, at: int) -> bool:
    """Return whether the message also holds a yes: an emoji that means yes, or a whole clause after the no."""
    if EMOJI in parse.kinds and any(token.sign is Sign.YES for token in parse.tokens):
        return True
    while at < len(parse.tokens):
        stop = _clause_end(parse, at)
        if at < stop and _is_yes(parse, at, stop):
            return True
        at = stop + 1
    return False


def _is_yes(parse: Parse, start: int, end: int) -> bool:
    furthest, yes = parse.covered(start, end, YES, _YES_AFTER_ALL)
    return yes and furthest == end


def _reason(parse: Parse, text: str, start: int, after: int, reason_at: int) -> str | None:
    end = len(parse.tokens)
    roles = parse.longest(start)[1]
    if after == end and not roles & FAULT:
        return None
    joined = any(parse.role_ends(at, BECAUSE) != NOWHERE for at in range(after, reason_at))
    if after < end and not joined and parse.covered(start, end, NO, BEFORE_NO | ALL_OF_THEM)[0] == end:
        return None
    own_words = _runs_on(parse, after) and parse.role_ends(after, BECAUSE | FAULT) < after
    sentence = roles & FAULT or (roles & NO_OPEN and own_words)
    if not joined and (behind := _behind_the_no(parse, start, after if sentence else reason_at, roles)) != NOWHERE:
        return verbatim(parse, text, behind)
    return verbatim(parse, text, start if sentence else reason_at)


def _behind_the_no(parse: Parse, start: int, at: int, roles: int) -> int:
    """Return the token at which the reason begins if the whole clause before it only says no: "don't pay it, the
    invoice is wrong". Return NOWHERE if there is no such clause.

    A long clause gives a reason itself: "I don't want that email to go out today, Bob". A fault is its own reason.
    """
    end = len(parse.tokens)
    if _clause_end(parse, at) == end:
        return NOWHERE
    order = parse.longest(start)[0] > start + 1 or any(role & NO_OPEN for _, role in parse.phrases(start))
    found = NOWHERE
    for _ in range(_MOST_TRIES):
        stop = _clause_end(parse, at)
        behind = next((i for i in range(stop, end) if parse.tokens[i].kind is not BREAK), end)
        says_no = bool(roles & NO) if stop == at else parse.covered(at, stop, NO, BEFORE_NO) == (stop, True)
        short = order and at < stop <= start + _LONGEST_NO and not roles & FAULT
        more = parse.covered(behind, end, NO, BEFORE_NO | ALL_OF_THEM | LATER)[0] < end
        if behind == end or not (says_no or short) or not more:
            break
        at = found = start = behind
        roles, order = parse.longest(behind)[1], False
        if not roles & NO:
            break
    return found


def _target(parse: Parse, start: int, end: int) -> str | None:
    named = parse.targets(0, end)
    if named:
        return named[0]
    for at in range(min(end, len(parse.tokens))):
        if parse.longest(at)[1] & ALL_OF_THEM and not _inside_a_no(parse, start, at):
            return ALL
    return None


def _inside_a_no(parse: Parse, start: int, at: int) -> bool:
    """Return whether a word that could mean all calls is only a part of the no at `start`, like "all" in "not at all".

    In "reject all" it isn't only a part of the no: "reject" is a no by itself, and "all" is the last word.
    """
    ends = [end for end, roles in parse.phrases(start) if roles & REFUSES]
    return bool(ends) and start < at < ends[-1] and (at not in ends or parse.longest(at)[0] < ends[-1])
