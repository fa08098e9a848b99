"""The one application behind the Unix socket and behind TCP: both have the same routes, errors and OpenAPI document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from adapters.http import aap, calls, events, harombe, models, page, problems, services
from adapters.http.guard import NAMED, Guard

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

TITLE = "Sayso"
#: The version of the API. It changes when a field of an answer is removed or changed.
VERSION = "1.0"
_SUMMARY = "An agent's tool call that could do harm waits until a person says so."
#: The longest body of a webhook's request, in bytes. Telegram's updates are far smaller.
LONGEST_BODY = 1024 * 1024
#: Models that appear only inside answers or streams. They are named here because no route declares them.
_NAMED = (models.Problem, models.EventView, models.ChatLine, models.AapError)


def api() -> FastAPI:
    """Return the application without a running service. This is enough to make its OpenAPI document."""
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
    for router in (calls.router, events.router, services.router, harombe.router, aap.router, page.router):
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
    gateway: harombe.Gateway | None = None,
) -> FastAPI:
    """Return the application for a running service.

    - `ready` returns sentences about the faults that keep the service from gating calls.
    - `mounted` are the webhooks of chat platforms, which authenticate by their own secrets.
    - `state` holds the objects that the routes use. Without `state` there is no API, only webhooks.
    - `hosts` are the host names under which TCP requests are accepted, in addition to the names of the loopback (such
      as `localhost`).
    - `remote` says that TCP serves the API too, not only the webhooks.
    - `gateway` serves MCP at `/mcp`, to callers that the guard has authenticated and that accept event streams. Other
      requests to `/mcp` are requests of the harombe design, another project's API (`adapters.http.harombe`).
    """
    served = api() if state is not None else FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    for name, value in (state or {}).items():
        setattr(served.state, name, value)

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    async def readyz(request: Request) -> Response:
        troubles = list(await ready())
        told = {"troubles": troubles} if getattr(request.state, NAMED) else {}
        return JSONResponse({"ready": not troubles, **told}, status_code=503 if troubles else 200)

    open_routes = [Route("/healthz", healthz), Route("/readyz", readyz), *mounted]
    served.router.routes.extend(open_routes)
    if gateway is not None:
        served.state.gateway = gateway
        served.router.routes.insert(0, harombe.StreamingRoute(harombe.MCP, harombe.Held(gateway)))
    served.add_middleware(
        Guard, hosts=hosts, remote=remote, exempt=[getattr(route, "path", "") for route in open_routes]
    )
    return served


async def body_of(request: Request) -> bytes | None:
    """Return the body of a webhook's request, or None if it is longer than `LONGEST_BODY`."""
    read = bytearray()
    async for chunk in request.stream():
        read += chunk
        if len(read) > LONGEST_BODY:
            return None
    return bytes(read)


def document(app: FastAPI) -> dict[str, Any]:
    """Return the application's OpenAPI document. The document is made once and stored in the application."""
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
    """Remove the declarations that FastAPI adds to the document and that aren't true for this API.

    FastAPI declares status 422 for invalid requests, but this API answers them with status 400 and a problem document.
    FastAPI also declares JSON for each route with another media type, but a stream never sends JSON.
    """
    for answer in operation["responses"].values():
        content = answer.get("content", {})
        if len(content) > 1 and content.get("application/json") == {"schema": {}}:
            del content["application/json"]
    refused = operation["responses"].get("422", {}).get("content", {})
    if "application/json" in refused:
        del operation["responses"]["422"]
