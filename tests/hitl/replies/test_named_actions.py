"""A yes that names the action: "delete it", "you can pay it", and words that name it and are no yes."""

import pytest

from hitl.replies import Meaning, read, verdict

APPROVES = {
    "en": ("purge them now please", "you can refund it", "go ahead and archive it", "post the newsletter", "wipe em"),
    "de": ("entfern die ruhig", "bitte überweisen", "dann schick die mail raus", "können weg"),
    "fr": ("efface-les", "ok tu peux payer", "redémarre stp"),
    "es": ("elimínalos ya", "vale, puedes pagarla", "reinícialo porfa"),
    "pt": ("pode excluir sim", "reinicia agora", "sim, remove isso"),
    "it": ("rimuovili pure", "puoi pagarla tranquillamente", "cancella pure"),
    "nl": ("verwijder ze gerust", "mogen weg", "herstart maar even"),
    "sv": ("radera dem bara", "den kan tas bort", "betala den nu"),
    "da": ("fjern dem bare", "den må gerne slettes", "genstart den"),
    "fi": ("poista ne vaan", "ne saa poistaa", "maksa se heti"),
    "pl": ("kasuj je śmiało", "możesz płacić", "zrestartuj to"),
    "cs": ("klidně je smaž", "můžeš to poslat", "zaplať to"),
    "uk": ("сміливо видаляй їх", "можна оплачувати", "перезапусти його"),
    "ru": ("смело удаляй их", "можно оплачивать", "перезапусти его"),
    "tr": ("bunları sil", "ödeyebilirsin", "yeniden başlat lütfen"),
    "el": ("διάγραψε τα άφοβα", "πλήρωσέ το", "μπορείς να τα διαγράψεις"),
    "ro": ("șterge-le liniștit", "poți să plătești", "trimite-o"),
    "hu": ("nyugodtan töröld", "kifizetheted", "indítsd újra kérlek"),
    "ar": ("امسحها الآن", "تمام ارسلها", "تقدر تدفعها"),
    "he": ("אוקיי תשלם", "תמחק אותם", "אפשר לשלם"),
    "hi": ("इसे डिलीट कर दो", "ठीक है भेज दीजिए", "restart kar do bhai"),
    "id": ("bayar aja", "boleh dihapus", "oke restart sekarang"),
    "vi": ("xóa luôn đi", "thanh toán đi em", "gửi được rồi"),
    "th": ("ลบทิ้งเลยครับ", "โอนได้เลย", "โอเคจ่ายเลย"),
    "ja": ("削除してください", "送信お願いします", "了解、支払ってください"),
    "ko": ("네 삭제해 주세요", "결제해 주세요", "재시작해도 됩니다"),
    "zh": ("好，付款吧", "可以重启", "把它们删了"),
    "bg": ("изтрий ги спокойно", "можете да го пуснете", "рестартирай го"),
    "ca": ("elimina'ls", "pots enviar-la", "reinicia'l ara"),
    "fa": ("حذفش کن", "باشه بفرستش", "پرداخت کنید"),
    "bn": ("এগুলো মুছে দিন", "পেমেন্ট করে দাও"),
    "mr": ("हे डिलीट करा", "पाठवून द्या"),
}

#: Conditions, questions, reports, other objects, other times, other people, one's own plans.
UNCLEAR = {
    "en": (
        "delete it when it's empty",
        "delete it on Monday",
        "delete the request",
        "delete all but one",
        "delete it yourself",
        "Bob can delete it",
        "I can refund it",
        "we will restart it",
        "let me pay it",
        "refund it to me",
        "should I restart it",
        "is it ok to restart it",
        "deleted it",
        "paid the invoice",
        "you can delete it later",
        "ok to pay later",
    ),
    "de": ("lösch sie nicht alle", "ich will zahlen", "wir werden sie löschen", "kann das weg", "später löschen"),
    "fr": ("je vais payer", "on peut effacer", "supprime la demande", "efface-les ce soir", "il paie"),
    "es": ("quiero pagarla", "se puede eliminar", "ya la pagué", "elimina la solicitud", "págala el lunes"),
    "pt": ("quero excluir", "posso pagar", "apaguei", "paga na sexta", "remove só os antigos"),
    "it": ("voglio pagarla", "possiamo eliminarli", "l'ho pagata", "elimina la richiesta", "pagala lunedì"),
    "nl": ("ik wil betalen", "mag dat weg", "betaald", "verwijder het verzoek", "betaal maandag"),
    "sv": ("jag vill betala", "kan jag ta bort dem", "betalade", "ta bort begäran", "betala på måndag"),
    "da": ("jeg vil betale", "må jeg slette dem", "betalte", "slet anmodningen", "betal på mandag"),
    "fi": ("haluan maksaa", "voinko poistaa ne", "maksoin", "poista pyyntö", "maksa maanantaina"),
    "pl": ("chcę zapłacić", "możemy skasować", "zapłaciłem", "skasuj prośbę", "zapłać w poniedziałek"),
    "cs": ("chci to zaplatit", "můžeme to smazat", "zaplatil jsem", "smaž žádost", "zaplať v pondělí"),
    "uk": ("хочу оплатити", "можемо видалити", "оплатив", "видали запит", "оплати в понеділок"),
    "ru": ("хочу оплатить", "можем удалить", "оплатил", "удали запрос", "оплати в понедельник"),
    "tr": ("ödemek istiyorum", "silebilir miyiz", "ödedim", "isteği sil", "pazartesi öde"),
    "el": ("θέλω να πληρώσω", "μπορούμε να τα διαγράψουμε", "πλήρωσα", "διάγραψε το αίτημα"),
    "ro": ("vreau să plătesc", "putem să ștergem", "am plătit", "șterge cererea", "plătește luni"),
    "hu": ("fizetni akarok", "törölhetjük", "kifizettem", "később töröld", "fizesd ki hétfőn"),
    "ar": ("أريد أن أدفع", "ممكن تمسحها", "دفعت", "احذف الطلب", "ادفع الاثنين"),
    "he": ("אני רוצה לשלם", "שילמתי", "תמחק את הבקשה", "תשלם ביום שני", "אנחנו צריכים למחוק"),
    "hi": ("हटा सकते हैं", "भुगतान कर दिया", "अनुरोध हटा दो", "सोमवार को भेजो", "main bhej dunga"),
    "id": ("saya mau bayar", "sudah dibayar", "hapus permintaan", "bayar hari senin", "bisa dihapus"),
    "vi": ("tôi muốn xóa", "thanh toán rồi", "xóa yêu cầu", "thứ hai gửi", "xóa không"),
    "th": ("ผมจะลบ", "จ่ายแล้ว", "ลบคำขอ", "โอนวันจันทร์", "ลบได้ไหม"),
    "ja": ("支払いました", "削除していいのか", "リクエストを削除して", "月曜に送って", "誰か消して"),
    "ko": ("제가 결제할게요", "결제했습니다", "요청을 삭제해", "월요일에 보내", "삭제해도 되나"),
    "zh": ("我来付款", "付了", "删掉这个请求", "周一再发", "能不能删"),
}


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in APPROVES.items() for text in texts])
def test_an_order_or_permission_to_do_the_action_approves(code: str, text: str) -> None:
    """The action's verb with a pronoun, or the permission to do it, is a yes in each language."""
    assert Meaning.APPROVE is verdict(read(text)).verdict
    assert Meaning.APPROVE is verdict(read(text, language=code)).verdict


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in UNCLEAR.items() for text in texts])
def test_the_actions_name_alone_makes_no_yes(code: str, text: str) -> None:
    """A condition, question, report, plan, delay, other object or other person beside the verb never approves."""
    assert Meaning.APPROVE is not verdict(read(text)).verdict
    assert Meaning.APPROVE is not verdict(read(text, language=code)).verdict


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bitte nicht überweisen", None),
        ("non pagarla, il conto è chiuso", "il conto è chiuso"),
        ("niet verwijderen, staat nog in gebruik", "staat nog in gebruik"),
        ("tohle neplať, částka nesedí", "částka nesedí"),
        ("не надо удалять, там отчёты", "там отчёты"),
        ("मत भेजो", None),
        ("別刪，還在用", "還在用"),
        ("don't refund it, the goods arrived", "the goods arrived"),
    ],
)
def test_the_negated_action_rejects_and_the_reason_is_what_follows(text: str, reason: str | None) -> None:
    """The order not to do it is the no, and only the words behind it are the reason."""
    said = verdict(read(text))
    assert (Meaning.REJECT, reason) == (said.verdict, said.reason)
