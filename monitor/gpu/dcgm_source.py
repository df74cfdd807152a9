"""A DCGM exporter of this machine as a source of GPU readings."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from threading import Event

from monitor.clock import Clock
from monitor.conventions.gpu import DriverState, GpuState
from monitor.gpu.dcgm import MOST_GPUS, reading_of
from monitor.gpu.naming import MOST_XID_SERIES
from monitor.gpu.record import GpuReading, GpusReading
from monitor.http import HttpClient, Limits, RawReply, origin_of

MOST_BYTES = 8_000_000
TIMEOUT_SECONDS = 5.0
_OK = 200
_ANY_XID = 0
_REFUSED = frozenset({401, 403})
# A page may leave a GPU out once, while DCGM is asked; one that is lost stays away.
_LOST_SECONDS = 120.0


class DcgmSource:
    """Scrapes one exporter. A GPU that is not on its pages for two minutes is lost.

    Until then it is not known how it is, and so it is of every GPU where no page tells of any.

    The page has only the last Xid of each GPU: one more is counted whenever it changes. What it
    holds when a GPU is first seen is older than that, and is not counted. At most 64 GPUs are
    known in the life of the source; a page with others is a failure.
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
        self._missed: dict[str, float] = {}
        self._last: dict[str, int] = {}
        self._xids: Counter[tuple[str, int]] = Counter()

    def read(self) -> GpusReading:
        """Return what the page says now, and which GPUs are missing from it."""
        reply = asyncio.run(self._fetch())
        if reply.failure is not None or reply.status != _OK:
            return self._without_page(reply)
        page = reply.body.decode("utf-8", "replace")
        reading, last = reading_of(page, self._clock.now())
        if not reading.gpus:
            return self._of_none(reading.driver_state, reading.why)
        reading = self._known_among(reading)
        there = {each.gpu for each in reading.gpus}
        self._count({gpu: xid for gpu, xid in last.items() if gpu in there})
        gone = [_gone(self._known[gpu], state) for gpu, state in self._missing(there).items()]
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

    def _known_among(self, reading: GpusReading) -> GpusReading:
        """Note the GPUs of a reading, and leave out those there is no room for."""
        for each in reading.gpus:
            if each.gpu in self._known or len(self._known) < MOST_GPUS:
                self._known[each.gpu] = each
        kept = tuple(each for each in reading.gpus if each.gpu in self._known)
        if len(kept) == len(reading.gpus):
            return reading
        why = f"its pages named more than {MOST_GPUS} GPUs"
        return replace(reading, gpus=kept, driver_state=DriverState.FAILED, why=why)

    def _missing(self, there: Collection[str]) -> dict[str, GpuState]:
        """Return the known GPUs that a page leaves out: lost if they are missed for long."""
        now = self._clock.monotonic()
        gone = [gpu for gpu in self._known if gpu not in there]
        self._missed = {gpu: self._missed.get(gpu, now) for gpu in gone}
        return {
            gpu: GpuState.LOST if now - since >= _LOST_SECONDS else GpuState.FAILED
            for gpu, since in self._missed.items()
        }

    def _count(self, last: Mapping[str, int]) -> None:
        for gpu, xid in last.items():
            if xid and self._last.get(gpu, xid) != xid:
                key = (gpu, xid)
                room = key in self._xids or len(self._xids) < MOST_XID_SERIES
                self._xids[key if room else (gpu, _ANY_XID)] += 1
        self._last |= last

    def _without_page(self, reply: RawReply) -> GpusReading:
        refused = reply.status in _REFUSED
        answered = reply.status is not None and not refused
        state = DriverState.NO_PERMISSION if refused else DriverState.UNREACHABLE
        why = reply.failure.detail if reply.failure is not None else f"HTTP {reply.status}"
        return self._of_none(DriverState.FAILED if answered else state, why)

    def _of_none(self, state: DriverState, why: str) -> GpusReading:
        """Return that no GPU was told of: how those are that were once seen is not known."""
        return GpusReading(
            read_at=self._clock.now(),
            driver_state=state,
            why=why,
            gpus=tuple(_gone(each, GpuState.FAILED) for each in self._known.values()),
            xids=dict(self._xids),
        )


def _gone(last: GpuReading, state: GpuState) -> GpuReading:
    return GpuReading(gpu=last.gpu, state=state, uuid=last.uuid, name=last.name)
