"""Whoever has an objection approves nothing, and whoever has none approves."""

import pytest

from hitl.replies import Meaning, lexicon, read, verdict
from hitl.replies.phrase_roles import UNCLEAR, YES
from tests.hitl.replies import automata

#: Language -> words for an objection, and words that deny it.
_OBJECTIONS: dict[str, tuple[str, str]] = {
    "ar": (
        "اعتراض|اعتراضات|مانع|موانع|معترض|ضد|أعترض|نعترض|أمانع|نمانع|معارض",
        "لا|ليس|لن|ما|مافي|مفيش|معنديش|بلا|بدون|دون|لست|لسنا",
    ),
    "bg": ("възражение|възражения|против|възразявам|възразяваме", "не|няма|нямам|нямаме|без|нищо"),
    "bn": ("আপত্তি|বিরোধিতা|বিরোধী|বিরুদ্ধে|বিপক্ষে", "না|নেই|নাই|নয়|নই"),
    "ca": ("objecció|objeccions|contra|oposo|inconvenient", "no|cap|sense|res|zero"),
    "cs": (
        "námitka|námitky|námitku|námitek|proti|výhrad",
        "nic|žádné|žádný|žádnou|žádných|žádná|bez|nemám|nemáme|není|nejsem|nejsme|nejsou",
    ),
    "da": ("indvending|indvendinger|imod|modsætter|protester|modstander", "ikke|ingen|intet|uden|ingenting"),
    "de": (
        "einwand|einwände|bedenken|einwendungen|dagegen|einspruch|veto|einzuwenden|widerspreche",
        "nicht|nichts|kein|keine|keinerlei|ohne",
    ),
    "el": (
        "αντίρρηση|αντιρρήσεις|ένσταση|ενστάσεις|εναντίον|αντίθετος|αντίθετη|κώλυμα",
        "δεν|χωρίς|καμία|καμιά|τίποτα|ουδεμία",
    ),
    "en": (
        "objection|objections|object|objecting|against|opposed|oppose|objected|veto|vetoes|complaints|averse",
        "not|no|dont|nothing|without|never|zero|cant|wont|doesnt|wouldnt|havent|didnt",
    ),
    "es": (
        "objeción|objeciones|contra|inconveniente|inconvenientes|reparos|reparo|pega|pegas|opongo",
        "no|nada|sin|ninguna|ningún|cero",
    ),
    "fa": ("اعتراض|اعتراضی|مخالف|مخالفت|ایرادی", "بدون|نداره|ندارم|نداریم|نیست|نیستم|نیستیم|ندارد|نمی‌کنم|نمیکنم"),
    "fi": ("vastaan|vastusta|vastustettavaa|estettä|esteitä|huomautettavaa", "ei|en|ilman|mitään|emme"),
    "fr": (
        "objection|objections|d'objection|opposition|opposé|opposée|contre|inconvénient|redire|objecter",
        "pas|rien|sans|aucun|aucune|zéro|ne|n|point",
    ),
    "he": ("התנגדות|התנגדויות|נגד|מתנגד|מתנגדת|הסתייגות", "לא|אין|בלי|ללא"),
    "hi": ("आपत्ति|विरोध|खिलाफ|विरुद्ध|ऐतराज", "नहीं|बिना"),
    "hu": ("kifogás|kifogásom|ellenvetés|ellenvetésem|ellene|ellenzem|ellen", "nem|nincs|ne|semmi|semmilyen"),
    "id": ("keberatan|menolak|penolakan|melarang|menentang", "tidak|tak|tanpa|gak|nggak|bukan|ga"),
    "it": (
        "obiezione|obiezioni|contrario|contraria|contrarietà|contro|veto|obiettare|oppongo",
        "non|nessun|nessuna|niente|nulla|senza|zero",
    ),
    "ja": ("異議|異論|反対|拒否", "な|ま|無"),
    "ko": ("반대|이의|이견", "없|않|안"),
    "mr": ("हरकत|आक्षेप|विरोध|विरोधात", "नाही|नाहीत"),
    "nl": ("bezwaar|bezwaren|op tegen|tegenin", "niet|geen|niets|niks|zonder|nul"),
    "pl": (
        "zastrzeżeń|sprzeciwu|sprzeciwów|obiekcji|przeciwko|przeciw|przeciwny|sprzeciwiam",
        "nie|bez|żadnych|nic|zero|brak",
    ),
    "pt": ("objeção|objeções|oposição|contra|oponho", "não|sem|nada|nenhuma|nenhum|zero"),
    "ro": (
        "obiecție|obiecții|împotrivă|împotrivire|contra|opun|obiectat",
        "nu|fără|nimic|nicio|nici|zero|n|n-avem|n-am",
    ),
    "ru": ("возражений|возражаю|возражаем|против|претензий", "не|нет|без|никаких|ничего"),
    "sv": ("invändning|invändningar|invända|emot|protester|motsätter", "inte|inga|ingen|inget|utan|ingenting"),
    "th": ("คัดค้าน|โต้แย้ง", "ไม่"),
    "tr": (
        "itiraz|itirazım|itirazımız|karşı|mahzuru|sakıncası",
        "yok|yoktur|değil|değiliz|değilim|hiçbir|etmiyorum|etmem|bulunmuyor|çıkmıyorum",
    ),
    "uk": ("заперечень|заперечую|заперечуємо|проти|претензій", "не|немає|без|жодних|нічого|нема|ніяких"),
    "vi": ("phản đối|chống", "không|chẳng|chả"),
    "zh": ("反对|反對|异议|異議|意见|意見", "不|没|无|無|沒"),
}


@pytest.mark.parametrize("code", sorted(_OBJECTIONS))
def test_no_phrase_with_an_objection_approves_unless_it_denies_the_objection(code: str) -> None:
    """A phrase under `= yes` that holds a word for an objection also holds a negation, in all its forms."""
    objections, negations = (words.split("|") for words in _OBJECTIONS[code])
    found = automata.phrases(code, objections, negations)

    assert [] == [phrase for roles, phrase in found if roles & YES and not roles & UNCLEAR]


def test_every_language_is_walked() -> None:
    """No language file is left out."""
    assert lexicon.all_codes() == set(_OBJECTIONS)


@pytest.mark.parametrize(
    "text",
    [
        "wij hebben bezwaren",
        "ik heb er bezwaar tegen",
        "we hebben hier bezwaar tegen",
        "zgłaszam obiekcji",
        "mam sprzeciw",
        "alcun veto",
        "we object",
        "wir haben Bedenken",
        "nous avons une objection",
        "tenemos reparos",
        "temos objeções",
        "vi har invändningar",
        "у нас есть возражения",
        "我们有意见",
    ],
)
def test_an_objection_approves_nothing(text: str) -> None:
    """It rejects, or the person is asked back."""
    assert Meaning.APPROVE is not verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "daar hebben we geen bezwaar tegen",
        "wij hebben geen bezwaren",
        "geen bezwaar",
        "nie zgłaszam sprzeciwu",
        "bez zastrzeżeń",
        "senza alcun veto",
    ],
)
def test_a_denied_objection_is_read_as_before(text: str) -> None:
    """Somebody without an objection never rejects."""
    assert Meaning.REJECT is not verdict(read(text)).verdict
