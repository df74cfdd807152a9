"""The pages of one node: each fetched at most once, and none that changes anything there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from monitor.clock import Clock
from monitor.engines.faults import Fault, FaultList
from monitor.engines.json_text import NotJsonError, parse_json
from monitor.engines.openai_fields import is_object
from monitor.engines.wire import bearer
from monitor.http import HttpClient, Limits, RawReply, origin_of
from monitor.model import FailureKind
from monitor.nodes.exposition import Exposition, parse_exposition

Document = dict[str, object]

METRICS = "/metrics"
READABLE = frozenset(
    {
        METRICS,
        "/v1/models",
        "/version",
        "/server_info",
        "/get_server_info",
        "/model_info",
        "/get_model_info",
        "/v1/loads",
        "/get_load",
        "/props",
        "/api/version",
        "/api/ps",
        "/api/tags",
    }
)
"""Every page that is ever fetched. None generates, flushes, aborts or sets anything."""

DESCRIPTION = "/api/show"
"""The one page that takes its question in a body: Ollama's description of a model.

It opens files and answers; for a model that is loaded it asks nobody else
(https://github.com/ollama/ollama/blob/main/server/routes.go, ``ShowHandler``).
"""

PAGE_BYTES = 8_000_000
"""SGLang repeats all its options for each data-parallel rank, of which there may be hundreds."""
PAGE_VALUES = 250_000
_SHORT_BYTES = 65_536
"""What is longer is read aside, so that a page made to take long holds up no other node."""
_NOT_SERVED = frozenset({404, 405, 501})
_NOT_ALLOWED = frozenset({401, 403})

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page as it came; ``why`` is our word for why it did not, else ``None``.

    ``value`` is what the JSON of a page says, the ``body`` is that of a page of metrics.
    """

    path: str
    status: int | None
    body: bytes = field(default=b"", repr=False)
    value: object = field(default=None, repr=False)
    why: str | None = None
    served: bool = True


class NodePages:
    """Fetches the pages of one node until ``deadline_seconds`` are over.

    The credential goes to the node's own origin only: a relay that has its metrics elsewhere is
    asked without. Raises ``ValueError`` for a URL that we would not go to.
    """

    def __init__(
        self,
        http: HttpClient,
        *,
        url: str,
        metrics_url: str | None,
        credential: str | None,
        clock: Clock,
        deadline_seconds: float,
    ) -> None:
        self._http = http
        self._root = url.rstrip("/").removesuffix("/v1")
        self._metrics_url = metrics_url or self._root + METRICS
        self._relayed = origin_of(self._metrics_url) != origin_of(self._root)
        self._credential = credential
        self._clock = clock
        self._ends = clock.monotonic() + deadline_seconds
        self._pages: dict[str, Page] = {}
        self._expositions: dict[str, Exposition] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    @property
    def reached(self) -> bool:
        """True if the node itself answered at least once, in whatever way.

        A relay that still has its metrics answers for a node that is gone, too.
        """
        own = (page for path, page in self._pages.items() if self._is_own(path))
        return any(page.status is not None for page in own)

    @property
    def first_problem(self) -> str | None:
        """Why a page did not come, of the first that did not."""
        return next((page.why for page in self._pages.values() if page.why), None)

    async def fetch(self, paths: Iterable[str]) -> None:
        """Fetch ``paths`` side by side, so that one that hangs does not hold up the others."""
        await asyncio.gather(*(self.page(path) for path in paths))

    async def page(self, path: str) -> Page:
        """Return the page at ``path``, which is one of ``READABLE``."""
        if path not in READABLE:
            raise ValueError(f"{path} is no page that a reader may ask for")
        async with self._locks.setdefault(path, asyncio.Lock()):
            if path not in self._pages:
                self._pages[path] = await self._get(path)
            return self._pages[path]

    async def description(self, model: str) -> Document | None:
        """Return what ``DESCRIPTION`` says of ``model``, ``None`` if it says nothing."""
        if self._left() <= 0:
            return None
        raw = await self._http.send(
            "POST",
            self._root + DESCRIPTION,
            headers=bearer(self._credential),
            body=json.dumps({"model": model}).encode(),
            timeout_seconds=self._left(),
        )
        value = (await _aside(raw.body, lambda: _page(DESCRIPTION, raw))).value
        return value if is_object(value) else None

    async def document(self, path: str) -> Document | None:
        """Return the JSON object at ``path``, ``None`` if there is none."""
        value = await self.json(path)
        return value if is_object(value) else None

    async def json(self, path: str) -> object:
        """Return the JSON value at ``path``, ``None`` if there is none."""
        return (await self.page(path)).value

    async def exposition(self, *, wanted: Collection[str], prefix: str) -> Exposition | None:
        """Return the ``wanted`` metrics, the same for each ``prefix``; ``None`` without a page."""
        page = await self.page(METRICS)
        if page.why is not None:
            return None
        async with self._locks.setdefault(f"{METRICS} of {prefix}", asyncio.Lock()):
            if prefix not in self._expositions:
                self._expositions[prefix] = await _aside(
                    page.body, lambda: parse_exposition(page.body, wanted=wanted, prefix=prefix)
                )
            return self._expositions[prefix]

    @property
    def relayed(self) -> bool:
        """True if the metrics are another server's page, which may have those of several nodes."""
        return self._relayed

    def asked(self, path: str) -> bool:
        """Tell whether ``path`` was asked for."""
        return path in self._pages

    def missing(self, path: str) -> bool:
        """Tell whether the node said that it does not serve ``path``."""
        page = self._pages.get(path)
        return page is not None and not page.served

    def why_not(self, *paths: str) -> str:
        """Say why none of ``paths``, as far as they were asked for, gave a fact."""
        pages = [self._pages[path] for path in paths if path in self._pages]
        if came := [page.path for page in pages if page.why is None]:
            return f"{' and '.join(came)} did not say it in a form that can be read"
        broken = [page for page in pages if page.served] or pages
        return f"{broken[0].path}: {broken[0].why}" if broken else "it was not asked for"

    async def _get(self, path: str) -> Page:
        url = self._url(path)
        left = self._left()
        if left <= 0:
            return Page(path=path, status=None, why="no time was left to ask for it")
        raw = await self._http.send(
            "GET",
            url,
            headers=bearer(self._credential if self._is_own(path) else None),
            timeout_seconds=left,
        )
        return await _aside(raw.body, lambda: _page(path, raw))

    def _url(self, path: str) -> str:
        return self._metrics_url if path == METRICS else self._root + path

    def _is_own(self, path: str) -> bool:
        return path != METRICS or not self._relayed

    def _left(self) -> float:
        return self._ends - self._clock.monotonic()


def page_limits() -> Limits:
    """Return what one page may cost."""
    return Limits(body_bytes=PAGE_BYTES)


async def _aside(body: bytes, read: Callable[[], T]) -> T:
    """Return what ``read`` makes of ``body``, in a thread if that may take long."""
    return read() if len(body) <= _SHORT_BYTES else await asyncio.to_thread(read)


def _page(path: str, raw: RawReply) -> Page:
    if raw.failure is not None:
        late = raw.failure.kind is FailureKind.TIMEOUT
        why = "no whole answer in the time that a node has" if late else raw.failure.detail
        return Page(path=path, status=raw.status, why=why)
    if raw.status in _NOT_SERVED:
        why = "the node does not serve this page"
        return Page(path=path, status=raw.status, why=why, served=False)
    if raw.status in _NOT_ALLOWED:
        why = f"HTTP {raw.status}, the node wants a credential or another one"
        return Page(path=path, status=raw.status, why=why)
    if raw.status != 200:  # noqa: PLR2004
        return Page(path=path, status=raw.status, why=f"HTTP {raw.status}")
    if path == METRICS:
        return Page(path=path, status=raw.status, body=raw.body)
    return _document(path, raw)


def _document(path: str, raw: RawReply) -> Page:
    """Return a page of JSON. A key that is there twice may say two things, so it says nothing."""
    faults = FaultList()
    try:
        value = parse_json(raw.body, faults, max_values=PAGE_VALUES)
    except NotJsonError as error:
        return Page(path=path, status=raw.status, why=f"no JSON document: {error.reason}")
    if Fault.DUPLICATE_KEYS in faults.codes():
        return Page(path=path, status=raw.status, why="a key is there twice")
    return Page(path=path, status=raw.status, value=value)
