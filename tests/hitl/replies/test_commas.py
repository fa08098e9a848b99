"""A comma or a line break inside a phrase: people set commas as they speak, and mail programs break long lines."""

import pytest

from hitl.replies import Meaning, read, verdict


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("yes, this is good, for now", "en"),
        ("yes this is good\nfor now", "en"),
        ("I agree with it, fully", "en"),
        ("works great, for us", "en"),
        ("ich habe kein Problem, damit", "de"),
        ("in Ordnung, von meiner Seite", "de"),
        ("aucun problème, de mon côté", "fr"),
        ("por mi parte, adelante", "es"),
        ("ok, z mojej strony", "pl"),
        ("ok, dari saya", "id"),
        ("我这边、没问题", "zh"),
    ],
)
def test_a_yes_may_have_a_comma_or_a_line_break_inside_a_phrase(text: str, language: str) -> None:
    """The words mean the same with and without the comma."""
    assert Meaning.APPROVE is verdict(read(text, language=language)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "no, need to wait, go ahead",
        "good, right",
        "yes, they are all merged",
        "yes, if it works, for me",
        "this is good, for now, but later more",
        "it works, for them",
        "ok and, thanks",
    ],
)
def test_a_comma_that_changes_the_meaning_is_never_left_out(text: str) -> None:
    """A no, a question, a condition or a statement beside a comma keeps its own meaning."""
    assert Meaning.APPROVE is not verdict(read(text)).verdict


@pytest.mark.parametrize("stop", [", ", "\n", "\r\n"])
@pytest.mark.parametrize(
    "words",
    [
        ("I would", "approve"),
        ("I'd like to", "approve it"),
        ("do it", "right"),
        ("хочу", "одобрить"),
        ("saya mau", "setuju"),
        ("proszę", "zatwierdzić"),
        ("vänligen", "godkänn"),
        ("por favor", "aprobar"),
        ("נא", "לאשר"),
        ("승인", "부탁드립니다"),
    ],
)
def test_a_phrase_that_is_no_answer_stays_one_across_a_comma_or_a_line_break(words: tuple[str, str], stop: str) -> None:
    """Otherwise a line break that a mail program adds would make a yes of a wish or a request."""
    assert Meaning.APPROVE is not verdict(read(" ".join(words))).verdict
    assert Meaning.APPROVE is not verdict(read(stop.join(words))).verdict


#: Replies by people who break or pause a sentence that is no yes, in their languages.
BROKEN = {
    "en": (
        "yes,\nonce the backup has finished",
        "I can\napprove this after lunch",
        "we approve of\nyour caution",
        "the others\napproved it",
        "approved\nby whom",
        "not sure\ngo ahead with what",
        "you may\nwant to check it again",
        "do it,\nif you dare",
        "ok\nwhat is it",
        "I have no objections,\nexcept the date",
        "I'd approve,\nbut ask Dana",
        "it is, good to know",
        "that, works for them",
        "good, for nothing",
        "fine, by them",
        "ok, with Dana",
        "right, on time",
        "all good, to go home",
        "looks good, to Dana",
        "no problem, with that server",
        "yes, this is good, for nothing",
        "works for me, not for him",
        "permission granted, by whom",
        "consider it, approved or not",
        "you have my permission, to think about it",
        "go ahead, and ask Dana",
        "let it, be",
        "do, not",
        "do, not do it",
        "you may, not",
        "i do, not agree",
        "please do\nnot run it",
        "we can\nnot approve this",
        "I would\nnot approve",
        "it is\nnot good",
        "that is, not ok",
        "I agree,\nnot",
        "this is good,\nNOT",
        "merge it, eh",
        "send them, correct",
        "approve it correct",
    ),
    "de": (
        "von mir aus, wenn Dana will",
        "passt, nicht wahr",
        "das passt\nnicht",
        "ich genehmige das\nnicht",
        "mach das, nicht",
        "das ist, nicht gut",
        "das geht, gar nicht anders",
        "es wurde\ngenehmigt",
        "ich würde\ngenehmigen",
    ),
    "fr": (
        "je valide\npas",
        "c'est, pas bon",
        "je voudrais\napprouver",
        "il faut\nvalider",
    ),
    "es": (
        "me gustaría\naprobar",
        "no, estoy de acuerdo con parar",
        "quiero\naprobarlo",
    ),
    "it": (
        "vorrei\napprovare",
        "bisogna\napprovare",
    ),
    "pt": (
        "gostaria de\naprovar",
        "quero\naprovar",
    ),
    "pl": (
        "chciałbym\nzatwierdzić",
        "nie, zgadzam się na stop",
    ),
    "ru": (
        "хотел бы\nодобрить",
        "не\nодобряю",
        "я это одобряю\nне",
    ),
    "tr": ("onaylamak\nistiyorum",),
    "nl": (
        "ik wil\ngoedkeuren",
        "ik keur het goed,\nniet",
        "dat is, niet goed",
    ),
    "sv": (
        "jag vill\ngodkänna",
        "det är\ninte bra",
    ),
    "da": ("det er\nikke fint",),
    "fi": (
        "en\nhyväksy",
        "ei, käy",
    ),
    "cs": ("chtěl bych\nschválit",),
    "hu": ("nem,\njó",),
    "ro": ("nu e\nbine",),
    "vi": ("không\nđồng ý",),
    "id": ("tidak\nsetuju",),
    "ja": (
        "承認\nしたい",
        "承認\nしません",
    ),
    "zh": (
        "不\n同意",
        "同意,不",
    ),
    "ko": ("승인\n안 해요",),
    "ar": (
        "لا\nأوافق",
        "أوافق، لا",
    ),
    "he": ("לא\nמאשר",),
    "hi": (
        "मंज़ूर\nनहीं",
        "ठीक, नहीं है",
    ),
    "th": ("ไม่\nอนุมัติ",),
    "fa": ("موافق،\nنیستم",),
    "el": (
        "δεν\nσυμφωνώ",
        "συμφωνώ,\nόχι",
    ),
    "bg": ("не\nодобрявам",),
    "uk": ("не\nпогоджую",),
    "bn": ("ঠিক আছে,\nনা",),
}


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in BROKEN.items() for text in texts])
def test_a_broken_sentence_that_is_no_yes_never_approves(code: str, text: str) -> None:
    """Its parts may each sound like a yes: "I agree, not", "you may, not"."""
    assert Meaning.APPROVE is not verdict(read(text)).verdict
    assert Meaning.APPROVE is not verdict(read(text, language=code)).verdict
