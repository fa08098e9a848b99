"""A yes that names another action than the card's: it was meant for another question."""

import pytest

from hitl.replies import another, read, verdict


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
        # The card names no action that is known.
        ("yes, merge it", "acme frobnicate", "{}"),
        # Long arguments are texts: what they say is not what the card asks for.
        ("yes, deploy it", "fs write_file", '{"content":"' + "we delete things " * 40 + '"}'),
        # Ways to say "go ahead".
        ("send it", "fs delete_file", "{}"),
        ("ship it", "fs delete_file", "{}"),
        ("run it", "fs delete_file", "{}"),
    ],
)
def test_a_yes_that_fits_the_card_or_names_nothing_counts(text: str, title: str, arguments: str) -> None:
    """Only a contradiction asks back: an action of the list against others of the list."""
    assert "" == another(text, title, arguments)


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
