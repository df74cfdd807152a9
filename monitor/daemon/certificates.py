"""The daemon's page that issues certificates, for whoever has the token: it reveals markers."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from monitor.app import Installation
from monitor.certificate.issuing import Export, issue
from monitor.daemon.bodies import CertificateRequest
from monitor.daemon.pages import Pages, error_line
from monitor.errors import DavylampError


class CertificatePages(Pages):
    """Certificates of the findings of one installation."""

    def __init__(self, installation: Installation, token: str, stopping: asyncio.Event) -> None:
        super().__init__(token, stopping)
        self._installation = installation

    async def issue(self, request: Request) -> Response:
        """Issue the certificate of a finding, and stream its text."""
        asked = await self.body(request, CertificateRequest)
        if isinstance(asked, Response):
            return asked
        export = Export(**asked.model_dump())
        return self.streamed(lambda _put: self._issue(export))

    async def _issue(self, export: Export) -> dict[str, object]:
        of = self._installation
        try:
            text = await asyncio.to_thread(
                issue, of.store, of.config.environment, export, of.clock.now()
            )
        except DavylampError as error:
            return error_line(error)
        return {"report": text}
