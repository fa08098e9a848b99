"""What a fork of `forks.py` finds done. Something missing here costs each fork its time, and nothing else."""

from __future__ import annotations

import functools
import gc

# A start or the first request imports these.
import anyio._backends._asyncio  # noqa: F401
import httpcore  # noqa: F401
import typer.main
import uvicorn.lifespan.off
import uvicorn.protocols.http.httptools_impl
import uvicorn.protocols.websockets.websockets_sansio_impl  # noqa: F401
import uvloop  # noqa: F401
import websockets.extensions.permessage_deflate
import websockets.server  # noqa: F401

import adapters.database.sqlite.backup
import adapters.database.sqlite.examine
import adapters.database.sqlite.history
import adapters.database.sqlite.survey
import adapters.executors.bash
import adapters.executors.own_processes
import adapters.executors.workspace
import adapters.http.app
import adapters.http.listeners
import adapters.http.surface
import adapters.http.waits
import adapters.slack.platform
import adapters.telegram.platform
import adapters.terminal.surface  # noqa: F401
import bot.conversation.router
import bot.conversation.turns
import bot.doctor.checks
import bot.platform_runner
import bot.platforms
import bot.serve
import bot.settings
import bot.workers.inbox  # noqa: F401
import hitl.replies.reader
import hitl.replies.yes_with_reason  # noqa: F401
from bot.cli.main import application
from bot.compose import policy_library
from bot.policies import Policies
from hitl.cards.redaction import mask

# Compiles the patterns of the policy, and those of secrets; they are kept by their text.
Policies(policy_library(()), "default")
mask("a line of the log")
# Typer reads the signatures of all commands at each start, which takes a third of a fork's start.
typer.main.get_command = functools.cache(typer.main.get_command)
typer.main.get_command(application())
# A collection in a fork would copy every page of what it shares with the others.
gc.freeze()
