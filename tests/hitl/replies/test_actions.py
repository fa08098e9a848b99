"""A yes that names an action counts only for a card that names this action too."""

from collections.abc import Iterator

import pytest

from hitl.replies import another, lexicon, read, says_the_action, verdict
from hitl.replies.templates import Sequence, TemplateWord, parse


@pytest.mark.parametrize(
    ("text", "title", "arguments", "word"),
    [
        ("yes, merge it", "fs delete_file Deletes a file.", "{}", "merge"),
        ("approve the payment", "shell bash Runs a command.", '{"command":"git push"}', "payment"),
        ("yes, deploy it", "shell bash Runs a command.", '{"command":"rm -rf /srv"}', "deploy"),
        ("yes, install it", "mail sendEmail", "{}", "install"),
        ("sí, bórralo", "mail send_email", "{}", "bórralo"),
        ("да, отправляй", "fs delete_file", "{}", "отправляй"),
        ("ja, abschicken", "db drop_table", "{}", "abschicken"),
    ],
)
def test_a_yes_to_another_action_is_named(text: str, title: str, arguments: str, word: str) -> None:
    """The reader takes each of them for a yes; the card shows that it is meant for another request."""
    assert "approve" == verdict(read(text)).verdict
    assert word == another(text, title, arguments)


@pytest.mark.parametrize(
    ("text", "title", "arguments"),
    [
        ("yes", "fs delete_file", "{}"),
        ("yes, merge it", "shell bash Runs a command.", '{"command":"git merge topic"}'),
        ("yes, deploy it", "shell bash Runs a command.", '{"command":"kubectl apply -f web.yaml"}'),
        ("approve the payment", "stripe create_refund", '{"amount":3}'),
        # The apostrophe of a polite phrase is no part of the Turkish "sil".
        ("oui, s'il te plaît", "acme frobnicate", "{}"),
        ("elimina'ls", "acme drop_table", "{}"),
        # Ways to say "go ahead".
        ("send it", "fs delete_file", "{}"),
        ("ship it", "fs delete_file", "{}"),
        ("run it", "fs delete_file", "{}"),
        ("full send", "acme frobnicate", "{}"),
        ("go ahead", "acme frobnicate", "{}"),
        ("do it now", "acme frobnicate", "{}"),
    ],
)
def test_a_yes_that_fits_the_card_or_names_nothing_counts(text: str, title: str, arguments: str) -> None:
    """The card's tool, sentence or argument names the action, or the yes is an idiom that names none."""
    assert "" == another(text, title, arguments)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("cancel it", "shop cancel_order"),
        ("please cancel", "shop cancelOrder"),
        ("cancel it", "shop frob Cancel the order 44."),
        ("stop", "aws stop_instance"),
        ("storniere das", "shop cancel_order"),
        ("キャンセルして", "shop cancel_order"),
        ("取消", "shop cancel_order"),
    ],
)
def test_a_no_that_only_names_the_cards_action_may_be_a_yes(text: str, title: str) -> None:
    """If the card cancels an order, a person who says "cancel it" may agree to that or refuse it."""
    assert "reject" == verdict(read(text)).verdict
    assert says_the_action(text, title)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("no", "shop cancel_order"),
        ("no, cancel it", "shop cancel_order"),
        ("never", "shop cancel_order"),
        ("no, stop", "aws stop_instance"),
        ("cancel it", "fs delete_file"),
        ("stop", "shop cancel_order"),
        ("reject", "forge reject_change"),
    ],
)
def test_a_no_with_another_word_for_no_is_a_no(text: str, title: str) -> None:
    """The reply refuses in other words, too, or names an action that isn't the card's, or the verb of our button."""
    assert "reject" == verdict(read(text)).verdict
    assert not says_the_action(text, title)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("merge it", "merge"),
        ("restart it", "restart"),
        ("deploy it now", "deploy"),
        ("archive them", "archive"),
        ("roll it out", "roll it out"),
        ("order it", "order it"),
        ("bitte neu starten", "neu"),
        ("redémarre-le", "redémarre"),
        ("перезапусти его", "перезапусти"),
        ("马上重启", "重启"),
    ],
)
def test_an_order_asks_back_if_the_card_names_no_known_action(text: str, word: str) -> None:
    """Nobody can tell that the card does what the order says, so the order may be meant for another card."""
    assert "approve" == verdict(read(text)).verdict
    assert word == another(text, "acme frobnicate", "{}")
    assert word == another(text, "acme frobnicate Frobnicates the flux.", '{"level":3}')


def test_a_long_argument_names_the_action_only_at_its_beginning() -> None:
    """A long argument is a text. Behind its beginning, a word doesn't say what the card asks for."""
    assert "deploy" == another("deploy it", "fs write_file", '{"content":"' + "x " * 300 + 'deploy","mode":1}')
    assert "" == another("deploy it", "shell bash", '{"command":"kubectl apply -f ' + "a.yaml " * 300 + '"}')
    assert "" == another("deploy it", "shell bash", '{"note":"' + "x " * 300 + '","command":"deploy"}')


#: The verbs in the lists of orders that mean no more than "go", "run" or "start". They name no action.
GO = {
    "ar": {"اطلقه"},
    "bg": {"пускай", "пуснете", "пусни"},
    "cs": {"pouštěj", "pusť", "pusťte"},
    "de": {"lad", "lade", "starte", "starten", "starten sie"},
    # "Order" names an action only with its object, because of "all in order".
    "en": {"order", "rerun"},
    "fi": {"käynnistä", "laita menemään", "pistä menemään"},
    "hi": {"kar de", "push kar do", "कर दे"},
    "hu": {"futtasd", "indíthatod", "indítsd", "indítsd el", "mehet", "mehet ki", "mehetnek"},
    "it": {"avvialo", "lancia", "lancialo", "sblocca"},
    "pl": {"lecimy z tym", "leć z tym", "odpal", "odpalaj", "puszczaj", "puść"},
    "ro": {"rulează-l"},
    "ru": {"запускай", "запускайте"},
    "uk": {"запускай", "запускайте"},
    "vi": {"chạy lại"},
    "zh": {"跑一下", "跑吧"},
}


@pytest.mark.parametrize("code", sorted(lexicon.all_codes()))
def test_every_order_of_a_language_names_an_action(code: str) -> None:
    """An order with a verb that the list of actions lacks would approve on every card."""
    # The lists of a language have no public name.
    sections = lexicon._sections(code)  # noqa: SLF001
    lists = lexicon._Lists(sections)  # noqa: SLF001
    blank = "" if code in {"ja", "ko", "th", "zh"} else " "
    orders = {
        blank.join(words)
        for line in sections.get("list deed", [])
        for template in line.split(",")
        for words in _spelled(parse(template.strip(), lists))
    }

    assert GO.get(code, set()) == {order for order in orders if not another(order, "acme frobnicate", "{}")}


def _spelled(template: Sequence) -> Iterator[tuple[str, ...]]:
    """Give the words of each phrase of a template."""
    if not template:
        yield ()
        return
    first, rest = template[0], list(_spelled(template[1:]))
    begins: list[tuple[str, ...]]
    if isinstance(first, TemplateWord):
        begins = [(first.text,)]
    else:
        begins = [words for option in first.options for words in _spelled(option)] + [()] * first.optional
    yield from (begin + end for begin in begins for end in rest)


@pytest.mark.parametrize(
    "text", ["yes, delete everything else too", "yes, and delete the backups", "ja, und lösch auch die Backups"]
)
def test_a_yes_that_adds_an_action_is_unclear(text: str) -> None:
    """More than the card asks for is no answer to the card."""
    assert "unclear" == verdict(read(text)).verdict


@pytest.mark.parametrize(
    ("text", "word"),
    [("yes, delete it", "delete"), ("ja, kann weg", "weg"), ("sí, bórralo", "bórralo"), ("ok 删掉吧", "删掉")],
)
def test_a_deletion_must_be_named_by_the_card(text: str, word: str) -> None:
    """Elsewhere "it" may be the request, so an unknown action isn't enough for a yes that says "delete"."""
    assert "approve" == verdict(read(text)).verdict
    assert another(text, "acme frobnicate", "{}") in {word, "删"}
    assert another(text, "mail send_email", "{}")
    assert "" == another(text, "acme purge_cache", "{}")
    assert "" == another(text, "shell bash Runs a command.", '{"command":"rm -rf build"}')


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("yes, restart it", "ops reboot_server"),
        ("ja, überweis es", "bank transfer_money"),
        ("да, оплачивай", "stripe create_payment"),
        ("好，付款吧", "billing pay_invoice"),
        ("all in order, go ahead", "mail send_email"),
    ],
)
def test_the_cards_own_action_in_any_language_counts(text: str, title: str) -> None:
    """The verbs of all languages are listed with the words that cards have for them."""
    assert "approve" == verdict(read(text)).verdict
    assert "" == another(text, title, "{}")
