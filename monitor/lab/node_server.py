"""The HTTP face of one node: its own port beside the gateway's, as SGLang's server has it.

Nothing here changes anything, and no request is served here: the gateway has those.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from monitor.lab import bodies
from monitor.lab.metrics import exposition
from monitor.lab.node_steps import Reading
from monitor.lab.nodes import loads, model_info, server_info
from monitor.lab.service import Service
from monitor.lab.settings import LabSettings, NodeRole
from monitor.lab.versions import does

# Pages are coroutines: in a thread of their own they would look into a turn that is under way.
Page = Callable[[Request], Awaitable[Response]]


@dataclass(slots=True)
class NodeFace:
    """The ASGI application of a node, in front of it what a fault makes of its answers."""

    service: Service
    role: NodeRole
    _proper: ASGIApp = field(init=False)
    _readings: count[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        """Build the routes that the version played has."""
        self._proper = _application(self.service, self.role)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or do what the node does instead."""
        manner = self.service.steps.node.answer(
            Reading(number=next(self._readings), role=self.role)
        )
        if manner.hangs:
            while (await receive())["type"] != "http.disconnect":
                pass
        elif manner.body is not None:
            await Response(manner.body, media_type="application/json")(scope, receive, send)
        else:
            await self._proper(scope, receive, send)


def _application(service: Service, role: NodeRole) -> ASGIApp:
    version = service.settings.version

    def metrics() -> Response:
        return PlainTextResponse(exposition(service, [role]))

    guarded = {
        "/server_info": lambda: server_info(service, role),
        "/get_server_info": lambda: server_info(service, role),
        "/model_info": lambda: model_info(service, role),
        "/get_model_info": lambda: model_info(service, role),
        "/v1/loads": lambda: loads(service, role),
        "/v1/models": lambda: bodies.models(service.settings),
    }
    # As in SGLang, a key covers everything but health and metrics.
    pages = {path: _guarded(service.settings, build) for path, build in guarded.items()}
    pages |= {"/metrics": _open(metrics), "/health": _open(lambda: Response(status_code=200))}
    return Starlette(
        routes=[Route(path, page) for path, page in pages.items() if does(version, path)]
    )


def _open(build: Callable[[], Response]) -> Page:
    async def page(http: Request) -> Response:
        del http
        return build()

    return page


def _guarded(settings: LabSettings, build: Callable[[], Mapping[str, Any]]) -> Page:
    """Return a page that wants the node's token, if there is one."""

    async def page(http: Request) -> Response:
        given = http.headers.get("authorization")
        if settings.node_auth and given != f"Bearer {settings.node_token}":
            return JSONResponse(bodies.unauthorised(), status_code=401)
        return JSONResponse(build())

    return page
