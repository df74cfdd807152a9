"""The daemon's pages over findings: read, decided about, verified and localised."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from monitor.app import Installation
from monitor.daemon.bodies import DecisionRequest, LocaliseRequest, RotationRequest, VerifyRequest
from monitor.daemon.desk import Said, StoreDesk, Told, Wanted
from monitor.daemon.pages import Pages, error_line, refused
from monitor.errors import DavylampError
from monitor.examining import Localise, Verify, localise_finding, verify_finding
from monitor.findings import Decision, FindingState, Rotation


class FindingPages(Pages):
    """Pages over findings, for whoever has the token. One examination runs at a time."""

    def __init__(self, installation: Installation, token: str, stopping: asyncio.Event) -> None:
        super().__init__(token, stopping)
        self._installation = installation
        self._desk = StoreDesk(
            installation.config, installation.store, installation.findings, installation.clock
        )
        self._examining = asyncio.Lock()

    async def findings(self, request: Request) -> Response:
        """Every open finding; with ``?all=1`` every one; of one ``target``, in one ``state``."""
        asked = request.query_params
        state = asked.get("state")
        if state is not None and state not in set(FindingState):
            return refused(400, "state: no such state of a finding")
        wanted = Wanted(
            closed=asked.get("all") == "1",
            target=asked.get("target"),
            state=None if state is None else FindingState(state),
        )
        return await self._reported(request, lambda: self._desk.findings(wanted))

    async def finding(self, request: Request) -> Response:
        """One finding, open or not."""
        finding = request.path_params["finding"]
        return await self._reported(request, lambda: self._desk.finding(finding))

    async def decide(self, request: Request) -> Response:
        """Decide about a finding: the last part of the path says how."""
        asked = await self.body(request, DecisionRequest)
        if isinstance(asked, Response):
            return asked
        finding = request.path_params["finding"]
        decision = Decision(request.url.path.rpartition("/")[2])
        seconds = asked.suppress_seconds
        said = Said(
            who=asked.who,
            why=asked.why,
            suppress=None if seconds is None else timedelta(seconds=seconds),
        )
        return self._acting(lambda: self._desk.decide(decision, finding, said))

    async def rotate(self, request: Request) -> Response:
        """Take down that a finding's target left rotation or came back: the path says which."""
        asked = await self.body(request, RotationRequest)
        if isinstance(asked, Response):
            return asked
        finding = request.path_params["finding"]
        rotation = Rotation(request.url.path.rpartition("/")[2])
        told = Told(rotation=rotation, **asked.model_dump())
        return self._acting(lambda: self._desk.rotate(finding, told))

    def _acting(self, act: Callable[[], list[str]]) -> Response:
        return self.streamed(lambda _put: self._lines(act))

    async def _lines(self, act: Callable[[], list[str]]) -> dict[str, object]:
        """Act off the loop: it waits for the disk, and is not asked twice for being slow."""
        try:
            lines = await asyncio.to_thread(act)
        except DavylampError as error:
            return error_line(error)
        return {"report": lines}

    async def verify(self, request: Request) -> Response:
        """Replay a finding and stream the steps, then the report, as JSON lines."""
        asked = await self.body(request, VerifyRequest)
        if isinstance(asked, Response):
            return asked
        verify = Verify(finding=request.path_params["finding"], **asked.model_dump())
        return self.streamed(
            lambda put: self._examine(lambda: verify_finding(self._installation, verify, put))
        )

    async def localise(self, request: Request) -> Response:
        """Ask around a finding and stream the steps, then the report, as JSON lines."""
        asked = await self.body(request, LocaliseRequest)
        if isinstance(asked, Response):
            return asked
        localise = Localise(finding=request.path_params["finding"], **asked.model_dump())
        return self.streamed(
            lambda put: self._examine(lambda: localise_finding(self._installation, localise, put))
        )

    async def _examine(self, examine: Callable[[], Awaitable[BaseModel]]) -> dict[str, object]:
        try:
            async with self._examining:
                report = await examine()
        except DavylampError as error:
            return error_line(error)
        return {"report": report.model_dump(mode="json", by_alias=True)}

    async def _reported(self, request: Request, ask: Callable[[], BaseModel]) -> Response:
        """Answer with a record, off the loop: it reads the store."""
        if not self.authorised(request):
            return refused(401, "a token is needed")
        try:
            report = await asyncio.to_thread(ask)
        except DavylampError as error:
            return refused(404, str(error))
        return JSONResponse({"report": report.model_dump(mode="json", by_alias=True)})
