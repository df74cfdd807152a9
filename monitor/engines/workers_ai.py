"""Cloudflare Workers AI: its OpenAI-style path, and its own ``run/<model>``.

The own dialect answers in an envelope, ``{success, errors, result}``, with ``result.response`` for
most models and a chat completion for newer ones; both may stand in one stream. It is read by
turning it into a chat completion, so that every check of those holds here too.

Sources: developers.cloudflare.com/workers-ai (configuration, JSON mode, errors); public clients'
tests for the shape of streams.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Literal

from pydantic import Field, JsonValue

from monitor.engines.base import Discovery, Manner, Reply
from monitor.engines.exchange import Call, exchange
from monitor.engines.faults import FaultList
from monitor.engines.openai import OpenAIEngine
from monitor.engines.openai_body import Parsed, parse_body, protocol_failure, read_completion
from monitor.engines.openai_fields import is_object
from monitor.engines.openai_request import (
    OpenAIOptions,
    encode_messages,
    encode_tools,
    to_bytes,
)
from monitor.engines.openai_stream import StreamReader
from monitor.engines.reasoning import reasoning_fields, set_reasoning_apart
from monitor.engines.refusals import classify_error_in_200
from monitor.engines.workers_ai_catalogue import account_of, discover
from monitor.http import HttpClient
from monitor.model import Request, Response


class WorkersAiOptions(OpenAIOptions):
    """The options of a target whose engine is ``workers_ai``."""

    api: Literal["by_url", "openai", "native"] = Field(
        default="by_url",
        description="Which path to speak; a base URL that ends in `/run` is native.",
    )
    session_affinity: str = Field(
        default="",
        max_length=200,
        description="Sent as `x-session-affinity`, which routes to one prefix cache.",
    )


class WorkersAiEngine:
    """One model behind ``…/accounts/<id>/ai/v1``, ``…/ai/run``, or a gateway of the same shape."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        http: HttpClient,
        options: WorkersAiOptions | None = None,
        manner: Manner | None = None,
    ) -> None:
        self._http = http
        self._model = model
        self._options = options or WorkersAiOptions()
        self._manner = manner or Manner()
        self._account = account_of(base_url)
        runs = base_url.rstrip("/").endswith("/run")
        self._native = runs if self._options.api == "by_url" else self._options.api == "native"
        self._openai = OpenAIEngine(
            base_url=f"{self._account}/v1",
            model=model,
            http=http,
            options=self._options,
            manner=self._manner,
            headers=self._affinity(),
        )

    async def ask(
        self, request: Request, *, credential: str | None, timeout_seconds: float
    ) -> Reply:
        """Ask once and return what came; a cut or late answer keeps its part beside the failure.

        There is no salt for the cache here, so none is sent.
        """
        request = replace(request, cache_salt="")
        if not self._native:
            return await self._openai.ask(
                request, credential=credential, timeout_seconds=timeout_seconds
            )
        call = Call(
            url=f"{self._account}/{self._path()}",
            request=request,
            body=_encode(request, self._options, self._manner),
            parse=parse_envelope,
            reader=native_reader() if request.stream else None,
            headers={**self._manner.headers(request), **self._affinity()},
        )
        reply = await exchange(
            self._http, call, credential=credential, timeout_seconds=timeout_seconds
        )
        if reply.response is None:
            return reply
        response = reply.response
        if reply.failure is None:
            response = _with_finish_reason(response, request)
        if self._options.inline_reasoning:
            response = set_reasoning_apart(response)
        return replace(reply, response=response)

    async def discover(self, *, credential: str | None) -> Discovery:
        """Read the advertised context from the account's catalogue of models."""
        return await discover(
            self._http, account=self._account, model=self._model, credential=credential
        )

    async def count_tokens(self, text: str, *, credential: str | None) -> int | None:
        """Return ``None``: the service does not count for us."""
        return None

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    def _affinity(self) -> dict[str, str]:
        session = self._options.session_affinity
        return {"x-session-affinity": session} if session else {}

    def _path(self) -> str:
        """Return what follows the account: a gateway's own path has no ``run``."""
        return f"run/{self._model}" if self._account.endswith("/ai") else self._model


class _Chunks:
    """Turns the events of the own dialect into chunks of a chat completion."""

    def __init__(self) -> None:
        self._calls = 0

    def __call__(self, event: dict[str, object]) -> dict[str, object]:
        """Return ``event`` as a chunk; newer models send chunks already."""
        if "choices" in event or "response" not in event:
            return event
        delta = _message(event, first_index=self._calls)
        calls = delta.get("tool_calls")
        self._calls += len(calls) if isinstance(calls, list) else 0
        return _completion(event, {"index": 0, "delta": delta})


def native_reader() -> StreamReader:
    """Return a reader of the own dialect's events, none of which says why the answer ended."""
    return StreamReader(usage_expected=True, finish_expected=False, translate=_Chunks())


def parse_envelope(body: bytes, faults: FaultList) -> Parsed:
    """Return the answer in the envelope ``body``, or why there is none to judge."""
    document, failure = parse_body(body, faults)
    if failure or (failure := classify_error_in_200(document)):
        return None, failure
    result = document.get("result") if is_object(document) else None
    if not is_object(result):
        return None, protocol_failure("the envelope has no result")
    if "choices" in result:
        return read_completion(result, faults)
    if "response" not in result and "tool_calls" not in result:
        return None, protocol_failure("the result has no response")
    choice = {"index": 0, "message": _message(result), "finish_reason": "stop"}
    response, failure = read_completion(_completion(result, choice), faults)
    return (replace(response, finish_reason=None) if response else None), failure


def _message(result: dict[str, object], *, first_index: int = 0) -> dict[str, object]:
    """Return the message that ``result`` holds in its own words."""
    text = result.get("response")
    if text is not None and not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False)  # JSON mode is parsed before it is sent
    message: dict[str, object] = {"role": "assistant", "content": text}
    for name in ("reasoning_content", "reasoning"):
        if name in result:
            message[name] = result[name]
    calls = result.get("tool_calls")
    if isinstance(calls, list) and calls:
        message["tool_calls"] = [
            _call(call, first_index + place) for place, call in enumerate(calls)
        ]
    return message


def _call(call: object, index: int) -> object:
    """Return a call in OpenAI's words; its arguments come parsed."""
    if not is_object(call) or "function" in call:
        return call
    arguments = call.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    function = {"name": call.get("name"), "arguments": arguments}
    return {"id": call.get("id"), "index": index, "function": function}


def _completion(result: dict[str, object], choice: dict[str, object]) -> dict[str, object]:
    kept: dict[str, object] = {
        name: result[name] for name in ("id", "model", "usage") if name in result
    }
    return {**kept, "choices": [choice]}


def _with_finish_reason(response: Response, request: Request) -> Response:
    """Say why it ended: the own dialect does not, so it follows from what came."""
    if response.finish_reason is not None:
        return response
    tokens = response.usage.output_tokens
    reason = "stop"
    if tokens is not None and tokens >= request.max_output_tokens:
        reason = "length"
    elif response.tool_calls:
        reason = "tool_calls"
    return replace(response, finish_reason=reason)


def _encode(request: Request, options: WorkersAiOptions, manner: Manner) -> bytes:
    """Return the body of the own dialect: the model is in the path, the schema stands bare."""
    body: dict[str, JsonValue] = {
        **options.extra_body,
        **reasoning_fields(manner.effort, options.reasoning_dialect, options.extra_body),
        **manner.metadata(request, options.extra_body),
        "messages": encode_messages(request),
        "max_tokens": request.max_output_tokens,
        "stream": request.stream,
        **encode_tools(request),
    }
    if options.send_temperature:
        body["temperature"] = request.temperature
    if request.seed is not None and options.send_seed:
        body["seed"] = request.seed
    if request.json_schema is not None:
        schema = json.loads(request.json_schema)
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return to_bytes(body)
