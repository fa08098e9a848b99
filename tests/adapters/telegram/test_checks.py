"""What Telegram is told once, and what `doctor` asks it, on a Telegram server of ours over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from telegram import ReactionTypeCustomEmoji, ReactionTypeEmoji
from telegram.error import BadRequest, TelegramError

from adapters.telegram.checks import decides, report
from adapters.telegram.handlers import ALLOWED_UPDATES
from adapters.telegram.platform import make_bot
from adapters.telegram.refusals import reason
from adapters.telegram.settings import TelegramSettings
from adapters.telegram.setup import COMMANDS, DESCRIPTIONS, remove, set_up
from bot.errors import SettingsError
from bot.settings import Settings
from hitl.cards.wording import say
from hitl.platforms import Check, Health
from simulators.telegram import Bot, Garbage, Hang, Refuse, Reset, TelegramServer, User
from tests.next_steps import without_a_step
from tests.sentences import says

SECRET = "a-secret_of-ours"
#: Methods of the Bot API that change something begin so.
CHANGING = ("set", "delete", "send", "edit")


@dataclass
class World:
    """A Telegram server with one bot, and the settings that point at it."""

    telegram: TelegramServer
    account: Bot
    ada: User

    def settings(self, **more: Any) -> TelegramSettings:
        """As an operator would have them; without more, polling."""
        return TelegramSettings(**{"token": SecretStr(self.account.token), "api": self.telegram.root_url, **more})

    def webhook(self, **more: Any) -> TelegramSettings:
        """By webhook, on a port where nothing listens."""
        hook = {"webhook_url": "http://127.0.0.1:9/", "webhook_secret": SecretStr(SECRET)}
        return self.settings(receive="webhook", **{**hook, **more})

    async def set_up(self, settings: TelegramSettings | None = None) -> list[str]:
        """Deploy."""
        async with make_bot(settings or self.settings()) as bot:
            return await set_up(bot, settings or self.settings())

    async def remove(self) -> list[str]:
        """Take it back."""
        async with make_bot(self.settings()) as bot:
            return await remove(bot)

    async def changes(self) -> list[str]:
        """The methods that changed something, in the order in which they were called."""
        return [call.method for call in await self.telegram.calls() if call.method.startswith(CHANGING)]

    async def look(self, telegram: TelegramSettings | None = None, **more: Any) -> dict[str, Check]:
        """What doctor says, by name."""
        settings = Settings(telegram=telegram or self.settings(), **more)
        checks = await report(settings.section("telegram"), settings.directory(), settings.http.port)
        assert len(checks) == len({check.name for check in checks})
        assert [] == without_a_step(checks)
        return {check.name: check for check in checks}

    async def row(self, name: str, telegram: TelegramSettings | None = None, **more: Any) -> Check:
        """One line of it."""
        return (await self.look(telegram, **more))[name]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """A Telegram where Ada has started the bot."""
    async with TelegramServer() as telegram:
        account = await telegram.bot()
        ada = await telegram.user("Ada")
        await telegram.private(ada)
        yield World(telegram, account, ada)


class TestSetUp:
    """`sayso deploy telegram`."""

    async def test_commands_and_descriptions_are_set_in_every_language(self, world: World) -> None:
        """What people read beside the bot is ours, for each language and for all others."""
        await world.set_up()
        async with make_bot(world.settings()) as bot:
            commands = {code: await bot.get_my_commands(language_code=code) for code in COMMANDS}
            told = {code: (await bot.get_my_description(language_code=code)).description for code in DESCRIPTIONS}
            short = {
                code: (await bot.get_my_short_description(language_code=code)).short_description
                for code in DESCRIPTIONS
            }

        assert COMMANDS == {code: {one.command: one.description for one in ones} for code, ones in commands.items()}
        assert (DESCRIPTIONS, DESCRIPTIONS) == (told, short)

    async def test_a_second_time_changes_nothing(self, world: World) -> None:
        """What is right already is left alone, and said."""
        await world.set_up()
        before = len(await world.changes())
        told = await world.set_up()

        assert [] == (await world.changes())[before:]
        assert [say("deploy.telegram.token", name="sayso_bot"), say("deploy.telegram.polling")] == told[:2]
        assert {"right already"} == {line.partition(": ")[2] for line in told[2:]}

    async def test_a_webhook_is_all_that_is_set_again(self, world: World) -> None:
        """Telegram doesn't tell which secret it holds, so that is told anew; nothing else is."""
        await world.set_up(world.webhook())
        before = len(await world.changes())
        await world.set_up(world.webhook())

        assert ["setWebhook"] == (await world.changes())[before:]

    async def test_only_what_is_wrong_is_mended(self, world: World) -> None:
        """A short description that somebody changed is put right; the rest stays."""
        await world.set_up()
        before = len(await world.changes())
        async with make_bot(world.settings()) as bot:
            await bot.set_my_short_description("Something else", language_code="fr")
        told = await world.set_up()

        assert ["setMyShortDescription"] * 2 == (await world.changes())[before:]
        assert ["descriptions (fr): set"] == [line for line in told[2:] if "right already" not in line]

    async def test_the_webhook_has_the_secret_and_just_the_updates_that_are_read(self, world: World) -> None:
        """Exactly those, at our path, whether or not the address ends with a slash."""
        for url in ("http://127.0.0.1:9", "http://127.0.0.1:9/"):
            await world.set_up(world.webhook(webhook_url=url))
        first, second = await world.telegram.calls("setWebhook")

        wanted = {
            "url": "http://127.0.0.1:9/telegram/webhook",
            "secret_token": SECRET,
            "allowed_updates": list(ALLOWED_UPDATES),
        }
        assert (wanted, wanted) == (first.params, second.params)

    async def test_polling_clears_a_webhook_and_keeps_what_waits(self, world: World) -> None:
        """What was said meanwhile is still there for getUpdates."""
        await world.set_up(world.webhook())
        await world.telegram.say(world.ada, world.account, "hello")
        told = await world.set_up()

        assert say("deploy.telegram.polling.now") == told[1]
        assert "deleteWebhook" == (await world.changes())[-1]
        assert ["hello"] == [update["message"]["text"] for update in await world.telegram.pending()]

    @pytest.mark.parametrize(
        ("missing", "named"),
        [({"webhook_secret": None}, "webhook_secret_file"), ({"webhook_url": ""}, "webhook_url")],
    )
    async def test_a_webhook_without_address_or_secret_is_refused(
        self, world: World, missing: dict[str, Any], named: str
    ) -> None:
        """Without a secret anybody could press buttons; nothing is told to Telegram."""
        with pytest.raises(SettingsError, match=named):
            await world.set_up(world.webhook(**missing))

        assert [] == await world.changes()

    async def test_what_telegram_refuses_is_raised(self, world: World) -> None:
        """An address that it can't call, for one."""
        with pytest.raises(BadRequest, match=r"(?i)https url must be provided"):
            await world.set_up(world.webhook(webhook_url="http://sayso.example"))


class TestRemove:
    """`sayso deploy telegram --remove`."""

    async def test_everything_is_taken_back(self, world: World) -> None:
        """Nothing of ours is left in any language, and no webhook."""
        await world.set_up(world.webhook())
        told = await world.remove()
        (desk,) = world.telegram.platform.desks.values()

        assert (None, {}) == (desk.webhook, desk.commands)
        assert [""] == list({*desk.descriptions.values(), *desk.short_descriptions.values()})
        assert [] == [line for line in told if "removed" not in line]

    async def test_a_second_time_changes_nothing(self, world: World) -> None:
        """There is nothing left to take back, and that is said."""
        await world.set_up()
        await world.remove()
        before = len(await world.changes())
        told = await world.remove()

        assert [] == (await world.changes())[before:]
        assert {"none", "none, so polling works"} == {line.partition(": ")[2] for line in told}

    async def test_it_can_be_set_up_again(self, world: World) -> None:
        """Set up, removed, set up: as after the first."""
        first = await world.set_up()
        await world.remove()

        assert first == await world.set_up()


class TestReport:
    """The Telegram lines of `sayso doctor`."""

    async def test_a_bot_that_is_set_up_is_green(self, world: World) -> None:
        """Whose token it is, that privacy mode is on, and how updates come."""
        rows = await world.look()

        assert ["telegram token", "telegram privacy mode", "telegram receiving"] == list(rows)
        assert {Health.GREEN} == {check.state for check in rows.values()}
        assert "@sayso_bot" in rows["telegram token"].text

    async def test_a_bot_that_reads_everything_is_yellow(self, world: World) -> None:
        """It works, and it should be known."""
        nosy = await world.telegram.bot("nosy_bot", privacy=False)
        row = await world.row("telegram privacy mode", world.settings(token=SecretStr(nosy.token)))

        assert Health.YELLOW is row.state

    async def test_a_refused_token_is_red_and_not_repeated(self, world: World) -> None:
        """One line that says what is wrong."""
        token = "7100000009:AAwrong_0000000000000000000000000009"
        rows = await world.look(world.settings(token=SecretStr(token)))

        assert [("telegram", Health.RED)] == [(check.name, check.state) for check in rows.values()]
        assert "BotFather" in rows["telegram"].text
        assert "AAwrong" not in rows["telegram"].text

    @pytest.mark.parametrize(
        "fault", [Reset(), Garbage(), Hang(1), Refuse(500, "Internal Server Error"), Refuse(429, "Too Many Requests")]
    )
    async def test_trouble_on_the_way_is_a_red_line(self, world: World, fault: Any) -> None:
        """The network or Telegram itself: said, not raised, with the address that was asked."""
        await world.telegram.fail("getMe", fault, 9)
        rows = await world.look(world.settings(timeout_s=0.2))

        assert [("telegram", Health.RED)] == [(check.name, check.state) for check in rows.values()]
        assert world.telegram.root_url in rows["telegram"].text

    async def test_nobody_there_is_a_red_line(self, world: World) -> None:
        """As when a name can't be found or a machine is off."""
        settings = world.settings()
        await world.telegram.down()
        row = await world.row("telegram", settings)

        assert Health.RED is row.state
        assert "\n" not in row.text

    @pytest.mark.parametrize("api", ["127.0.0.1:9", "http://[", "ftp://127.0.0.1", "http://127.0.0.1:9 "])
    async def test_an_address_that_is_none_is_a_red_line(self, world: World, api: str) -> None:
        """A slip in `telegram.api`: named, not raised, and without the token that stands behind it."""
        row = await world.row("telegram", world.settings(api=api))

        assert Health.RED is row.state
        assert api in row.text
        assert "AAtest" not in row.text

    async def test_a_token_file_that_is_no_text_is_the_operators_mistake(self, world: World, tmp_path: Path) -> None:
        """As one that isn't there."""
        (tmp_path / "token").write_bytes(b"\xff\xfe")
        with pytest.raises(SettingsError, match="isn't text"):
            await world.look(world.settings(token=None, token_file=tmp_path / "token"))

    async def test_no_token_is_the_operators_mistake(self, world: World) -> None:
        """Told as every other mistake in the settings."""
        with pytest.raises(SettingsError, match="needs a token"):
            await world.look(world.settings(token=None))


class TestReceiving:
    """How updates come in, as Telegram has it."""

    name = "telegram receiving"

    async def test_polling_with_a_webhook_in_the_way(self, world: World) -> None:
        """Red, with what to run; after that it is green."""
        await world.set_up(world.webhook())
        before = await world.row(self.name)
        await world.set_up()

        assert Health.RED is before.state
        assert "sayso deploy telegram" in before.text
        assert Health.GREEN is (await world.row(self.name)).state

    async def test_a_webhook_that_is_as_configured(self, world: World) -> None:
        """Green, with what waits."""
        await world.set_up(world.webhook())
        row = await world.row(self.name, world.webhook(), http={"port": 0})

        assert (Health.GREEN, "by webhook; 0 updates wait") == (row.state, row.text)

    @pytest.mark.parametrize("told", [{}, {"url": "http://127.0.0.1:9/elsewhere"}])
    async def test_another_webhook_or_none(self, world: World, told: dict[str, str]) -> None:
        """Red, with both addresses."""
        async with make_bot(world.settings()) as bot:
            await bot.set_webhook(told.get("url", ""))
        row = await world.row(self.name, world.webhook(), http={"port": 0})

        assert Health.RED is row.state
        assert told.get("url", "not set") in row.text
        assert "http://127.0.0.1:9/telegram/webhook" in row.text

    async def test_a_webhook_for_other_updates(self, world: World) -> None:
        """Red: presses or reactions would be missing."""
        await world.set_up(world.webhook())
        async with make_bot(world.settings()) as bot:
            await bot.set_webhook("http://127.0.0.1:9/telegram/webhook", allowed_updates=["message"])
        row = await world.row(self.name, world.webhook(), http={"port": 0})

        assert Health.RED is row.state
        assert "other updates" in row.text

    async def test_a_webhook_that_can_not_be_called(self, world: World) -> None:
        """Yellow: the last error, its time, and how much waits."""
        await world.set_up(world.webhook())
        await world.telegram.say(world.ada, world.account, "hello")
        (desk,) = world.telegram.platform.desks.values()
        await world.telegram.wait_for(lambda: desk.last_error)
        row = await world.row(self.name, world.webhook(), http={"port": 0})

        assert Health.YELLOW is row.state
        assert says(row.text, "doctor.telegram.webhook.failed", count=1)
        assert "UTC: Connection refused" in row.text

    @pytest.mark.parametrize(
        ("missing", "http", "named"),
        [
            ({"webhook_secret": None}, {"port": 0}, "webhook_secret_file"),
            ({"webhook_url": ""}, {"port": 0}, "webhook_url"),
            ({}, {}, "http.port"),
        ],
    )
    async def test_what_a_webhook_needs(
        self, world: World, missing: dict[str, Any], http: dict[str, int], named: str
    ) -> None:
        """Red, naming the setting, before anything else is compared."""
        row = await world.row(self.name, world.webhook(**missing), http=http)

        assert Health.RED is row.state
        assert named in row.text


class TestPlaces:
    """Each chat that gets cards, and each person who may approve."""

    async def test_in_a_group_reactions_need_an_administrator(self, world: World) -> None:
        """Yellow as a member, green as an administrator."""
        group = await world.telegram.supergroup("Ops", members=[world.ada], bots=[world.account])
        place = f"telegram:{group.id}"
        member = await world.row(place, routes=[place])
        await world.telegram.promote(group, world.account)

        assert Health.YELLOW is member.state
        assert "administrator" in member.text
        assert Health.GREEN is (await world.row(place, routes=[place])).state

    @pytest.mark.parametrize(
        ("offered", "enough"),
        [("", True), ("👍", True), ("🎉👌", True), ("👎", False), ("🎉❤🔥", False)],
    )
    def test_a_chat_may_offer_no_reaction_that_says_yes(self, offered: str, *, enough: bool) -> None:
        """Its administrators choose which there are; none named means all."""
        assert enough is decides([ReactionTypeEmoji(emoji) for emoji in offered])

    def test_a_picture_of_its_own_says_nothing(self) -> None:
        """Custom emoji have no meaning that anybody agreed on."""
        assert not decides([ReactionTypeCustomEmoji("5368324170671202286")])

    async def test_every_place_that_is_named_is_looked_at(self, world: World) -> None:
        """Routes for all, conversations with lists, and their own routes; each once, Telegram's only."""
        groups = [await world.telegram.supergroup(name, members=[world.ada], bots=[world.account]) for name in "abc"]
        a, b, c = (f"telegram:{group.id}" for group in groups)
        named: dict[str, Any] = {"routes": [a, "slack:T1/C1"], "conversations": {b: {"routes": [c, a]}, "local": {}}}
        rows = await world.look(**named)

        assert sorted([a, b, c]) == [name for name in rows if not name.startswith("telegram ")]

    async def test_where_the_bot_can_not_write_is_red(self, world: World) -> None:
        """Not a member, thrown out, muted, blocked, no such chat, a closed topic, and no chat at all."""
        telegram, bot = world.telegram, world.account
        ben = await telegram.user("Ben")
        left = await telegram.supergroup("Left", members=[world.ada])
        kicked = await telegram.supergroup("Kicked", members=[world.ada], bots=[bot])
        await telegram.kick(kicked, bot)
        muted = await telegram.supergroup("Muted", members=[world.ada], bots=[bot])
        await telegram.mute(muted, bot)
        await telegram.block(ben)
        forum = await telegram.supergroup("Forum", members=[world.ada], bots=[bot], forum=True)
        closed = await telegram.close_topic(forum, await telegram.topic(forum, "deploys"))
        ids = [left.id, kicked.id, muted.id, ben.id, -1009999999999, f"{forum.id}/{closed.id}", "ops"]
        rows = await world.look(routes=[f"telegram:{one}" for one in ids])

        assert says(rows[f"telegram:{muted.id}"].text, "doctor.telegram.place.muted")
        assert rows[f"telegram:{ben.id}"].text.endswith(say("remedy.telegram.blocked"))
        assert rows[f"telegram:{kicked.id}"].text.endswith(say("remedy.telegram.member"))
        assert {Health.RED} == {check.state for name, check in rows.items() if not name.startswith("telegram ")}
        assert len(ids) + 3 == len(rows)

    async def test_a_topic_is_green(self, world: World) -> None:
        """As its forum is."""
        forum = await world.telegram.supergroup("Forum", members=[world.ada], bots=[world.account], forum=True)
        topic = await world.telegram.topic(forum, "deploys")
        await world.telegram.promote(forum, world.account)
        place = f"telegram:{forum.id}/{topic.id}"

        assert Health.GREEN is (await world.row(place, routes=[place])).state

    async def test_a_group_that_moved_is_followed(self, world: World) -> None:
        """The line keeps the configured name and tells the new one."""
        group = await world.telegram.group("Ops", members=[world.ada], bots=[world.account])
        new = await world.telegram.migrate(group)
        row = await world.row(f"telegram:{group.id}", routes=[f"telegram:{group.id}"])

        assert Health.YELLOW is row.state
        assert f"became telegram:{new.id}; cards reach it" in row.text

    async def test_an_approver_must_have_started_the_bot(self, world: World) -> None:
        """Green for who has, yellow for who hasn't or blocks it; through a principal too."""
        cyd, dan = await world.telegram.user("Cyd"), await world.telegram.user("Dan")
        await world.telegram.block(dan)
        rows = await world.look(
            approvers=["ada", f"telegram:{cyd.id}", "local:1000"],
            principals={"ada": [f"telegram:{world.ada.id}", "local:1001"]},
            conversations={"local": {"approvers": [f"telegram:{dan.id}"]}},
        )

        assert {
            f"telegram:{world.ada.id}": Health.GREEN,
            f"telegram:{cyd.id}": Health.YELLOW,
            f"telegram:{dan.id}": Health.YELLOW,
        } == {name: check.state for name, check in rows.items() if not name.startswith("telegram ")}

    async def test_a_name_is_nobody(self, world: World) -> None:
        """Names can be taken by others, so Telegram's numbers are listed; anything else is red."""
        assert Health.RED is (await world.row("telegram:ada", approvers=["telegram:ada"])).state

    async def test_nothing_is_left_in_a_chat(self, world: World) -> None:
        """Doctor looks; nobody gets a message from it."""
        await world.look(routes=[f"telegram:{world.ada.id}"])

        assert [] == await world.telegram.messages(world.ada)


def test_a_reason_is_one_line_without_a_token() -> None:
    """Whatever the library makes of an answer."""
    told = reason(TelegramError("Bad\nGateway for 7100000001:AAtest_0000000000000000000000000001."))

    assert told.startswith("Bad Gateway for ")
    assert "AAtest_00" not in told
