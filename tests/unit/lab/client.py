"""A blocking client of the ASGI application: one event loop, no socket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

import httpx

from monitor.lab.server import application

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType

    from monitor.lab.service import Service


class Client:
    """Speaks to a lab in the process; the engine runs while a request is under way."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._runner = asyncio.Runner()
        self._transport = httpx.ASGITransport(app=application(service))

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the loop."""
        self._runner.close()

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Send a GET."""
        return self._runner.run(self._request("GET", path, options))

    def post(self, path: str, **options: Any) -> httpx.Response:
        """Send a POST."""
        return self._runner.run(self._request("POST", path, options))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something else in the client's loop."""
        self._runner.run(work)

    async def _request(self, method: str, path: str, options: dict[str, Any]) -> httpx.Response:
        loop = asyncio.create_task(self._service.run())
        try:
            async with httpx.AsyncClient(transport=self._transport, base_url="http://lab") as http:
                return await http.request(method, path, **options)
        finally:
            loop.cancel()
