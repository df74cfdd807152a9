"""The OpenAI chat-completions dialect, which nearly every engine and gateway speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.engines.base import Discovery, Manner, Reply
from monitor.engines.discovery import discover
from monitor.engines.exchange import Call, exchange
from monitor.engines.openai_body import parse_completion
from monitor.engines.openai_request import OpenAIOptions, encode_request
from monitor.engines.openai_stream import StreamReader
from monitor.engines.reasoning import set_reasoning_apart
from monitor.engines.tokenize import Tokenizer
from monitor.http import HttpClient
from monitor.model import Request

__all__ = ["OpenAIEngine", "OpenAIOptions"]


class OpenAIEngine:
    """One target behind ``<base_url>/chat/completions``; ``base_url`` mostly ends in ``/v1``.

    ``headers`` go with every question, for dialects that build on this one.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        http: HttpClient,
        options: OpenAIOptions | None = None,
        manner: Manner | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._model = model
        self._http = http
        self._options = options or OpenAIOptions()
        self._manner = manner or Manner()
        self._headers = dict(headers or {})
        self._tokenizer = Tokenizer(base_url=self._base_url, model=model, http=http)

    async def ask(
        self, request: Request, *, credential: str | None, timeout_seconds: float
    ) -> Reply:
        """Ask once and return what came; a cut or late answer keeps its part beside the failure."""
        options, manner = self._options, self._manner
        reader = StreamReader(usage_expected=options.include_usage) if request.stream else None
        call = Call(
            url=f"{self._base_url}/chat/completions",
            request=request,
            body=encode_request(request, model=self._model, options=options, manner=manner),
            parse=parse_completion,
            reader=reader,
            headers={**self._headers, **manner.headers(request)},
        )
        reply = await exchange(
            self._http, call, credential=credential, timeout_seconds=timeout_seconds
        )
        if options.inline_reasoning and reply.response is not None:
            return replace(reply, response=set_reasoning_apart(reply.response))
        return reply

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
