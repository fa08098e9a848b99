"""Translates lines typed at a terminal into neutral events, and does nothing else.

A key (`a` for approve, `r` for reject, `d` for details) counts only if the line has nothing else. A single key press
can't count, because refusals begin with the same letters ("abort", "absolutely not"). A line that was begun before the
card appeared never answers that card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.call import Verb
from hitl.events import Press, Text
from hitl.proof.keyring import ButtonData

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hitl.call import Call
    from hitl.events import Heard
    from hitl.proof.keyring import Keyring

KEYS: Mapping[str, Verb] = {"a": Verb.APPROVE, "r": Verb.REJECT, "d": Verb.DETAILS}
#: If there is no card for a key to act on, the reply reader gets one of these words, as if the person had typed it.
_IN_WORDS: Mapping[str, str] = {"a": "yes", "r": "no", "d": "details"}


def understand(
    line: str, *, identity: str, place: str, at: datetime, card: Call | None, waits: bool, keys: Keyring
) -> Heard:
    """Return the event for a typed line. If the line is a key, the event is a button press on the call `card`.

    Without a `card`, or for any other line, the event is a text. `waits` says whether any call is pending.
    """
    key = line.strip().casefold()
    verb = KEYS.get(key)
    if verb and card:
        data = ButtonData.sealed(keys, verb, card.ref, digest=card.digest, deadline=card.deadline, place=place)
        return Press(identity=identity, conversation=place, press=card.ref, data=data.pack(), at=at)
    text = _IN_WORDS.get(key, line) if waits else line
    return Text(identity=identity, conversation=place, text=text, private=True, addressed=True, at=at)
