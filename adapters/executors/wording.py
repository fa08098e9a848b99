"""The sentences about the user that commands run as. They are added to the catalogue of all sentences for people
(`hitl.cards.wording`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.cards.wording import IN_ENGLISH

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # errors in the setting `tools_user`
    "executors.user.none": "tools_user is {user}, and this machine has no such user. Make one: useradd -r.",
    "executors.user.reads": "tools_user is {user}, who can read the service's keys. Name another user.",
    "executors.user.rights": "tools_user is {user}, and this service may run nothing as another user. Start it as root, or give it CAP_SETUID, CAP_SETGID and CAP_KILL.",
}
IN_ENGLISH.join(ENGLISH)
say = IN_ENGLISH.say
