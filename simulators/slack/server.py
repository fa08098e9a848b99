"""The server over HTTP: what apps reach on one port, the control on another, both on loopback.

/api/<method>                GET or POST; a form, or JSON where the method takes it
/actions/<team>/<token>      a response_url
/upload/v1/<file_id>         where a file's bytes go
/files/<file_id>             a file's bytes, with the token
/link/                       a Socket Mode connection
/control/<verb>              POST, JSON (on the control's own port: it stays up in an outage)
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any, Final, Self

from aiohttp import web

from simulators.common.listener import Listener, cut
from simulators.common.server import Served, application, control_application
from simulators.slack import errors
from simulators.slack.answers import respond
from simulators.slack.control import Control
from simulators.slack.errors import ApiError, Json, Refusal
from simulators.slack.faults import DropAnswer, Garbage, Hang, Refuse, Reset
from simulators.slack.methods import METHODS, Request, perform
from simulators.slack.params import Params
from simulators.slack.platform import Call, Platform
from simulators.slack.state import App

DROPPED: Final = Refusal("", 0)
GRANTED: Final = Refusal("")


@dataclasses.dataclass(frozen=True, slots=True)
class _Incoming:
    """A call on its way, and what carries it out."""

    app: App
    method: str
    params: Params
    run: Callable[[_Incoming], web.Response]


class SlackServer(Control, Served):
    """A Slack with people to act as.

    `async with SlackServer() as slack:` starts it on free ports of 127.0.0.1; `speed` is how many
    seconds of its clock pass in a real one. `api_url` is slack_sdk's `base_url`.
    """

    def __init__(self, *, port: int = 0, control_port: int = 0, speed: float = 1.0) -> None:
        super().__init__(Platform(speed))
        self._api = Listener(port, self._api_application())
        self._control = Listener(control_port, control_application(self))
        self._delivering: asyncio.Task[None] | None = None

    @property
    def api_url(self) -> str:
        """Return what stands before a method's name."""
        return f"{self._api.root}/api/"

    async def start(self) -> Self:
        """Listen, and deliver to apps."""
        await self._api.open()
        await self._control.open()
        self.platform.root = self._api.root
        self._delivering = asyncio.create_task(self.couriers.run())
        return self

    async def stop(self) -> None:
        """End everything."""
        if self._delivering:
            self._delivering.cancel()
            await asyncio.gather(self._delivering, return_exceptions=True)
        await self.sockets.close()
        await self._api.close()
        await self._control.close()

    async def down(self) -> None:
        """Refuse connections, cut those there are, sockets too, and deliver nothing; people go on writing."""
        self.couriers.down = True
        await self._api.refuse()

    async def up(self) -> None:
        """Listen again, on the same port."""
        self.couriers.down = False
        await self._api.listen()

    def _api_application(self) -> web.Application:
        api = application()
        api.router.add_route("*", "/api/{method}", self._on_call)
        api.router.add_post("/actions/{team}/{token}", self._on_response)
        api.router.add_route("*", "/upload/v1/{file_id}", self._on_upload)
        api.router.add_get("/files/{file_id}", self._on_file)
        api.router.add_get("/link/", self.sockets.serve)
        return api

    async def _on_call(self, http: web.Request) -> web.StreamResponse:
        method = http.match_info["method"]
        if method not in METHODS:
            return _refused(errors.UNKNOWN_METHOD)
        try:
            params = await read_params(http, takes_json=METHODS[method].takes_json)
            app = None if method == "api.test" else self._app_calling(http, method, params)
        except ApiError as error:
            return _refused(error.refusal)
        if app is None:
            return web.json_response({"ok": True})
        return await self._meet(http, _Incoming(app, method, params, self._perform))

    def _app_calling(self, http: web.Request, method: str, params: Params) -> App:
        """Return the app whose token the call bears, of the kind that the method wants."""
        token = http.headers.get("Authorization", "").removeprefix("Bearer ").strip() or params.text("token")
        if not token:
            raise ApiError(errors.NOT_AUTHED)
        app = self.world.app_by_token(token)
        if app is None:
            raise ApiError(errors.INVALID_AUTH)
        if not app.installed:
            raise ApiError(errors.ACCOUNT_INACTIVE)
        if (token == app.app_token) is not METHODS[method].app_level:
            raise ApiError(errors.WRONG_TOKEN_TYPE)
        return app

    async def _meet(self, http: web.Request, call: _Incoming) -> web.StreamResponse:
        """Carry out a call as the fault that is planned for it has it."""
        fault = self.platform.faults.next_for(call.method)
        match fault:
            case Refuse():
                self._log(call, fault.refusal())
                return _refused(fault.refusal())
            case Garbage():
                self._log(call, Refusal("garbage", fault.status))
                return web.Response(status=fault.status, text=fault.body, content_type=fault.content_type)
            case Reset():
                self._log(call, DROPPED)
                return cut(http)
            case DropAnswer():
                self._carry_out(call)
                return cut(http)
            case Hang():
                await asyncio.sleep(fault.seconds)
        return self._carry_out(call)

    def _carry_out(self, call: _Incoming) -> web.Response:
        try:
            answer = call.run(call)
        except ApiError as error:
            self._log(call, error.refusal)
            return _refused(error.refusal)
        self._log(call, GRANTED)
        return answer

    def _log(self, call: _Incoming, answer: Refusal) -> None:
        now = self.platform.clock.now()
        logged = Call(call.app.id, call.method, call.params.logged(), now, answer.status, answer.error)
        self.platform.record(logged)

    def _perform(self, call: _Incoming) -> web.Response:
        result = perform(call.method, Request(self.platform, call.app, call.params))
        headers = {
            "X-OAuth-Scopes": ",".join(sorted(call.app.scopes)),
            "X-Accepted-OAuth-Scopes": ",".join(METHODS[call.method].scopes),
        }
        return web.json_response({"ok": True, **result}, headers=headers)

    async def _on_response(self, http: web.Request) -> web.StreamResponse:
        """Take what an app posts to a response_url; faults and the log have it as the method "response_url"."""
        token = http.match_info["token"]
        address = self.platform.response_urls.get(token)
        if address is None:
            return _refused(errors.NO_SUCH_URL)
        try:
            params = await read_params(http, takes_json=True)
        except ApiError as error:
            return _refused(error.refusal)

        def run(call: _Incoming) -> web.Response:
            answer_at(self.platform, token, call.params)
            return web.Response(text="ok")

        return await self._meet(http, _Incoming(self.world.apps[address.app_id], "response_url", params, run))

    async def _on_upload(self, http: web.Request) -> web.StreamResponse:
        """Take the bytes of a file; faults and the log have it as the method "upload"."""
        file = self.world.files.get(http.match_info["file_id"])
        app = self.world.app_of(file.user_id) if file else None
        if file is None or app is None:
            return web.Response(status=404)
        content = await _uploaded(http)

        def run(_: _Incoming) -> web.Response:
            self.world.files[file.id] = dataclasses.replace(file, content=content)
            return web.Response(text=f"OK - {len(content)}")

        return await self._meet(http, _Incoming(app, "upload", Params({}), run))

    async def _on_file(self, http: web.Request) -> web.Response:
        file = self.world.files.get(http.match_info["file_id"])
        token = http.headers.get("Authorization", "").removeprefix("Bearer ")
        app = self.world.app_by_token(token)
        if file is None or app is None or "files:read" not in app.scopes:
            return web.Response(status=404)
        return web.Response(body=file.content, content_type=file.mime)


def answer_at(platform: Platform, token: str, params: Params) -> None:
    """Carry out what was posted to a response_url; it refuses with a status, as it is no method."""
    try:
        respond(platform, token, dict(params.fields))
    except ApiError as error:
        raise ApiError(dataclasses.replace(error.refusal, status=max(error.refusal.status, 400))) from error


async def read_params(http: web.Request, *, takes_json: bool) -> Params:
    """Return a call's arguments from its query string, form or JSON body.

    A JSON body to a method that takes none counts as nothing, as on Slack.
    """
    if http.content_type == "application/json":
        body = await _json_body(http)
        return Params({**http.query, **(body if takes_json else {})})
    form = {name: value for name, value in (await http.post()).items() if isinstance(value, str)}
    return Params({**http.query, **form})


async def _json_body(http: web.Request) -> Json:
    try:
        body: Any = await http.json() if http.can_read_body else {}
    except ValueError:
        raise ApiError(errors.INVALID_JSON) from None
    if not isinstance(body, dict):
        raise ApiError(errors.JSON_NOT_OBJECT)
    return body


async def _uploaded(http: web.Request) -> bytes:
    if not http.content_type.startswith("multipart/"):
        return await http.read()
    parts = (await http.post()).values()
    file = next((one for one in parts if isinstance(one, web.FileField)), None)
    return file.file.read() if file else b""


def _refused(refusal: Refusal) -> web.Response:
    return web.json_response(refusal.body(), status=refusal.status, headers=refusal.headers)
