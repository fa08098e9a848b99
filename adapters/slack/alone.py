"""The data with which one person gets an answer, as text that the inbox and Slack's windows store."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self

from adapters.slack.messages import packed


@dataclass(frozen=True, slots=True)
class Alone:
    """The ways to send one person an answer that only they see, or to open a window for them.

    - `trigger` opens a window, for three seconds after the press.
    - `view` is the window in which the person acted.
    - `page` is the number of the page that the person wants to see.
    - `url` is Slack's response URL. It accepts answers even in channels in which the bot isn't a member.
    - `home` says that the person is looking at the app's Home tab.
    """

    user: str
    channel: str = ""
    thread: str = ""
    trigger: str = ""
    url: str = ""
    view: str = ""
    page: int = 0
    home: bool = False

    def pack(self) -> str:
        """Return these fields as text for `Heard.press`."""
        return packed({name: value for name, value in asdict(self).items() if value})

    @classmethod
    def unpack(cls, text: str) -> Self:
        """Return the fields from the text of `pack`. Raises ValueError or TypeError for any other text."""
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class Kept:
    """The data that Slack stores with a window: the call's ref, the place of its card, and the pressed button."""

    ref: str
    place: str
    channel: str = ""
    thread: str = ""
    verb: str = ""

    def pack(self) -> str:
        """Return these fields as text for the window's `private_metadata`."""
        return packed(asdict(self))

    @classmethod
    def unpack(cls, text: str) -> Self:
        """Return the fields from the text of `pack`. Raises ValueError or TypeError for any other text."""
        return cls(**json.loads(text))
