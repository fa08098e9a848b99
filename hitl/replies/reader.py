"""Reads a reply: finds the person's own words, and then a language in which these words are an answer."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from hitl.outcomes import Doubt, fact
from hitl.records import replace
from hitl.replies import lexicon, names, phrase_languages
from hitl.replies.formatting import marked, without_quotes
from hitl.replies.grammar import answers
from hitl.replies.mixed import mixed
from hitl.replies.model import ALL, Meaning, Reading, Span, SpanKind, unclear
from hitl.replies.no_answers import asks_back, holds_idiom
from hitl.replies.normalise import OwnWords, around, own_words, without_closing
from hitl.replies.parse import Parse
from hitl.replies.phrase_roles import ADDRESSES, CONDITION, HEDGE, LATER, QUESTION, REFUSES, REMARK, UNCLEAR, YES
from hitl.replies.scripts import scripts
from hitl.replies.spelling import fold
from hitl.replies.tokens import BREAK, NUMBER, TARGET, WORD, Token, tokenise

_FIRST = "en"
#: Two meanings get their own names here, because Python 3.11 takes ten times as long to look up a member of an enum.
_APPROVE, _UNCLEAR = Meaning.APPROVE, Meaning.UNCLEAR
#: Another code of a language -> the code that the language files use (ISO 639). Platforms still send the older codes.
_SAME_LANGUAGE = {"tl": "fil", "no": "nb", "nn": "nb", "iw": "he", "in": "id"}
_JOINS = frozenset({",", ":", "\u060c", "\uff0c", "\uff1a"})
#: The signs that may separate a no from its reason in another language. A line break may separate them too.
_ENDS_A_NO = _JOINS | frozenset(".!-\u2013\u2014\u3002\uff01")
_COMMAS = frozenset(",\u060c\u3001\uff0c")
#: If a message ends with one of these signs after a yes, more words may follow, and those may be a condition.
_ANNOUNCES = _COMMAS | frozenset(":;-\u2010\u2011\u2012\u2013\u2014\u2015\u061b\uff1a\uff1b")
_PLAIN = frozenset({WORD, BREAK, TARGET})
_IN_A_REASON = _PLAIN | {NUMBER}
_HESITATES = CONDITION | QUESTION | LATER | HEDGE
_SAYS_SOMETHING = YES | REFUSES | CONDITION | QUESTION | LATER | HEDGE


#: The highest number of characters of a text that is read. Chat messages have at most about 4,000 characters.
LONGEST = 5_000
#: Programs write "NaN" for a missing number. In lower case, the reader would take it for a French no.
_NOT_A_NUMBER = "NaN"
_NO_REFS: frozenset[str] = frozenset()


class _Asked(Struct, frozen=True):
    """The arguments of `read`."""

    text: str
    known_refs: frozenset[str]
    language: str | None
    spans: Sequence[Span]


def read(
    text: str, *, known_refs: Collection[str] = (), language: str | None = None, spans: Sequence[Span] = ()
) -> list[Reading]:
    """Return the readings of a reply to a card: one, or several if the reply answers several calls by their refs.

    `known_refs` are the refs of open calls. Such a ref is recognised even if it has no digit. `language` is the
    conversation's language (BCP 47). It decides about words that mean yes in one language and no in another. `spans`
    are the formatted parts of the text. Struck, hidden, code and linked words never decide, quoted words are ignored,
    and a mention makes a yes unclear. Never raises.
    """
    if len(text) > LONGEST:
        return [unclear(Doubt.LONG)]
    if text.strip() == _NOT_A_NUMBER:
        return [unclear(Doubt.PROGRAM)]
    asked = _Asked(text, frozenset(map(fold, known_refs)) if known_refs else _NO_REFS, language, spans)
    plain = without_quotes(text, spans) if spans else text
    message = own_words(plain)
    if plain is not text and around(plain, text):
        message = replace(message, around=True)
    readings = _read(asked, message)
    if "\n" in text or not _bare(readings):
        shorter = without_closing(message)
        readings = _read(asked, shorter) if shorter is not message else readings
        if not text.islower() and not _bare(readings):
            readings = _without_names(asked, shorter) or readings
    return readings


def _without_names(asked: _Asked, message: OwnWords) -> list[Reading]:
    """Return the readings of a message without the names in its greeting and signature.

    Return [] if it has no such names.
    """
    text = names.unsigned(message.text)
    found = names.greeted(text)
    text = found.text if found else text
    readings = _read(asked, replace(message, text=text)) if text != message.text else []
    return [unclear(Doubt.SOMEBODY)] if found and _approves(readings) and _asks_the_greeted(found.rest) else readings


def _asks_the_greeted(words: str) -> bool:
    """Return whether the words after a name ask that person to decide: "Hi Anna, approve it".

    "Please approve it" is no answer but a request to somebody. So if the words, read with "please" before them, are no
    answer, they are a request. If no word for "please" is known in the possible languages, they count as a request.
    """
    asked = [
        _understood(tokenise(f"{please} {words}"), code, words)[0]
        for code in _languages(tokenise(words))
        for please in lexicon.pleases(code)
    ]
    return not asked or any(reading.doubt == Doubt.NO_ANSWER for reading in asked)


def _read(asked: _Asked, message: OwnWords) -> list[Reading]:
    if message.trick:
        return [unclear(message.trick)]
    tokens, mentions = tokenise(message.text, asked.known_refs), False
    if asked.spans:
        tokens, mentions = marked(tokens, asked.text, asked.spans)
    if not tokens and (message.quoted or any(span.kind is SpanKind.QUOTE for span in asked.spans)):
        return [unclear(Doubt.QUOTATION)]
    if message.signature and _decides(message.signature, _spoken(tokens, _own(asked.language))):
        return [unclear(Doubt.SIGNATURE)]
    readings = _understood(tokens, asked.language, asked.text)
    if _approves(readings):
        doubt = _not_ours(asked, message, readings, mentions=mentions)
        if not doubt and not message.signature and _breaks_off(tokens):
            doubt = Doubt.UNFINISHED
        return [unclear(doubt)] if doubt else readings
    return readings


def _not_ours(asked: _Asked, message: OwnWords, readings: list[Reading], *, mentions: bool) -> Doubt | None:
    """Return the reason why a yes doesn't answer the card, or None if it does."""
    if mentions:
        return Doubt.SOMEBODY
    if message.around:
        return Doubt.AROUND
    everything = ALL in [reading.target for reading in readings]
    open_calls = len(asked.known_refs)
    if everything and (open_calls == 1 or (not open_calls and "/" in message.text)):
        return Doubt.ONE
    return None


def _breaks_off(tokens: list[Token]) -> bool:
    """Return whether the last sign of a message announces more words: "yes,", "ok:", "go -".

    A comma after a blank announces nothing, because transcripts of speech end with such a comma.
    """
    if tokens[-1].kind is not BREAK:
        return False
    end = next((at for at in range(len(tokens) - 1, 0, -1) if tokens[at].text.strip()), 0)
    last = tokens[end]
    return last.text in _ANNOUNCES and (last.text not in _COMMAS or last.start == tokens[end - 1].end)


def _bare(readings: list[Reading]) -> bool:
    """Return whether the message was understood and none of its answers holds a reason."""
    return not [reading for reading in readings if reading.verdict is _UNCLEAR or reading.reason]


def verdict(readings: Sequence[Reading]) -> Reading:
    """Return one reading for the whole message: its only reading, or an unclear reading if it has none or several."""
    if len(readings) == 1:
        return readings[0]
    return unclear(Doubt.TWO if readings else Doubt.NOTHING)


def _decides(signature: str, spoken: Collection[str]) -> bool:
    """Return whether a signature holds words that could change the answer.

    In the languages `spoken` in the message, a yes, a no and a word of doubt count. In other languages, only a no could
    change it, because names are other words there: Kim means "who" in Turkish.
    """
    tokens = tokenise(signature)
    for code in {*_languages(tokens), *spoken}:
        parse = Parse(tokens, lexicon.load(code))
        roles = _SAYS_SOMETHING if code in spoken else REFUSES
        if any(parse.longest(at)[1] & roles for at in range(len(tokens))):
            return True
    return False


def _spoken(tokens: list[Token], own: str) -> list[str]:
    """Return the possible languages of a message: the conversation's language, and English if it has all the words.

    If there is neither, return the languages that know the most words.
    """
    english = all(map(lexicon.load(_FIRST).known, _words(tokens)))
    found = [own] * (own in lexicon.all_codes()) + [_FIRST] * english
    return found or _languages(tokens)


def _scripts(tokens: list[Token]) -> set[str]:
    found: set[str] = set().union(*map(scripts, _words(tokens)))
    return found - {"Han"} if "Kana" in found else found


def _languages(tokens: list[Token]) -> list[str]:
    return lexicon.closest(_words(tokens), sorted(_scripts(tokens)))


def _understood(tokens: list[Token], language: str | None, text: str) -> list[Reading]:
    """Return the readings of a message in one language, or in several languages that must agree.

    The conversation's language is tried first, and then English, each only if its file has all words of the message. If
    neither gives an answer, the languages that have the most words are tried. If they have all words, all of them must
    agree. If they have only some of the words, only the first of these languages is tried.
    """
    if _spelled_out(tokens):
        return [unclear(Doubt.SPELLED)]
    own = _own(language)
    for code in (own, _FIRST) if own and own in lexicon.all_codes() else (_FIRST,):
        parse = Parse(tokens, lexicon.load(code))
        if parse.whole and (code == own or not _contested(parse)):
            readings = answers(parse, text)
            if _tells(readings) or code == _FIRST or parse.holds(_HESITATES | UNCLEAR):
                return readings
    codes = _languages(tokens) or [_FIRST]
    first, *others = [own] if own in codes else codes
    if first != parse.language.code:
        parse = Parse(tokens, lexicon.load(first))
    whole = parse.whole
    parses = [parse, *(Parse(tokens, lexicon.load(code)) for code in others if whole)]
    readings = _agreed(parses, text)
    if not whole and not parse.holds(_HESITATES | REFUSES) and (reading := mixed(tokens)):
        return [unclear(Doubt.DIFFERS)] if _disputed(parse, language, text) else [reading]
    if not whole and not _tells(readings) and (reading := _foreign_no(parse, own, text)):
        return [reading]
    return _with_unmeasured(tokens, own, readings, text, whole=whole)


def _own(language: str | None) -> str:
    """Return the code that the language files use for a conversation's language, or '' if the language isn't known."""
    if not language:
        return ""
    code = language.replace("_", "-").partition("-")[0].casefold()
    return _SAME_LANGUAGE.get(code, code)


def _disputed(parse: Parse, language: str | None, text: str) -> bool:
    """Return whether languages disagree about the words that this language doesn't know: "jo" in "thank you, jo"."""
    pairs = zip(parse.tokens, parse.words, strict=True)
    rest = [token for token, word in pairs if word is None and token.kind is WORD]
    return 0 < len(rest) < len(parse.tokens) and _understood(rest, language, text)[0].doubt == Doubt.DIFFERS


def _spelled_out(tokens: list[Token]) -> bool:
    if tokens and tokens[0].kind is WORD and len(tokens[0].text) > 1:
        return False
    words = _words(tokens)
    return (
        len(words) > 1
        and len(words[0]) == 1 == max(map(len, words))
        and "".join(words).isascii()
        and len(set(words)) > 1
    )


def _contested(parse: Parse) -> bool:
    """Return whether a word of the message means yes in one language and something else in another.

    The word may be listed as the message spells it ("jed"), or as the language's file does ("jeď").
    """
    listed = lexicon.homographs()
    return not listed.isdisjoint(parse.words) or not listed.isdisjoint(_words(parse.tokens))


def _shows_language(parse: Parse) -> bool:
    """Return whether a word beside the homographs belongs to this language: "proszę" in "tak, proszę".

    In other languages, English words show nothing, because people of all languages use them: "ok Simon". After a
    greeting, a homograph is no yes, because it may be a name. So the language needn't be shown there.
    """
    if parse.holds(ADDRESSES) or parse.language.code == _FIRST:
        return True
    listed, english = lexicon.homographs(), lexicon.load(_FIRST)
    pairs = zip(_words(parse.tokens), filter(None, parse.words), strict=True)
    return any(listed.isdisjoint((typed, word)) and not english.known(typed) for typed, word in pairs)


def _with_unmeasured(
    tokens: list[Token], own: str, readings: list[Reading], text: str, *, whole: bool
) -> list[Reading]:
    """Return the readings, after a check against the languages without a file, which have only a few exact phrases.

    If no other language understood the message, such a language gives the answer. If its answer contradicts another
    language, the message is unclear.
    """
    found = _unmeasured_signs(tokens)
    if not found:
        reading = None if whole or _tells(readings) else _unmeasured_no(tokens, own, text)
        return [reading] if reading else readings
    said = {found[own]} if own in found else set(found.values())
    if len(said) > 1 or (_tells(readings) and readings[0].verdict not in said and own not in found):
        return [unclear(Doubt.DIFFERS)]
    if ((_tells(readings) or whole) and own not in found) or not all(token.kind in _PLAIN for token in tokens):
        return readings
    targets = [token.text for token in tokens if token.kind is TARGET]
    code = own if own in found else min(found)
    why = fact(Doubt.UNMEASURED, said=code)
    return [Reading(said.pop(), target=targets[0] if targets else None, why=why)]


def _unmeasured_signs(tokens: list[Token]) -> dict[str, Meaning]:
    words = _words(tokens)
    polite = lexicon.polite_anywhere()
    return phrase_languages.signs([word for word in words if word not in polite] or words)


def _unmeasured_no(tokens: list[Token], own: str, text: str) -> Reading | None:
    """Return the reading of a no in a language without a file, with a reason after a comma or a colon.

    The words before the comma or colon must be a no and nothing more. Otherwise return None. Also return None if the
    words after the comma or colon are an answer too, in a language without a file. Also return None if the message
    holds anything except words, punctuation and refs.
    """
    stop = next((at for at, token in enumerate(tokens) if token.text in _JOINS), 0)
    if not stop or stop + 1 == len(tokens) or not _unmeasured_signs(tokens[:stop]):
        return None
    if any(token.kind not in _PLAIN for token in tokens):
        return None
    said = _understood(tokens[:stop], own, text)[0]
    if said.verdict is not Meaning.REJECT or not said.why or phrase_languages.signs(_words(tokens[stop:])):
        return None
    return replace(said, reason=text[tokens[stop + 1].start : tokens[-1].end].strip())


def _foreign_no(parse: Parse, own: str, text: str) -> Reading | None:
    """Return the reading of a no whose reason is in another language: "nein, wrong branch".

    A punctuation mark or a line break must separate the no from its reason. The language of the reason must know no
    word of the no, and must find no yes, doubt or question in the reason. Return None for all other messages.
    """
    tokens = parse.tokens
    stop = next((at for at, token in enumerate(tokens) if token.kind is BREAK), 0)
    if not 0 < stop < len(tokens) - 1 or not parse.kinds <= _IN_A_REASON:
        return None
    if any(parse.words[:stop]) or (tokens[stop].text not in _ENDS_A_NO and tokens[stop].text.strip()):
        return None
    if parse.holds(YES | QUESTION | LATER | HEDGE):
        return None
    said = _understood(tokens[:stop], own, text)[0]
    if said.verdict is not Meaning.REJECT or said.reason or said.why:
        return None
    behind = next((at for at in range(stop, len(tokens)) if tokens[at].kind is not BREAK), stop)
    rest = _understood(tokens[behind:], own, text)[0]
    twice = rest.verdict is Meaning.REJECT and not rest.reason
    return said if twice else replace(said, reason=text[tokens[behind].start : tokens[-1].end].strip())


def _words(tokens: list[Token]) -> list[str]:
    return [token.text for token in tokens if token.kind is WORD]


def _agreed(parses: list[Parse], text: str) -> list[Reading]:
    """Return the readings on which several languages agree: those of the first language that finds an answer.

    If the languages give different verdicts, or if another language finds a doubt, the message is unclear.
    """
    said = [answers(parse, text) for parse in parses]
    if len(parses) == 1:
        unsettled = _approves(said[0]) and _contested(parses[0]) and not _shows_language(parses[0])
        return [unclear(Doubt.DIFFERS)] if unsettled else said[0]
    telling = [readings for readings in said if _tells(readings)]
    if not telling:
        return said[0]
    verdicts = {reading.verdict for readings in telling for reading in readings[:1]}
    others = [parse for parse, readings in zip(parses, said, strict=True) if not _tells(readings)]
    sentence = parses[0].known() > 1
    if Meaning.APPROVE in verdicts:
        contested = any(map(_contested, parses)) and not all(map(_agrees, others))
        hesitated = sentence and any(_agrees(parse) and _hesitates(parse) for parse in others)
        asked_back = any(asks_back(parse) for parse in others)
        doubted = contested or hesitated or asked_back or any(map(_refuses, others))
    else:
        doubted = any(_in_doubt(parse) for parse in others)
    return [unclear(Doubt.DIFFERS)] if len(verdicts) > 1 or doubted else telling[0]


def _hesitates(parse: Parse) -> bool:
    """Return whether a language finds a word of doubt in the message.

    The word may also be the last word of a phrase that is no answer, such as "but" in "ok but".
    """
    return any(parse.longest(at)[1] & _HESITATES for at in range(len(parse.tokens)))


def _refuses(parse: Parse) -> bool:
    """Return whether a language contradicts a yes that another language found.

    A no, a remark, or an idiom that is no answer contradicts the yes. Any other phrase of the section "no answer"
    contradicts the yes only if this language finds no yes in the message.
    """
    return parse.holds(REFUSES | REMARK) or holds_idiom(parse) or (parse.holds(UNCLEAR) and not _agrees(parse))


def _in_doubt(parse: Parse) -> bool:
    """Return whether a language finds an unsure phrase of several words ("chyba tak") and no rejection."""
    phrases = ((at, *parse.longest(at)) for at in range(len(parse.tokens)))
    unsure = any(roles & (UNCLEAR | HEDGE) and end > at + 1 for at, end, roles in phrases)
    return unsure and not parse.holds(REFUSES)


def _agrees(parse: Parse) -> bool:
    return parse.holds(YES)


def _approves(readings: list[Reading]) -> bool:
    return _APPROVE in [reading.verdict for reading in readings]


def _tells(readings: list[Reading]) -> bool:
    """Return whether a message was understood. Of several readings, none is unclear."""
    return readings[0].verdict is not _UNCLEAR
