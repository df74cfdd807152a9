"""A DCGM exporter of this machine as a source of GPU readings."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Event

from monitor.clock import Clock
from monitor.conventions.gpu import DriverState, GpuState
from monitor.gpu.dcgm import reading_of
from monitor.gpu.record import GpuReading, GpusReading
from monitor.http import HttpClient, Limits, RawReply, origin_of

MOST_BYTES = 8_000_000
TIMEOUT_SECONDS = 5.0
_OK = 200
_REFUSED = frozenset({401, 403})


class DcgmSource:
    """Scrapes one exporter. A GPU that is no longer on its page is lost.

    The page has only the last Xid of each GPU: one more is counted whenever it changes.
    """

    def __init__(
        self,
        url: str,
        clock: Clock,
        token: str | None = None,
        client: Callable[[], HttpClient] | None = None,
    ) -> None:
        self._url = url
        self._clock = clock
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._client = client or self._bounded
        self._known: dict[str, GpuReading] = {}
        self._last: dict[str, int] = {}
        self._xids: Counter[tuple[str, int]] = Counter()

    def read(self) -> GpusReading:
        """Return what the page says now, and which GPUs are missing from it."""
        reply = asyncio.run(self._fetch())
        if reply.failure is not None or reply.status != _OK:
            return self._without_page(reply)
        page = reply.body.decode("utf-8", "replace")
        reading, last = reading_of(page, self._clock.now())
        self._count(last)
        self._known |= {each.gpu: each for each in reading.gpus}
        there = {each.gpu for each in reading.gpus}
        gone = [_gone(each, GpuState.LOST) for gpu, each in self._known.items() if gpu not in there]
        return replace(reading, gpus=(*reading.gpus, *gone), xids=dict(self._xids))

    def wait(self, seconds: float, stopping: Event) -> None:
        """Wait; the exporter itself listens for errors."""
        stopping.wait(seconds)

    def close(self) -> None:
        """Nothing is kept open between readings."""

    async def _fetch(self) -> RawReply:
        client = self._client()  # a new one: each reading has a loop of its own
        try:
            return await client.send(
                "GET", self._url, headers=self._headers, timeout_seconds=TIMEOUT_SECONDS
            )
        finally:
            await client.aclose()

    def _bounded(self) -> HttpClient:
        return HttpClient(
            origins=frozenset({origin_of(self._url)}),
            clock=self._clock,
            limits=Limits(body_bytes=MOST_BYTES),
        )

    def _count(self, last: Mapping[str, int]) -> None:
        for gpu, xid in last.items():
            if self._last.get(gpu) != xid:
                self._xids[gpu, xid] += 1
        self._last |= last

    def _without_page(self, reply: RawReply) -> GpusReading:
        refused = reply.status in _REFUSED
        answered = reply.status is not None and not refused
        state = DriverState.NO_PERMISSION if refused else DriverState.UNREACHABLE
        return GpusReading(
            read_at=self._clock.now(),
            driver_state=DriverState.FAILED if answered else state,
            gpus=tuple(_gone(each, GpuState.FAILED) for each in self._known.values()),
            xids=dict(self._xids),
        )


def _gone(last: GpuReading, state: GpuState) -> GpuReading:
    return GpuReading(gpu=last.gpu, state=state, uuid=last.uuid, name=last.name)
