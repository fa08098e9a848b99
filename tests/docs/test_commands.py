"""The pages of the documentation name commands and options of `sayso` that the program has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from bot.cli.main import application
from tests.docs.test_pages import PAGES, ROOT

PROGRAM: Any = get_command(application())
#: Files beside the pages that tell people which command to type.
SCRIPTS = [
    path
    for folder in ("deploy", "examples")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".sh", ".toml", ".yaml", ".service", ".py"}
]
#: Code on a page: a block between fences, or words between backticks.
_CODE = re.compile(r"^ *(```+|~~~+).*?^ *\1|(`+)(?!`).*?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL)
#: A command up to the end of its line, or to what a shell or a sentence sets apart.
_COMMAND = re.compile(r"(?<![\w/.@:-])sayso (?=((?!sayso\b)(?:-|[a-z-]+(?![\w:/]))[^\n`|;&)>#]*))")
#: Words after which `sayso` is the name of a user, a namespace, a secret or a deployment.
_NAMING = re.compile(r"-.+|generic|deployment")


def commands(text: str) -> list[list[str]]:
    """Return the words of each `sayso` command in a text, without the name of the program."""
    joined = re.sub(r"\$\([^)]*\)", "X", re.sub(r"\\\n\s*", " ", text))
    found = [(joined[: each.start()].split()[-1:], each[1]) for each in _COMMAND.finditer(joined)]
    typed = [command for before, command in found if before == ["--"] or not any(map(_NAMING.fullmatch, before))]
    return [[word.strip("\\\"'.,:") for word in _split(command)] for command in typed]


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def unknown(words: list[str]) -> str:
    """Return the part of a command that the program doesn't have, or ''."""
    command, rest = PROGRAM, list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    if hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        return rest[0]
    options = {"--help", "-h"}.union(*({*each.opts, *each.secondary_opts} for each in command.params))
    # What follows `--` is somebody else's command.
    own = rest[: rest.index("--")] if "--" in rest else rest
    named = (re.split(r"[=\]]", word.lstrip("["))[0] for word in own if re.match(r"\[?--?[a-z]", word))
    return next((name for name in named if name not in options), "")


@pytest.mark.parametrize("page", [*PAGES, *SCRIPTS], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_on_a_page_is_one_of_the_program(page: Path) -> None:
    """With each of its options. A reader who types it gets no error of usage."""
    text = page.read_text()
    code = [found[0] for found in _CODE.finditer(text)] if page.suffix == ".md" else [text]
    wrong = {(" ".join(words), part) for each in code for words in commands(each) if (part := unknown(words))}

    assert set() == wrong


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("$ sayso audit verify", ""),
        ("sayso audit varify", "varify"),
        ("sudo sayso deploy telegram --remov", "--remov"),
        ("sayso backup \\\n  copy.db --jsonn | tee x --all", "--jsonn"),
        ("sudo -u sayso sayso doctr", "doctr"),
        ("sayso ask --no-wait -- make --lint", ""),
        ("docker compose exec sayso sayso doctor", ""),
        ("kubectl --namespace sayso exec deployment/sayso -- sayso relod", "relod"),
    ],
)
def test_a_wrong_command_is_found(text: str, part: str) -> None:
    """Wherever it is in a line; the options of other programs are theirs."""
    assert [part] == [unknown(words) for words in commands(text)]


def test_the_reference_names_every_command() -> None:
    """Beside its help, a command is found on the page of all commands."""
    page = (ROOT / "docs/reference/command-line.md").read_text()
    groups = {name: getattr(each, "commands", {}) for name, each in PROGRAM.commands.items() if not each.hidden}
    names = {f"{group} {name}".strip() for group, inside in groups.items() for name in inside or ("",)}

    assert set() == {name for name in names if not re.search(rf"\b{name.split()[-1]}\b", page)}
