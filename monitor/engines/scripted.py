"""A shipped fake engine: a function from request to reply, for tests without a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from monitor.engines.base import Discovery, Reply
from monitor.model import Failure, Request, Response, Timing

Script = Callable[[Request], Reply]
SCRIPTED_TIMING = Timing(
    started_at=datetime(2026, 1, 1, tzinfo=UTC), total_seconds=0.5, first_token_seconds=0.1
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call that a ``ScriptedEngine`` received."""

    request: Request
    credential: str | None
    timeout_seconds: float


class ScriptedEngine:
    """Answers by ``script`` and remembers what it was asked, in order."""

    def __init__(
        self,
        script: Script,
        *,
        discovery: Discovery | None = None,
        count: Callable[[str], int | None] = lambda _: None,
    ) -> None:
        self._script = script
        self._discovery = discovery or Discovery()
        self._count = count
        self.asked: list[Asked] = []
        self.closed = False

    async def ask(
        self, request: Request, *, credential: str | None, timeout_seconds: float
    ) -> Reply:
        """Return what the script says."""
        self.asked.append(
            Asked(request=request, credential=credential, timeout_seconds=timeout_seconds)
        )
        return self._script(request)

    async def discover(self, *, credential: str | None) -> Discovery:
        """Return the discovery it was given."""
        return self._discovery

    async def count_tokens(self, text: str, *, credential: str | None) -> int | None:
        """Return the count function's answer."""
        return self._count(text)

    async def aclose(self) -> None:
        """Remember that it was closed."""
        self.closed = True


def answered(response: Response, *, timing: Timing = SCRIPTED_TIMING) -> Reply:
    """Return the reply of a target that answered ``response``."""
    return Reply(
        response=response,
        failure=None,
        http_status=200,
        request_id=response.response_id,
        timing=timing,
    )


def failed(
    failure: Failure, *, partial: Response | None = None, timing: Timing = SCRIPTED_TIMING
) -> Reply:
    """Return the reply of a target that failed, with what came before the cut."""
    return Reply(
        response=partial,
        failure=failure,
        http_status=failure.code,
        request_id=None,
        timing=timing,
    )
