"""Talk about who may approve, and yeses in the words of a form: "I hereby approve"."""

import pytest

from hitl.replies import Meaning, lexicon, read, verdict

#: Language -> sentences that say who may approve, and approve nothing.
_WHO_MAY = {
    "ar": ["يمكنك الموافقة عليه", "بإمكانكم أن توافقوا", "يمكن الموافقة"],
    "bg": ["можеш да го одобриш", "всеки може да одобри", "можете да потвърдите"],
    "bn": ["আপনি অনুমোদন করতে পারেন", "তুমি এটা নিশ্চিত করতে পারো", "যে কেউ অনুমোদন দিতে পারে"],
    "ca": ["pots aprovar-ho", "qualsevol pot aprovar", "podeu confirmar"],
    "cs": ["můžeš to schválit", "každý může potvrdit", "můžete souhlasit"],
    "da": ["du må gerne godkende det", "alle kan godkende", "I kan bekræfte"],
    "de": ["du darfst das genehmigen", "ihr könnt freigeben", "jeder kann zustimmen", "Sie dürfen gerne bestätigen"],
    "el": ["μπορείς να το εγκρίνεις", "όλοι μπορούν να εγκρίνουν", "μπορείτε να επιβεβαιώσετε"],
    "en": ["you may approve it", "you can approve", "anyone can confirm it", "she may approve"],
    "es": ["puedes aprobarlo", "cualquiera puede confirmar", "ya podéis autorizar"],
    "fa": ["می‌توانید تایید کنید", "میتونی قبول کنی", "شما می‌تونید تأیید کنید"],
    "fi": ["voit hyväksyä sen", "kuka tahansa voi vahvistaa", "saatte sallia"],
    "fr": ["tu peux valider", "vous pouvez l'approuver", "n'importe qui peut confirmer"],
    "he": ["אתה יכול לאשר את זה", "כל אחד יכול לאשר", "מותר לך לאשר"],
    "hi": ["आप मंज़ूर कर सकते हैं", "कोई भी अनुमति दे सकता है", "aap approve kar sakte ho"],
    "hu": ["jóváhagyhatod ezt", "engedélyezheti", "ezt lehet jóváhagyni"],
    "id": ["kamu boleh menyetujui ini", "siapa saja bisa konfirmasi", "anda dapat mengizinkan"],
    "it": ["puoi confermare", "chiunque può approvare", "potete autorizzarlo"],
    "ja": ["承認してもいいよ", "承認できます", "許可してもいいです"],
    "ko": ["승인하셔도 돼요", "허가해도 됩니다", "승인할 수 있어요"],
    "mr": ["तुम्ही मंजूर करू शकता", "कोणीही मान्य करू शकतो", "तू परवानगी देऊ शकतोस"],
    "nl": ["je mag het goedkeuren", "iedereen kan bevestigen", "jullie kunnen akkoord geven"],
    "pl": ["możesz to zatwierdzić", "każdy może zaakceptować", "wolno potwierdzić", "może pani zaakceptować"],
    "pt": ["você pode aprovar", "qualquer um pode confirmar", "vocês podem autorizar"],
    "ro": ["poți aproba", "oricine poate confirma", "puteți să aprobați"],
    "ru": ["можешь одобрить", "любой может подтвердить", "можно согласовать"],
    "sv": ["du får gärna godkänna det", "alla kan bekräfta", "ni kan tillåta"],
    "th": ["คุณอนุมัติได้เลย", "เขาสามารถยืนยันได้", "ใครก็อนุมัติได้"],
    "tr": ["bunu onaylayabilirsin", "herkes onaylayabilir", "kabul edebilirsiniz"],
    "uk": ["можеш це схвалити", "будь-хто може підтвердити", "можна погодити"],
    "vi": ["bạn có thể duyệt", "ai cũng có thể xác nhận", "anh được phép phê duyệt"],
    "zh": ["你可以批准", "谁都可以批准", "你们可以审批"],
}

#: Language -> its plain yes.
_YES = {
    "ar": "نعم", "bg": "да", "bn": "হ্যাঁ", "ca": "sí", "cs": "ano", "da": "ja", "de": "ja", "el": "ναι", "en": "yes",
    "es": "sí", "fa": "بله", "fi": "kyllä", "fr": "oui", "he": "כן", "hi": "हाँ", "hu": "igen", "id": "ya", "it": "sì",
    "ja": "はい", "ko": "네", "mr": "होय", "nl": "ja", "pl": "tak", "pt": "sim", "ro": "da", "ru": "да", "sv": "ja",
    "th": "ใช่", "tr": "evet", "uk": "так", "vi": "vâng", "zh": "好的",
}  # fmt: skip


@pytest.mark.parametrize("code", sorted(_WHO_MAY))
def test_saying_who_may_approve_is_no_answer(code: str) -> None:
    """The sentence "you may approve it" leaves the decision to somebody."""
    wrong = [text for text in _WHO_MAY[code] if verdict(read(text)).verdict is not Meaning.UNCLEAR]

    assert [] == wrong
    assert [] == [text for text in _WHO_MAY[code] if verdict(read(text, language=code)).verdict is not Meaning.UNCLEAR]


def test_every_language_is_tried() -> None:
    """No language file is left out."""
    assert lexicon.all_codes() == set(_WHO_MAY)


@pytest.mark.parametrize(
    "text", ["you may approve it if you like", "may I approve?", "am I allowed to say yes?", "who may approve this"]
)
def test_asking_who_may_approve_is_no_answer(text: str) -> None:
    """A question about permission, or one with a condition, decides nothing."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "you may proceed",
        "you can go ahead",
        "permission granted",
        "du kannst loslegen",
        "puedes continuar",
        "pode continuar",
        "du kan köra",
        "devam edebilirsin",
    ],
)
def test_permission_to_act_approves(text: str) -> None:
    """Who lets the agent act consents to its request."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "I hereby approve this request",
        "hiermit genehmige ich das",
        "Hiermit stimme ich zu.",
        "hierbij keur ik het goed",
        "hierbij akkoord",
        "härmed godkänner jag detta",
        "hermed godkendt",
        "par la présente, j'approuve cette demande",
        "por la presente lo apruebo",
        "con la presente approvo",
        "pela presente autorizo",
        "niniejszym zatwierdzam",
        "tímto schvaluji",
        "настоящим подтверждаю",
        "цим схвалюю",
    ],
)
def test_a_yes_in_the_words_of_a_form_approves(text: str) -> None:
    """A person who hereby approves does so."""
    assert Meaning.APPROVE is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "I hereby will approve",
        "hiermit werde ich zustimmen",
        "hiermit genehmige ich das, sobald das Backup fertig ist",
        "hierbij ga ik het goedkeuren",
        "consider it approved once the backup is done",
        "I approve of the idea",
        "j'approuve l'idée",
        "apruebo la idea",
        "im Prinzip genehmigt",
        "в принципе согласен",
        "approved in spirit",
    ],
)
def test_a_yes_that_is_announced_limited_or_about_an_idea_is_no_answer(text: str) -> None:
    """A later yes, a yes in principle and a yes to an idea consent to nothing that runs now."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize(
    "text",
    [
        "mag je accepteren",
        "kun je goedkeuren nu",
        "oui tu peux approuver",
        "on peut confirmer tout de suite",
        "podem autorizar agora",
        "ni kan acceptera betalningen",
        "du får tillåta det här nu",
        "du må godkende det hele nu",
        "można zatwierdzić tę zmianę od razu",
        "můžete schválit tu změnu hned",
        "puteți confirma acest lucru imediat",
        "boleh terima pembayaran ini",
        "được phép duyệt yêu cầu này ngay",
        "можно разрешить эту операцию сразу",
        "можна погодити цей запит зараз",
        "можете да потвърдите това сега",
        "pots confirmar els canvis ara",
        "يمكنك تأكيد هذا الطلب الآن",
        "می‌توانید تایید کنید الان",
        "אפשר לאשר את השינוי עכשיו",
        "you may accept the request now",
        "yes you may sign this off",
        "می‌توانید این پرداخت را تأیید کنید",
        "इस बदलाव को मंज़ूर कर सकते हो",
        "この申請は許可していいよ",
        "您可以同意吧",
    ],
)
def test_what_may_be_approved_and_when_is_no_answer(text: str) -> None:
    """The object and the time behind "you may approve" change nothing."""
    assert Meaning.UNCLEAR is verdict(read(text)).verdict


@pytest.mark.parametrize("code", sorted(_WHO_MAY))
@pytest.mark.parametrize("yes", ["{} {}", "{}, {}"])
def test_a_yes_before_who_may_approve_changes_nothing(code: str, yes: str) -> None:
    """The sentence "yes you can approve it" is unclear with and without the comma, as speech is written down."""
    texts = [yes.format(_YES[code], text) for text in _WHO_MAY[code]]

    assert [] == [text for text in texts if verdict(read(text, language=code)).verdict is Meaning.APPROVE]
