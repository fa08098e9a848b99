"""Setting Telegram up from the command line: `init telegram`, `sayso deploy telegram`, `doctor`, as processes."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest

from adapters.telegram.handlers import ALLOWED_UPDATES
from simulators.telegram import Bot, TelegramServer
from tests.acceptance.installation import ALONE, Installation
from tests.sentences import says

pytestmark = pytest.mark.long

SECRET = "a-secret_of-ours"
HOOK = 'receive = "webhook"\nwebhook_url = "http://127.0.0.1:9"\nwebhook_secret_file = "secret"\n'

Make = Callable[..., Installation]
Done = subprocess.CompletedProcess[str]


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramServer]:
    """A running server with one bot."""
    async with TelegramServer() as server:
        await server.bot()
        yield server


def bot_of(telegram: TelegramServer) -> Bot:
    """The bot."""
    return next(iter(telegram.world.bots.values()))


@pytest.fixture
def place(install: Make, telegram: TelegramServer) -> Installation:
    """An installation that knows the bot."""
    return install(
        settings=ALONE + f'[telegram]\ntoken_file = "token"\napi = "{telegram.root_url}"\n',
        environment={"SAYSO_TELEGRAM__TOKEN": bot_of(telegram).token},
    )


async def sayso(place: Installation, *words: str, **environment: str) -> Done:
    """A `sayso` command to its end, beside a server that lives in this process."""
    return await asyncio.to_thread(place.run, *words, **environment)


async def deploy(place: Installation, *words: str, **environment: str) -> Done:
    """`sayso deploy telegram ...` to its end."""
    return await sayso(place, "deploy", "telegram", *words, **environment)


def refused(done: Done, status: int, named: str) -> bool:
    """Whether it ended with that status and one line on stderr that names what is wrong."""
    said = done.stderr.splitlines()
    return (status, "", 1) == (done.returncode, done.stdout, len(said)) and named in said[0]


class TestDeploy:
    """`sayso deploy telegram`."""

    async def test_it_says_what_it_did_and_did_not(self, place: Installation, telegram: TelegramServer) -> None:
        """Both times 0 and a line for each thing; the second time nothing is changed."""
        first = await deploy(place)
        methods = [call.method for call in await telegram.calls()]
        second = await deploy(place)
        after = [call.method for call in await telegram.calls()][len(methods) :]

        assert [(0, ""), (0, "")] == [(done.returncode, done.stderr) for done in (first, second)]
        assert "commands (default): set" in first.stdout.splitlines()
        assert "commands (default): right already" in second.stdout.splitlines()
        assert "setMyCommands" in methods
        assert [] == [method for method in after if not method.startswith("get")]

    async def test_a_webhook_and_back(self, place: Installation, telegram: TelegramServer) -> None:
        """The secret comes from its file; `--remove` leaves nothing."""
        (place.root / "secret").write_text(f"{SECRET}\n")
        place.config.write_text(place.config.read_text() + HOOK)
        there = await deploy(place)
        (hook,) = await telegram.calls("setWebhook")
        (desk,) = telegram.platform.desks.values()
        back = await deploy(place, "--remove")

        assert [0, 0] == [there.returncode, back.returncode]
        assert {"secret_token": SECRET, "allowed_updates": list(ALLOWED_UPDATES)}.items() <= hook.params.items()
        assert "http://127.0.0.1:9/telegram/webhook" == hook.params["url"]
        assert (None, {}) == (desk.webhook, desk.commands)
        assert SECRET not in there.stdout + back.stdout

    async def test_a_refused_token_is_one(self, place: Installation) -> None:
        """One line that doesn't repeat it."""
        done = await deploy(place, SAYSO_TELEGRAM__TOKEN="7100000009:AAwrong_0000000000000000000000000009")

        assert refused(done, 1, "BotFather")
        assert "AAwrong" not in done.stderr

    async def test_a_telegram_that_does_not_answer_is_one(self, place: Installation, telegram: TelegramServer) -> None:
        """One line; it can be run again."""
        await telegram.down()

        done = await deploy(place)
        assert refused(done, 1, "")
        assert says(done.stderr, "deploy.refused")

    @pytest.mark.parametrize(
        ("settings", "named"),
        [
            (ALONE, "There is no [telegram]"),
            ("aprovers = []\n", "no such setting"),
            ('[telegram]\ntoken_file = "nowhere"\n', "nowhere isn't there"),
            ("[telegram]\n", "needs a token"),
            ('[telegram]\ntoken = "7100000001:AAtest_0000000000000000000000000001"\n', "SAYSO_TELEGRAM__TOKEN"),
            ("[telegram\n", "isn't TOML"),
        ],
    )
    async def test_settings_that_can_not_be_used_are_two(self, install: Make, settings: str, named: str) -> None:
        """One line that names what is wrong, and never a token."""
        done = await deploy(install(settings=settings))

        assert refused(done, 2, named)
        assert "AAtest" not in done.stderr

    async def test_a_webhook_without_a_secret_is_two(self, place: Installation, telegram: TelegramServer) -> None:
        """Nothing is told to Telegram: an open webhook would let anybody press buttons."""
        place.config.write_text(place.config.read_text() + HOOK.replace("webhook_secret_file", "#"))
        done = await deploy(place)

        assert refused(done, 2, "webhook_secret_file")
        assert [] == [call.method for call in await telegram.calls() if not call.method.startswith("get")]

    async def test_a_usage_mistake_is_two(self, place: Installation) -> None:
        """As for every command."""
        done = await deploy(place, "--nonsense")

        assert (2, "") == (done.returncode, done.stdout)
        assert "Traceback" not in done.stderr


class TestDoctor:
    """`sayso doctor` about Telegram."""

    async def test_telegrams_own_view_is_told(self, place: Installation) -> None:
        """A line for token, privacy mode and receiving; each with its sign."""
        told = await sayso(place, "doctor")

        assert "✔ telegram token: belongs to @sayso_bot" in told.stdout.splitlines()
        assert "✔ telegram receiving: by polling; 0 updates wait" in told.stdout.splitlines()

    @pytest.mark.parametrize("trouble", ["down", "token", "file"])
    async def test_trouble_is_a_red_line(self, place: Installation, telegram: TelegramServer, trouble: str) -> None:
        """No network, a wrong token, no token: told in the report, not instead of it."""
        environment = {} if trouble == "down" else {"SAYSO_TELEGRAM__TOKEN": "7100000009:AAwrong_000000000009"}
        place.environment = {} if trouble == "file" else {**place.environment, **environment}
        if trouble == "down":
            await telegram.down()
        told = await sayso(place, "doctor", "--json")
        rows = {row["name"]: row["state"] for row in json.loads(told.stdout)}

        assert (1, "") == (told.returncode, told.stderr)
        assert ("red", "yellow") == (rows["telegram"], rows["tools"])
        assert "AAwrong" not in told.stdout

    async def test_a_second_poller_shows(self, place: Installation, telegram: TelegramServer) -> None:
        """Red while another process takes the updates, green when it is gone."""
        await asyncio.to_thread(place.start)
        await telegram.wait_polling()
        url = f"{telegram.base_url}{bot_of(telegram).token}/getUpdates"
        async with aiohttp.ClientSession() as rival, rival.post(url, json={"timeout": 50}) as answer:
            fought = await answer.json()
        during = await self._service(place)
        await telegram.wait_polling()
        await telegram.say(await telegram.user("Ada"), bot_of(telegram), "hello")
        await telegram.wait_message("Ada")
        after = await self._service(place)

        assert 409 == fought["error_code"]
        assert "red" == during["state"]
        assert "another poller" in during["text"]
        assert "green" == after["state"], after["text"]

    async def _service(self, place: Installation) -> dict[str, str]:
        """The line of the service."""
        rows = json.loads((await sayso(place, "doctor", "--json")).stdout)
        (row,) = (row for row in rows if row["name"] == "service")
        return dict(row)


async def test_init_writes_what_deploy_and_doctor_understand(place: Installation, telegram: TelegramServer) -> None:
    """One command adds what the others need; a second time it is refused in one line."""
    place.config.write_text("requesters = []\n")
    place.environment = {**place.environment, "SAYSO_TELEGRAM__API": telegram.root_url}
    first, second = [await sayso(place, "init", "telegram", "--file", str(place.config)) for _ in "12"]
    deployed, told = await deploy(place), await sayso(place, "doctor")

    assert (0, "", 0) == (first.returncode, first.stderr, deployed.returncode)
    assert refused(second, 2, "has a [telegram] already")
    assert "✔ telegram receiving: by polling; 0 updates wait" in told.stdout.splitlines()
