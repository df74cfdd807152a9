"""z.ai, and Zhipu's open platform: OpenAI's shapes with a few words of their own.

The base URL ends in ``/api/paas/v4`` (or ``/api/coding/paas/v4``), without ``/v1``. Its reference
names no seed, no log probabilities and no JSON schema, and no other tool choice than the
model's; they are left out. Token counts come at the end of every stream unasked.

Sources: docs.z.ai, API reference of chat completion and of errors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field, JsonValue

from monitor.engines.base import Discovery, Manner, Reply
from monitor.engines.discovery import discover
from monitor.engines.exchange import Call, exchange
from monitor.engines.openai_body import parse_completion
from monitor.engines.openai_request import (
    EngineOptions,
    encode_messages,
    encode_tools,
    to_bytes,
)
from monitor.engines.openai_stream import StreamReader
from monitor.engines.reasoning import reasoning_fields, set_reasoning_apart
from monitor.http import HttpClient
from monitor.model import Failure, FailureKind, Request, Response

# Why an answer ended is also where this API says that it did not end well: an error within a
# stream, or a prompt that does not fit, comes as a finish reason of a reply of status 200.
_BROKEN_OFF = {
    "network_error": "the target's own inference broke off (network_error)",
    "sensitive": "the target's content filter ended the answer (sensitive)",
}
_TOO_LONG = "model_context_window_exceeded"


class ZaiOptions(EngineOptions):
    """The options of a target whose engine is ``zai``."""

    sampling: Literal["greedy", "default"] = Field(
        default="greedy",
        description="`greedy` turns sampling off (`do_sample`) where a probe wants temperature 0.",
    )


class ZaiEngine:
    """One model behind ``<base_url>/chat/completions``."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        http: HttpClient,
        options: ZaiOptions | None = None,
        manner: Manner | None = None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._model = model
        self._http = http
        self._options = options or ZaiOptions()
        self._manner = manner or Manner()

    async def ask(
        self, request: Request, *, credential: str | None, timeout_seconds: float
    ) -> Reply:
        """Ask once and return what came; a cut or late answer keeps its part beside the failure."""
        call = Call(
            url=f"{self._base_url}/chat/completions",
            request=request,
            body=self._encode(request),
            parse=parse_completion,
            reader=StreamReader(usage_expected=True) if request.stream else None,
            headers=self._manner.headers(request),
        )
        reply = await exchange(
            self._http, call, credential=credential, timeout_seconds=timeout_seconds
        )
        if reply.response is None:
            return reply
        response = reply.response
        if self._options.inline_reasoning:
            response = set_reasoning_apart(response)
        return _judged_by_finish_reason(replace(reply, response=response), response)

    async def discover(self, *, credential: str | None) -> Discovery:
        """Read the list of models; it states no limits."""
        return await discover(
            self._http, base_url=self._base_url, model=self._model, credential=credential
        )

    async def count_tokens(self, text: str, *, credential: str | None) -> int | None:
        """Return ``None``: the service does not count for us."""
        return None

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    def _encode(self, request: Request) -> bytes:
        extra = self._options.extra_body
        body: dict[str, JsonValue] = {
            **extra,
            **reasoning_fields(self._manner.effort, "thinking", extra),
            **self._manner.metadata(request, extra),
            "model": self._model,
            "messages": encode_messages(request),
            "max_tokens": request.max_output_tokens,
            "stream": request.stream,
            **encode_tools(replace(request, tool_choice="")),
        }
        if request.temperature == 0.0 and self._options.sampling == "greedy":
            body["do_sample"] = False
        else:
            body["temperature"] = request.temperature
        if request.stop:
            body["stop"] = [request.stop]
        if request.json_schema is not None:
            body["response_format"] = {"type": "json_object"}
        return to_bytes(body)


def _judged_by_finish_reason(reply: Reply, response: Response) -> Reply:
    """Return ``reply`` with the failure that its finish reason states, if it states one."""
    reason = response.finish_reason or ""
    if reply.failure is not None:
        return reply
    if reason in _BROKEN_OFF:
        failure = Failure(kind=FailureKind.CUT_STREAM, detail=_BROKEN_OFF[reason])
        return replace(reply, failure=failure)
    if reason != _TOO_LONG:
        return reply
    if response.answer().strip() or response.reasoning_text.strip():
        # It began to answer and ran into the end of its context: that is a length like another.
        return replace(reply, response=replace(response, finish_reason="length"))
    failure = Failure(
        kind=FailureKind.REFUSED,
        detail="over-length prompt refused, in the words of z.ai",
        # A placeholder of 0 is no count.
        prompt_tokens=response.usage.input_tokens or None,
    )
    return replace(reply, failure=failure)
