"""Canaries: made-up secrets that every scenario has in its settings, keys, arguments, outputs and environment.

At the end of a scenario, none of them may be in what people, agents, operators or children of the service get to see.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import subprocess
import sys
from base64 import b64encode, urlsafe_b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.logs import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pytest

#: A token in the format of who issues it, as a part of what a tool puts out.
TOKEN = "ghp_" + "7Qz2mXk9Lw4ZtRv8NcYb3Ud6Fg1Hj5Ps0EoI"
#: A secret in no known format: the argument's name says that it is one.
PASSWORD = "corrupt-horse-battery-stapler"
#: The master key of the service's keyring.
KEY = b"the-canary-in-the-keyring-sings!"
#: Variables that a person's shell may hold. No child of the service gets them.
ENVIRONMENT = {"GITHUB_TOKEN": "canary-of-the-github-token", "AWS_SECRET_ACCESS_KEY": "canary-of-the-aws-key"}
#: The arguments of a call, unless a scenario names others.
ARGUMENTS = {"path": "notes.txt", "password": PASSWORD}
#: What servers of the simulators log about requests to them, in which Telegram's token is a part of the address.
_OTHER_SIDE = ("aiohttp.access", "aiohttp.server", "simulators")
_CHILD = "a child's environment"
_ROOT = Path(__file__).resolve().parent.parent
_PRODUCT = tuple(f"{_ROOT / name}{os.sep}" for name in ("adapters", "bot", "hitl"))


class Canaries:
    """The canaries of one scenario, and the places to look at when it ends."""

    def __init__(self) -> None:
        self.active = False
        self._planted: dict[str, str] = {}
        self._given: set[str] = set()
        self._places: dict[str, list[Callable[[], Iterable[object]]]] = {}

    def plant(self, name: str, secret: str, *, for_a_child: bool = False) -> str:
        """Remember a secret of this scenario. Return it. `for_a_child`: an operator gives it to one child."""
        self._planted[name] = secret
        if for_a_child:
            self._given.add(name)
        return secret

    def look(self, place: str, texts: Callable[[], Iterable[object]]) -> None:
        """At the end of the scenario, look for the secrets in these texts, which people or programs got there."""
        if self.active:
            self._places.setdefault(place, []).append(texts)

    def found(self) -> set[str]:
        """Return each canary that is in a place, with the name of the place."""
        return {
            f"{name} in {place}"
            for place, looks in self._places.items()
            for look in looks
            for text in map(str, look())
            for name, secret in self._planted.items()
            if secret in text and (place != _CHILD or name not in self._given)
        }

    @contextlib.contextmanager
    def planted(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Plant the canaries that all scenarios have, log at debug level, and note what children get."""
        self.__init__()  # type: ignore[misc]
        self.active = True
        for name, secret in {"token": TOKEN, "password": PASSWORD, **ENVIRONMENT}.items():
            self.plant(name, secret)
        for form in (KEY.hex(), b64encode(KEY).decode(), urlsafe_b64encode(KEY).decode(), KEY.decode()):
            self.plant(f"key {form[:4]}", form)
        for name, secret in ENVIRONMENT.items():
            monkeypatch.setenv(name, secret)
        self._note_children(monkeypatch)
        try:
            with self._logged():
                yield
        finally:
            self.active = False

    def _note_children(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Note the environment of every process that code of the product starts."""
        begin: Any = subprocess.Popen.__init__
        environments: list[object] = []

        def noted(process: Any, *args: Any, env: Any = None, **more: Any) -> None:
            if _is_product():
                environments.append(dict(os.environ if env is None else env))
            begin(process, *args, env=env, **more)

        monkeypatch.setattr(subprocess.Popen, "__init__", noted)
        self.look(_CHILD, lambda: environments)

    @contextlib.contextmanager
    def _logged(self) -> Iterator[None]:
        """Log everything at debug level, in the form of the service's log."""
        lines, root = io.StringIO(), logging.getLogger()
        handler, before = logging.StreamHandler(lines), root.level
        handler.setFormatter(Line())
        handler.addFilter(lambda record: not record.name.startswith(_OTHER_SIDE))
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        self.look("the log", lambda: lines.getvalue().splitlines())
        try:
            yield
        finally:
            root.removeHandler(handler)
            root.setLevel(before)


def _is_product() -> bool:
    """Return whether code of the product is on the stack of the caller."""
    frame = sys._getframe(1)  # noqa: SLF001 - `inspect.stack` reads every source file
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_filename.startswith(_PRODUCT):
            return True
    return False


#: The canaries of the scenario that runs.
CANARIES = Canaries()
