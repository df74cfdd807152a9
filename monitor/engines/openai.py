"""The OpenAI chat-completions dialect, which nearly every engine and gateway speaks."""

from __future__ import annotations

from monitor.engines.base import Discovery, Reply
from monitor.engines.discovery import discover
from monitor.engines.exchange import Call, exchange
from monitor.engines.openai_body import parse_completion
from monitor.engines.openai_request import OpenAIOptions, encode_request
from monitor.engines.openai_stream import StreamReader
from monitor.engines.tokenize import Tokenizer
from monitor.http import HttpClient
from monitor.model import Request

__all__ = ["OpenAIEngine", "OpenAIOptions"]


class OpenAIEngine:
    """One target behind ``<base_url>/chat/completions``; ``base_url`` mostly ends in ``/v1``."""

    def __init__(
        self, *, base_url: str, model: str, http: HttpClient, options: OpenAIOptions | None = None
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._model = model
        self._http = http
        self._options = options or OpenAIOptions()
        self._tokenizer = Tokenizer(base_url=self._base_url, model=model, http=http)

    async def ask(
        self, request: Request, *, credential: str | None, timeout_seconds: float
    ) -> Reply:
        """Ask once and return what came; a cut or late answer keeps its part beside the failure."""
        usage_expected = self._options.include_usage
        call = Call(
            url=f"{self._base_url}/chat/completions",
            body=encode_request(request, model=self._model, options=self._options),
            parse=parse_completion,
            reader=StreamReader(usage_expected=usage_expected) if request.stream else None,
            hang_up=request.hang_up,
        )
        return await exchange(
            self._http, call, credential=credential, timeout_seconds=timeout_seconds
        )

    async def discover(self, *, credential: str | None) -> Discovery:
        """Read what the target says of itself, with GET requests alone."""
        return await discover(
            self._http, base_url=self._base_url, model=self._model, credential=credential
        )

    async def count_tokens(self, text: str, *, credential: str | None) -> int | None:
        """Return the target's own count of ``text``, without template or special tokens."""
        return await self._tokenizer.count(text, credential=credential)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()
