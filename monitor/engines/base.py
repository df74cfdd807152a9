"""The plug point for engines: how to speak to a target, and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, JsonValue

from monitor.http import HttpClient
from monitor.model import Failure, Request, Response, Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What one request came to: a response, a failure, or both (an answer that was cut).

    ``request_id`` is what the operator calls it, ``sent_request_id`` what we called it.
    """

    response: Response | None
    failure: Failure | None
    http_status: int | None
    request_id: str | None
    timing: Timing
    sent_request_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit that a target states: ``tokens`` is the largest size it says it accepts.

    ``source`` names where it was read, e.g. ``v1_models.max_model_len``; a source that gives the
    first size *refused* is already turned into the largest accepted. Sources ending in
    ``max_req_input_len`` and ``max_input_tokens`` count the prompt alone, all others prompt and
    output together.
    """

    tokens: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredModel:
    """A model that a target serves, with every limit found for it."""

    id: str
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What a target says of itself; ``notes`` are our own words on what could not be read.

    ``version`` and the ids are the target's own text, bounded and without control characters.
    """

    engine: str | None = None
    version: str | None = None
    models: tuple[DiscoveredModel, ...] = ()
    notes: tuple[str, ...] = ()
    can_tokenize: bool = False


class Engine(Protocol):
    """One way of speaking to one target. What the target does wrong is never an exception."""

    async def ask(
        self, request: Request, *, credential: str | None, timeout_seconds: float
    ) -> Reply:
        """Ask once, never again, and return what came within ``timeout_seconds``."""

    async def discover(self, *, credential: str | None) -> Discovery:
        """Read what the target says of itself, changing nothing there."""

    async def count_tokens(self, text: str, *, credential: str | None) -> int | None:
        """Return how many tokens ``text`` alone is by the target's own count, if it counts."""

    async def aclose(self) -> None:
        """Close every connection."""


def models_page(base_url: str, _model: str) -> str:
    """Return where nearly every API lists its models."""
    return f"{base_url}/models"


TAG_VALUE = "probe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a target wants to be asked, whatever its dialect.

    ``effort`` is how hard a reasoning model may think; ``None`` leaves it to the model. The tag
    lets billing leave probes out: a header of the name ``tag_header`` (empty: none), and an
    entry in the body's ``metadata``, which some servers refuse.
    """

    effort: str | None = None
    tag_header: str = ""
    tag_metadata: bool = False

    def headers(self, request: Request) -> dict[str, str]:
        """Return the headers that mark ``request`` as a probe, none if it is not tagged."""
        return {self.tag_header: TAG_VALUE} if self.tag_header and request.tagged else {}

    def metadata(
        self, request: Request, extra_body: Mapping[str, JsonValue]
    ) -> dict[str, JsonValue]:
        """Return the body's ``metadata`` with the mark beside what the options put there."""
        if not (self.tag_metadata and request.tagged):
            return {}
        given = extra_body.get("metadata")
        written = given if isinstance(given, dict) else {}
        return {"metadata": {**written, "davylamp": TAG_VALUE}}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind:
    """One entry of the registry: what its options may be, and how to make one.

    ``lacks`` are the features that its dialect has no words for. ``hosts`` are those of the
    service that speaks it. ``listing`` gives, for a base URL and a model, where models are listed.
    """

    options: type[BaseModel]
    build: Callable[..., Engine]
    lacks: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()
    listing: Callable[[str, str], str] = models_page

    def __call__(
        self,
        *,
        base_url: str,
        model: str,
        http: HttpClient,
        options: Mapping[str, object] | None = None,
        manner: Manner | None = None,
    ) -> Engine:
        """Check ``options`` (pydantic's ``ValidationError`` if wrong) and make the engine."""
        checked = self.options.model_validate(dict(options or {}))
        return self.build(
            base_url=base_url, model=model, http=http, options=checked, manner=manner or Manner()
        )
