"""The page of nodes: what the last reading of the daemon said, and what earlier ones add to it."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from monitor.app import Installation
from monitor.daemon.pages import Pages, refused
from monitor.reports.nodes import nodes_report


class NodePages(Pages):
    """What nodes say of themselves; it names addresses of servers, so it needs the token."""

    def __init__(self, installation: Installation, token: str, stopping: asyncio.Event) -> None:
        super().__init__(token, stopping)
        self._installation = installation

    async def nodes(self, request: Request) -> Response:
        """Every node as it was read last; 404 where there is none to read, 503 before the first."""
        if not self.authorised(request):
            return refused(
                401,
                "a token is needed (`Authorization: Bearer`): that of listen.token_file, else of "
                "api.token in storage.path",
            )
        watch, config = self._installation.nodes, self._installation.config
        if watch is None:
            return refused(404, "the configuration names no nodes and no gateway")
        if watch.now is None:
            return refused(503, "the nodes were not read yet")
        report = nodes_report(
            watch.now.survey,
            watch.rules,
            read_at=watch.now.read_at,
            read_by="daemon",
            configuration_hash=config.hash,
            environment=config.environment,
            signals=watch.now.signals,
        )
        return JSONResponse(report.model_dump(mode="json"))
