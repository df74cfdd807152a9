"""The daemon's pages over what is kept: trials and findings, for whoever has the token."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from monitor.app import Installation
from monitor.daemon.bodies import ResolveRequest
from monitor.daemon.desk import StoreDesk
from monitor.daemon.pages import Pages


class StorePages(Pages):
    """Pages that look into the store, or change what is there."""

    def __init__(self, installation: Installation, token: str, stopping: asyncio.Event) -> None:
        super().__init__(token, stopping)
        self._desk = StoreDesk(installation.store, installation.findings, installation.clock)

    async def explain(self, request: Request) -> Response:
        """Everything known of one trial."""
        trial = request.path_params["trial"]
        return await self.answer(request, lambda: self._desk.explain(trial))

    async def findings(self, request: Request) -> Response:
        """Every open finding."""
        return await self.answer(request, self._desk.findings)

    async def finding(self, request: Request) -> Response:
        """One open finding."""
        finding = request.path_params["finding"]
        return await self.answer(request, lambda: self._desk.finding(finding))

    async def resolve(self, request: Request) -> Response:
        """Close a finding as mended."""
        asked = await self.body(request, ResolveRequest)
        if isinstance(asked, Response):
            return asked
        finding = request.path_params["finding"]
        return await self.answer(request, lambda: self._desk.resolve(finding, asked.who, asked.why))
