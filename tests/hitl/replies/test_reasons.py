"""A rejection gives back the person's own words."""

import pytest

from hitl.replies import Meaning, Reading, read, verdict


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no because the backup is running", "the backup is running"),
        ("no: wrong database", "wrong database"),
        ("no, Wrong Database!", "Wrong Database!"),
        ("nope - needs a test", "needs a test"),
        ("reject (wrong account)", "wrong account"),
        ("no\nfirst line\nsecond line", "first line\nsecond line"),
        ("👎 looks off to me", "looks off to me"),
        ("❌ not before Monday", "not before Monday"),
        ("/reject too expensive", "too expensive"),
        ("stop, that's the live system", "that's the live system"),
        ("nope that's prod", "that's prod"),
        ("don't do it, the disk is full", "the disk is full"),
        ("nein, weil das die falsche Datenbank ist", "das die falsche Datenbank ist"),
        ("non, parce que c'est la prod", "c'est la prod"),
        ("no, porque es viernes", "es viernes"),
        ("nie, bo to produkcja", "to produkcja"),
        ("нет, потому что это прод", "это прод"),
        ("不行，因为这是生产环境", "这是生产环境"),
        ("hayır, çünkü bu canlı sistem", "bu canlı sistem"),
        ("いいえ、理由は本番環境だから", "本番環境だから"),
        ("아니요, 왜냐하면 운영 서버입니다", "운영 서버입니다"),
        ("لا، لأنه خطر", "خطر"),
        ("nein, weil es noch läuft", "es noch läuft"),
        ("nee, omdat het nog draait", "het nog draait"),
        ("no perché è ancora acceso", "è ancora acceso"),
        ("no por que es producción", "es producción"),
        ("nej då servern är nere", "servern är nere"),
        ("不可以，因为还在备份", "还在备份"),
        ("안 돼요 위험해요", "위험해요"),
        ("nein, wrong branch", "wrong branch"),
        ("нет: 5 files are too old", "5 files are too old"),
        ("non.\n\nToo risky today", "Too risky today"),
        ("nope, falsche Datei", "falsche Datei"),
        ("no, request was sent twice", "request was sent twice"),
        ("no, to be safe we take the replica", "to be safe we take the replica"),
        ("nope, to produkcja", "to produkcja"),
        ("nein, zu teuer", "zu teuer"),
    ],
)
def test_the_reason_is_given_back_untouched(text: str, reason: str) -> None:
    """After a stop, a dash, a bracket, a line break, an emoji, a command or the language's "because"."""
    assert Reading(Meaning.REJECT, reason=reason) == verdict(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "no, thank you",
        "please don't",
        "cancel it now",
        "👎",
        "/reject",
        "/withdraw",
        "nein danke",
        "hayır, reject",
    ],
)
def test_a_bare_no_has_no_reason(text: str) -> None:
    """Politeness and repetition are no reason."""
    assert Reading(Meaning.REJECT) == verdict(read(text))


@pytest.mark.parametrize(
    "text",
    ["nein, go ahead", "nein, wait", "non, maybe later", "nej, is it prod?", "jo, wrong branch", "oui, too risky"],
)
def test_a_no_with_a_yes_or_a_doubt_in_another_language_is_unclear(text: str) -> None:
    """Only plain words behind a no of another language are its reason."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict
