"""The one application, behind the Unix socket and behind TCP: the same routes and errors, and one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from adapters.http import calls, events, harombe, models, page, problems, services
from adapters.http.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

TITLE = "Sayso"
#: The version of the API, which changes when an answer loses or changes a field.
VERSION = "1.0"
_SUMMARY = "An agent's tool call that could do harm waits until a person says so."
#: The longest body that a webhook takes. Telegram's updates are far smaller.
LONGEST_BODY = 1024 * 1024
#: Models that occur inside answers or streams, and that no route declares as its whole answer.
_NAMED = (models.Problem, models.EventView, models.ChatLine)


def api() -> FastAPI:
    """Return the application without a service behind it, which is enough for its document."""
    app = FastAPI(
        title=TITLE,
        version=VERSION,
        summary=_SUMMARY,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        generate_unique_id_function=lambda route: "_".join([*map(str, route.tags[:1]), route.name]),
    )
    problems.handle(app)
    for router in (calls.router, events.router, services.router, harombe.router, page.router):
        app.include_router(router)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]
    return app


def app(
    ready: Callable[[], Awaitable[Sequence[str]]],
    mounted: Sequence[BaseRoute] = (),
    state: dict[str, Any] | None = None,
    hosts: Sequence[str] = (),
    *,
    remote: bool = True,
    gateway: ASGIApp | None = None,
) -> FastAPI:
    """Return the application for a running service.

    `ready` returns the troubles that keep the service from gating calls. `mounted` are the webhooks of chat platforms,
    which authenticate by their own secrets. `state` holds the objects that the routes use; without it there is no API,
    only webhooks. `hosts` are the names of the TCP listener besides those of the loopback. Without `remote`, TCP serves
    only the webhooks. `gateway` serves MCP at `/mcp`, to callers that the guard has authenticated.
    """
    served = api() if state is not None else FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    for name, value in (state or {}).items():
        setattr(served.state, name, value)

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    async def readyz(_: Request) -> Response:
        troubles = list(await ready())
        return JSONResponse({"ready": not troubles, "troubles": troubles}, status_code=503 if troubles else 200)

    open_routes = [Route("/healthz", healthz), Route("/readyz", readyz), *mounted]
    served.router.routes.extend(open_routes)
    if gateway is not None:
        served.router.routes.append(Route("/mcp", gateway))
    served.add_middleware(
        Guard, hosts=hosts, remote=remote, exempt=[getattr(route, "path", "") for route in open_routes]
    )
    return served


async def body_of(request: Request) -> bytes | None:
    """Return the body of a webhook's request, or None if it is too long."""
    read = bytearray()
    async for chunk in request.stream():
        read += chunk
        if len(read) > LONGEST_BODY:
            return None
    return bytes(read)


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, which is made once."""
    if app.openapi_schema is None:
        made = get_openapi(title=TITLE, version=VERSION, summary=_SUMMARY, routes=app.routes)
        schemas = made["components"]["schemas"]
        for model in _NAMED:
            described = model.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
            schemas.update(described.pop("$defs", {}))
            schemas[model.__name__] = described
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        for path in made["paths"].values():
            for operation in path.values():
                _tidy(operation)
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
        app.openapi_schema = made
    return app.openapi_schema


def _tidy(operation: dict[str, Any]) -> None:
    """Drop FastAPI's own answer to invalid requests: they get a problem with status 400 here."""
    refused = operation["responses"].get("422", {}).get("content", {})
    if "application/json" in refused:
        del operation["responses"]["422"]
