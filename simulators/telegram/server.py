"""The server over HTTP: the Bot API on one port, the control on another, both on loopback.

/bot<token>/<method>         GET or POST, any of the four encodings
/file/bot<token>/<path>      what getFile names
/control/<verb>              POST, JSON (on the control's own port: it stays up in an outage)
/control/files/<file_id>     GET, an uploaded file's bytes
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, Self

from aiohttp import web

from simulators.common.listener import Listener, cut
from simulators.common.server import Served, application, control_application
from simulators.telegram import errors
from simulators.telegram.control import Control
from simulators.telegram.errors import ApiError, Json, Refusal
from simulators.telegram.faults import DropAnswer, Fault, Garbage, Hang, Refuse, Reset
from simulators.telegram.methods import Request, Told, canonical, perform
from simulators.telegram.params import Params, Upload
from simulators.telegram.platform import Call, Desk, Platform
from simulators.telegram.webhooks import WebhookPump

RESTART: Final = Refusal(500, "Internal Server Error: restart")
BODY_NOT_JSON: Final = errors.bad_request("can't parse request body JSON object")
DROPPED: Final = Refusal(0, "")


class TelegramServer(Control, Served):
    """A Bot API server with people to act as.

    `async with TelegramServer() as telegram:` starts it on free ports of 127.0.0.1; `speed` is how
    many seconds of its clock pass in a real one. Bots are given `base_url` (python-telegram-bot's
    form, without the token) or `root_url`.
    """

    def __init__(self, *, port: int = 0, control_port: int = 0, speed: float = 1.0) -> None:
        super().__init__(Platform(speed))
        self._api = Listener(port, self._api_application())
        self._control = Listener(control_port, self._control_application())
        self._pump: asyncio.Task[None] | None = None

    @property
    def root_url(self) -> str:
        """Return the address in place of the official server's."""
        return self._api.root

    @property
    def base_url(self) -> str:
        """Return what stands before the token."""
        return f"{self.root_url}/bot"

    @property
    def base_file_url(self) -> str:
        """Return what stands before the token in a file's address."""
        return f"{self.root_url}/file/bot"

    async def start(self) -> Self:
        """Listen, and deliver to webhooks."""
        await self._api.open()
        await self._control.open()
        self._pump = asyncio.create_task(WebhookPump(self.platform, self._call_back).run())
        return self

    async def stop(self) -> None:
        """End everything; who polls is told of a restart."""
        if self._pump:
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
        self._end_polls()
        await self._api.close()
        await self._control.close()

    def _end_polls(self) -> None:
        for desk in self.platform.desks.values():
            desk.queue.interrupt(RESTART)

    async def down(self) -> None:
        """Refuse connections and cut those there are; people go on writing."""
        await self._api.refuse()
        self._end_polls()

    async def up(self) -> None:
        """Listen again, on the same port."""
        await self._api.listen()

    def _api_application(self) -> web.Application:
        api = application()
        api.router.add_route("*", "/bot{token}/{method}", self._on_call)
        api.router.add_get("/file/bot{token}/{folder}/{file_id}", self._on_file)
        return api

    def _control_application(self) -> web.Application:
        control = control_application(self)
        control.router.add_get("/control/files/{file_id}", self._on_file)
        return control

    async def _on_call(self, http: web.Request) -> web.StreamResponse:
        try:
            desk = self._desk(http.match_info["token"])
            params = await read_params(http)
        except ApiError as error:
            return _refused(error.refusal)
        method = canonical(http.match_info["method"])
        if method is None:
            return self._unknown(desk, http.match_info["method"], params)
        return await self._meet(self.platform.faults.next_for(method), http, desk, method, params)

    def _desk(self, token: str) -> Desk:
        bot = self.world.bot_by_token(token)
        if bot is None:
            number, colon, _ = token.partition(":")
            well_formed = bool(colon) and number.isdecimal()
            raise ApiError(errors.UNAUTHORIZED if well_formed else errors.MALFORMED_TOKEN)
        return self.platform.desks[bot.id]

    def _unknown(self, desk: Desk, method: str, params: Params) -> web.Response:
        self._log(desk, method, params, errors.METHOD_NOT_FOUND)
        return _refused(errors.METHOD_NOT_FOUND)

    async def _meet(
        self, fault: Fault | None, http: web.Request, desk: Desk, method: str, params: Params
    ) -> web.StreamResponse:
        """Carry out a call as its fault has it."""
        match fault:
            case Refuse():
                self._log(desk, method, params, fault.refusal())
                return _refused(fault.refusal())
            case Garbage():
                self._log(desk, method, params, Refusal(fault.status, "garbage"))
                return web.Response(status=fault.status, text=fault.body, content_type=fault.content_type)
            case Reset():
                self._log(desk, method, params, DROPPED)
                return cut(http)
            case DropAnswer():
                await self._carry_out(desk, method, params)
                return cut(http)
            case Hang():
                await asyncio.sleep(fault.seconds)
        return await self._carry_out(desk, method, params)

    async def _carry_out(self, desk: Desk, method: str, params: Params) -> web.Response:
        try:
            result = await perform(method, Request(self.platform, desk, params))
        except ApiError as error:
            self._log(desk, method, params, error.refusal)
            return _refused(error.refusal)
        self._log(desk, method, params, Refusal(200, ""))
        return web.json_response(_granted(result))

    def _log(self, desk: Desk, method: str, params: Params, answer: Refusal) -> None:
        call = Call(
            desk.bot.id,
            method,
            params.logged(),
            self.platform.clock.now(),
            answer.status,
            answer.description,
        )
        self.platform.record(call)

    async def _call_back(self, desk: Desk, answer: Json) -> None:
        """Carry out a method that a webhook answered with; nobody hears of the result."""
        method = canonical(str(answer["method"]))
        if method is not None:
            fields = {name: value for name, value in answer.items() if name != "method"}
            await self._carry_out(desk, method, Params(fields, {}))

    async def _on_file(self, http: web.Request) -> web.Response:
        file = self.world.files.get(http.match_info["file_id"])
        if file is None or ("token" in http.match_info and not self._knows(http.match_info["token"])):
            return _refused(errors.METHOD_NOT_FOUND)
        return web.Response(body=file.content, headers={"Content-Type": file.mime})

    def _knows(self, token: str) -> bool:
        return self.world.bot_by_token(token) is not None


async def read_params(http: web.Request) -> Params:
    """Return a call's parameters from its query string, form, multipart body or JSON."""
    if http.content_type == "application/json":
        return Params({**http.query, **await _json_body(http)}, {})
    fields: dict[str, Any] = dict(http.query)
    files: dict[str, Upload] = {}
    for name, value in (await http.post()).items():
        if isinstance(value, web.FileField):
            files[name] = Upload(value.filename, value.content_type, value.file.read())
            value.file.close()
        else:
            fields[name] = value if isinstance(value, str) else bytes(value).decode()
    return Params(fields, files)


async def _json_body(http: web.Request) -> Json:
    try:
        body = await http.json() if http.can_read_body else {}
    except ValueError:
        raise ApiError(BODY_NOT_JSON) from None
    if not isinstance(body, dict):
        raise ApiError(BODY_NOT_JSON)
    return body


def _granted(result: Any) -> Json:
    if isinstance(result, Told):
        return {"ok": True, "result": result.result, "description": result.description}
    return {"ok": True, "result": result}


def _refused(refusal: Refusal) -> web.Response:
    wait = refusal.parameters.get("retry_after")
    headers = {"Retry-After": str(wait)} if wait is not None else {}
    return web.json_response(refusal.body(), status=refusal.status, headers=headers)
