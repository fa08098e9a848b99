"""The sentences that only the HTTP API needs. They join the catalogue (`hitl.cards.wording`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.cards.wording import IN_ENGLISH

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # errors of requests that can't be carried out
    "api.http.socket.token": "A token has no meaning on the Unix socket: the kernel says who calls.",
    "api.http.events.cursor": "Last-Event-ID is no cursor of this stream. Leave it out to begin now.",
    "api.http.events.ticket": "The ticket is unknown, spent or older than 30 seconds. Make another one.",
    "api.http.chat.none": "There is no such conversation. Open one with POST /v1/chat.",
    "api.http.chat.full": "{most} lines wait to be heard. Send the next when some are answered.",
    # errors about bearer tokens
    "api.http.token.invalid": "This bearer token isn't valid: it is unknown, was revoked, or its time is over. Nothing was done. An operator makes another token: sayso token create.",
    "api.http.token.taken": "There is, or was, a token {name}. Take another name: names aren't used again.",
    "api.http.token.until": "`until` must lie ahead and name its time zone. No token was made.",
    "api.http.token.owner": "An agent's token needs an owner: the person who answers for it.",
    "api.http.token.bounds": "Only an agent's token has an owner, origins and routes. No token was made.",
    "api.http.token.unlisted": "{owner} is on no list of this service, so nobody may ask for them. No token was made. Name a listed person, or add this one to requesters in the settings, then sayso reload.",
    "api.http.token.unknown": "There is no token {name}. Nothing was done.",
    # errors of the listeners: the Unix socket and the TCP port
    "api.http.port": "Nothing can listen on {host} port {port} ({why}). Set {section}.port, or {section}.host, to another.",
    "api.http.socket.unmade": "The socket {path} can't be made: {why}. Set `runtime` to another folder.",
    "api.http.socket.folder": "{folder} isn't a folder of this user, so the socket can't lie there. Set `runtime` elsewhere.",
    "api.http.socket.taken": "Another service listens on {path}. Stop it, or set `runtime` to another folder.",
}
IN_ENGLISH.join(ENGLISH)
say = IN_ENGLISH.say
