"""A yes with a negation on it approves in no language, whichever phrase of the language it negates."""

import pytest

from hitl.replies import Meaning, Reading, data, lexicon, read, verdict

#: Language -> what negates before a phrase, and what negates or asks behind one.
_NEGATIONS: dict[str, tuple[str, str]] = {
    "ar": ("لا|ليس|لن|لم|مش", "لا"),
    "bg": ("не|няма", "не"),
    "bn": ("না|নয়", "না|নয়"),
    "ca": ("no|mai", "no"),
    "cs": ("ne|nikdy", "ne"),
    "da": ("ikke|nej|aldrig", "ikke"),
    "de": ("nicht|nein|kein|nie", "nicht"),
    "el": ("όχι|δεν|μην|ποτέ", "όχι|μη"),
    "en": ("not|no|dont|never|cant|i dont", "not|no|never"),
    "es": ("no|nunca|ni", "no"),
    "fa": ("نه|نباید", "نه|نکن"),
    "fi": ("ei|en|älä", "ei|en"),
    "fr": ("ne|pas|non|jamais", "pas|non"),
    "he": ("לא|אל", "לא"),
    "hi": ("नहीं|मत|nahi|mat", "नहीं|मत|nahi|mat"),
    "hu": ("nem|ne|soha", "nem|ne"),
    "id": ("tidak|jangan|bukan|belum|nggak", "tidak|jangan"),
    "it": ("non|no|mai", "no|mai"),
    "ja": ("いいえ|いや", "ない|ません|ないで|ないでください"),
    "ko": ("안|아니|못", "지 마|지 않아요|안 해"),
    "mr": ("नाही|नको", "नाही|नको|नका"),
    "nl": ("niet|nee|geen", "niet"),
    "pl": ("nie|nigdy", "nie"),
    "pt": ("não|nunca|nem", "não"),
    "ro": ("nu|niciodată", "nu"),
    "ru": ("не|нет|ни", "не|нет"),
    "sv": ("inte|nej|aldrig", "inte"),
    "th": ("ไม่|อย่า|ยังไม่", "ไม่|ไหม|หรือ"),
    "tr": ("hayır|değil|yok", "değil|hayır"),
    "uk": ("не|ні", "ні|не"),
    "vi": ("không|đừng|chưa|chẳng", "không|chưa"),
    "zh": ("不|没|别|未|勿", "不|吗|么|没|不行"),
}
_SPACELESS = frozenset({"ja", "th", "zh"})


def _plain_yes(code: str) -> set[str]:
    """Give the phrases under `= yes` that hold no notation."""
    section, found = "", set[str]()
    for line in data.lines(f"{code}.txt"):
        section = line if line.startswith("= ") else section
        if section == "= yes" and line != section:
            found |= {phrase.strip() for phrase in line.split(",")}
    return {phrase for phrase in found if phrase and set("()[]<>|").isdisjoint(phrase)}


def _negated(code: str) -> list[str]:
    before, behind = (words.split("|") for words in _NEGATIONS[code])
    gap = "" if code in _SPACELESS else " "
    phrases = sorted(_plain_yes(code))
    return [no + gap + yes for no in before for yes in phrases] + [yes + gap + no for no in behind for yes in phrases]


def test_every_language_is_negated() -> None:
    """None is left out."""
    assert lexicon.all_codes() == set(_NEGATIONS)


@pytest.mark.parametrize("code", sorted(_NEGATIONS))
def test_a_negated_yes_never_approves(code: str) -> None:
    """Whether or not the conversation's language is known."""
    texts = _negated(code)
    approved = [
        text
        for text in texts
        for language in (None, code)
        if verdict(read(text, language=language)).verdict is Meaning.APPROVE
    ]

    assert len(texts) > 50
    assert [] == approved


#: Language -> "it is dangerous", "it isn't dangerous", "it is a good idea".
_FAULTS = {
    "ar": ("هذا خطير", "هذا ليس خطيرا", "هذه فكرة جيدة"),
    "bg": ("това е опасно", "това не е опасно", "това е добра идея"),
    "bn": ("এটা বিপজ্জনক", "এটা বিপজ্জনক নয়", "এটা ভালো ধারণা"),
    "ca": ("és perillós", "no és perillós", "és una bona idea"),
    "cs": ("je to nebezpečné", "není to nebezpečné", "je to dobrý nápad"),
    "da": ("det er farligt", "det er ikke farligt", "det er en god idé"),
    "de": ("das ist gefährlich", "das ist nicht gefährlich", "das ist eine gute Idee"),
    "el": ("είναι επικίνδυνο", "δεν είναι επικίνδυνο", "είναι καλή ιδέα"),
    "en": ("it is dangerous", "it is not dangerous", "it is a good idea"),
    "es": ("es peligroso", "no es peligroso", "es una buena idea"),
    "fa": ("خطرناک است", "خطرناک نیست", "ایده خوبی است"),
    "fi": ("se on vaarallista", "se ei ole vaarallista", "se on hyvä idea"),
    "fr": ("c'est dangereux", "ce n'est pas dangereux", "c'est une bonne idée"),
    "he": ("זה מסוכן", "זה לא מסוכן", "זה רעיון טוב"),
    "hi": ("यह खतरनाक है", "यह खतरनाक नहीं है", "यह अच्छा विचार है"),
    "hu": ("ez veszélyes", "ez nem veszélyes", "ez jó ötlet"),
    "id": ("itu berbahaya", "itu tidak berbahaya", "itu ide bagus"),
    "it": ("è pericoloso", "non è pericoloso", "è una buona idea"),
    "ja": ("危険です", "危険ではありません", "いい考えです"),
    "ko": ("위험해요", "위험하지 않아요", "좋은 생각이에요"),
    "mr": ("हे धोकादायक आहे", "हे धोकादायक नाही", "ही चांगली कल्पना आहे"),
    "nl": ("dat is gevaarlijk", "dat is niet gevaarlijk", "dat is een goed idee"),
    "pl": ("to jest niebezpieczne", "to nie jest niebezpieczne", "to jest dobry pomysł"),
    "pt": ("é perigoso", "não é perigoso", "é uma boa ideia"),
    "ro": ("e periculos", "nu e periculos", "e o idee bună"),
    "ru": ("это опасно", "это не опасно", "это хорошая идея"),
    "sv": ("det är farligt", "det är inte farligt", "det är en bra idé"),
    "th": ("มันอันตราย", "มันไม่อันตราย", "เป็นความคิดที่ดี"),
    "tr": ("bu tehlikeli", "bu tehlikeli değil", "bu iyi bir fikir"),
    "uk": ("це небезпечно", "це не небезпечно", "це гарна ідея"),
    "vi": ("nguy hiểm", "không nguy hiểm", "đó là ý hay"),
    "zh": ("这很危险", "这不危险", "这是个好主意"),
}


def test_every_language_has_faults() -> None:
    """No language is left out."""
    assert lexicon.all_codes() == set(_FAULTS)


@pytest.mark.parametrize("code", sorted(_FAULTS))
def test_a_fault_rejects_and_a_denied_fault_is_no_answer(code: str) -> None:
    """Who says that a request isn't dangerous has neither approved nor rejected it."""
    fault, denied, _ = _FAULTS[code]

    for language in (None, code):
        assert Meaning.REJECT is verdict(read(fault, language=language)).verdict
        assert Meaning.UNCLEAR is verdict(read(denied, language=language)).verdict


@pytest.mark.parametrize("code", sorted(_FAULTS))
def test_praise_of_the_idea_never_rejects(code: str) -> None:
    """The words "good idea" reject only behind a negation."""
    praise = _FAULTS[code][2]

    assert [] == [x for x in (None, code) if verdict(read(praise, language=x)).verdict is Meaning.REJECT]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no, es peligroso", "es peligroso"),
        ("nu, e periculos", "e periculos"),
        ("nie, jest niebezpieczne", "jest niebezpieczne"),
        ("no, és perillós", "és perillós"),
        ("לא, מסוכן", "מסוכן"),
        ("không, nguy hiểm", "nguy hiểm"),
        ("no, it is dangerous", "it is dangerous"),
    ],
)
def test_a_comma_between_no_and_a_fault_rejects(text: str, reason: str) -> None:
    """With a comma, the fault is the reason of the no; without one, the no may deny the fault."""
    assert Reading(Meaning.REJECT, reason=reason) == verdict(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "to nie jest dobry pomysł",
        "není to dobrý nápad",
        "nu e bine",
        "no és bona idea",
        "това не е наред",
        "זה לא מתאים",
    ],
)
def test_a_denied_merit_rejects(text: str) -> None:
    """Who says that a request isn't good rejects it."""
    assert Meaning.REJECT is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "nicht riskant",
        "niet gevaarlijk",
        "inte farligt",
        "не опасно",
        "nem veszélyes",
        "tidak berbahaya",
        "不危险",
        "没有风险",
    ],
)
def test_a_denied_fault_without_its_verb_is_no_answer(text: str) -> None:
    """The short form denies the fault, too."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    ["ei väärä tiedosto", "tidak salah server", "không sai nhánh", "nej fel server", "no wrong server"],
)
def test_a_wrong_thing_behind_a_no_is_its_reason(text: str) -> None:
    """People leave the comma out: "no wrong server" names a fault, and denies none."""
    said = verdict(read(text))

    assert Meaning.REJECT is said.verdict
    assert said.reason == text.partition(" ")[2]


@pytest.mark.parametrize("text", ["non, annule", "não, cancela", "no. para", "ei, peruuta", "όχι, ακύρωση", "不，取消"])
def test_two_noes_with_a_stop_between_them_reject(text: str) -> None:
    """Without the stop, the words would deny the second no: "non annule"."""
    assert verdict(read(text)).verdict is Meaning.REJECT
