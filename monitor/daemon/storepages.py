"""The daemon's pages over what is kept: trials and the audit chain, for whoever has the token."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from monitor.app import Installation
from monitor.daemon.backups import BackUp, BackupStep, waiting_backup
from monitor.daemon.bodies import (
    AuditRequest,
    BackupRequest,
    ForgetRequest,
)
from monitor.daemon.desk import StoreDesk
from monitor.daemon.forgetting import (
    ERASED_WORDS,
    ErasedStep,
    Forget,
    forget,
    forget_texts,
)
from monitor.daemon.pages import Pages, Put, error_line
from monitor.errors import DavylampError
from monitor.store.forget import Asked


class StorePages(Pages):
    """Pages that look into the store, or change what is there."""

    def __init__(self, installation: Installation, token: str, stopping: asyncio.Event) -> None:
        super().__init__(token, stopping)
        self._installation = installation
        self._desk = StoreDesk(
            installation.config, installation.store, installation.findings, installation.clock
        )
        self._backing_up = asyncio.Lock()
        self._forgetting = asyncio.Lock()

    async def explain(self, request: Request) -> Response:
        """Everything known of one trial."""
        trial = request.path_params["trial"]
        return await self.answer(request, lambda: self._desk.explain(trial))

    async def audit(self, request: Request) -> Response:
        """Verify the audit chain and tell its head."""
        asked = await self.body(request, AuditRequest)
        if isinstance(asked, Response):
            return asked
        return self.streamed(lambda _put: self._audit(asked))

    async def _audit(self, asked: AuditRequest) -> dict[str, object]:
        try:
            report = await asyncio.to_thread(self._desk.audit, asked.head, asked.last)
        except DavylampError as error:
            return error_line(error)
        return {"report": report.model_dump(mode="json")}

    async def forget(self, request: Request) -> Response:
        """Say what there is to forget, or erase it; stream how far it is, then the report."""
        body = await self.body(request, ForgetRequest)
        if isinstance(body, Response):
            return body
        return self.streamed(lambda put: self._forget(body, put))

    async def _forget(self, body: ForgetRequest, put: Put) -> dict[str, object]:
        of = self._installation
        loop = asyncio.get_running_loop()

        def on_erased(table: str, done: int, total: int) -> None:
            step = ErasedStep(target=table, words=ERASED_WORDS, done=done, total=total)
            loop.call_soon_threadsafe(put, step)

        try:
            asked = Asked(tenant=body.tenant, trial=body.trial, before=body.before)
            request = Forget(asked=asked, who=body.who, erase=body.erase, keep_held=body.keep_held)
            async with self._forgetting:
                report = await asyncio.to_thread(
                    forget, of.store, of.config.storage_path, of.clock, request, on_erased
                )
        except DavylampError as error:
            return error_line(error)
        if report.erased:
            forget_texts(of.registry, asked)
        return {"report": report.model_dump(mode="json")}

    async def backup(self, request: Request) -> Response:
        """Take a backup; stream how far it is, then where it waits, as JSON lines."""
        body = await self.body(request, BackupRequest)
        if isinstance(body, Response):
            return body
        asked = BackUp(**body.model_dump())
        return self.streamed(lambda put: self._back_up(asked, put))

    async def _back_up(self, asked: BackUp, put: Put) -> dict[str, object]:
        of = self._installation
        loop = asyncio.get_running_loop()

        def on_rows(table: str, rows: int, expected: int, size: int) -> None:
            step = BackupStep(target=table, words=str(size), done=rows, total=expected)
            loop.call_soon_threadsafe(put, step)

        try:
            async with self._backing_up:
                folder = await asyncio.to_thread(
                    waiting_backup, of.store, of.config, asked, of.clock, on_rows
                )
        except DavylampError as error:
            return error_line(error)
        return {"report": folder.name}
