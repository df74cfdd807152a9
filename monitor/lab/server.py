"""The HTTP face: OpenAI's chat API as SGLang serves it, keys per tenant, models and metrics."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from monitor.lab import bodies
from monitor.lab.asked import BadRequestError, ChatRequest, parse
from monitor.lab.jobs import Refusal
from monitor.lab.metrics import exposition
from monitor.lab.nodes import model_info, server_info
from monitor.lab.service import Answer, BrokenDownError, RefusedError, Service

_BROKEN_DOWN = Refusal(status=500, message="Internal server error.", kind="InternalServerError")


class _Events(StreamingResponse):
    """An event stream that lets go of its answer at once when the client hangs up."""

    def __init__(self, events: AsyncGenerator[str, None], headers: dict[str, str]) -> None:
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; close them whatever happens."""
        async with contextlib.aclosing(self._events):
            await super().__call__(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Lab:
    """The routes over one service."""

    service: Service

    async def chat(self, http: Request) -> Response:
        """Answer ``POST /v1/chat/completions``."""
        if not self._tenant(http):
            return JSONResponse(bodies.unauthorised(), status_code=401)
        caller = self.service.caller(self._tenant(http))
        headers = {"x-request-id": self.service.rid(caller.number)}
        gate = self.service.steps.gate(caller)
        if gate.delay_seconds:
            await asyncio.sleep(gate.delay_seconds)
        if gate.refusal:
            return _refused(gate.refusal, headers)
        try:
            request = parse(await http.body())
            answer = self.service.reply(self.service.admit(request, caller))
        except BadRequestError as error:
            return _refused(Refusal(status=400, message=str(error)), headers)
        except RefusedError as error:
            return _refused(error.refusal, headers)
        return await self._reply(http, request, answer, headers)

    async def _reply(
        self, http: Request, request: ChatRequest, answer: Answer, headers: dict[str, str]
    ) -> Response:
        if request.stream:
            return _Events(self._events(request, answer), headers)
        try:
            await self._whole(answer, http)
        except BrokenDownError:
            return _refused(_BROKEN_DOWN, headers)
        return JSONResponse(bodies.completion(answer, self._model), headers=headers)

    async def _whole(self, answer: Answer, http: Request) -> None:
        """Read the answer to its end, or until the client has gone away."""
        reading = asyncio.create_task(self._read(answer))
        leaving = asyncio.create_task(_gone(http))
        try:
            await asyncio.wait({reading, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
        finally:
            reading.cancel()
            leaving.cancel()

    async def _read(self, answer: Answer) -> None:
        async for tokens in self.service.tokens(answer):
            answer.parser.feed([output.token for output in tokens])

    async def _events(self, request: ChatRequest, answer: Answer) -> AsyncGenerator[str, None]:
        try:
            async with contextlib.aclosing(self._chunks(request, answer)) as chunks:
                async for event in chunks:
                    yield event
        except BrokenDownError:
            yield bodies.event(bodies.refusal(_BROKEN_DOWN))
            yield bodies.DONE

    async def _chunks(self, request: ChatRequest, answer: Answer) -> AsyncGenerator[str, None]:
        if answer.refusal:
            yield bodies.event(bodies.refusal(answer.refusal))
            yield bodies.DONE
            return
        # As in SGLang, the role comes with the first token and not before.
        opening = [bodies.chunk(answer, self._model, {"role": "assistant", "content": ""})]
        async with contextlib.aclosing(self.service.tokens(answer)) as stream:
            place = 0
            async for tokens in stream:
                answer.parser.feed([output.token for output in tokens])
                while opening:
                    yield bodies.event(opening.pop())
                for chunk in self._fresh(answer):
                    spoken = bool(chunk["choices"][0]["delta"].get("content"))
                    if not spoken or self.service.steps.gateway.passes_on(answer.job, place):
                        yield bodies.event(chunk)
                    place += spoken
        while opening:
            yield bodies.event(opening.pop())
        yield bodies.event(bodies.chunk(answer, self._model, {}, answer.finish_reason))
        if request.include_usage:
            yield bodies.event(bodies.usage_chunk(answer, self._model))
        yield bodies.DONE

    def _fresh(self, answer: Answer) -> Iterator[bodies.Body]:
        """Yield a chunk for each thing that the parser has news of."""
        parser, model = answer.parser, self._model
        thought = parser.fresh_reasoning()
        if thought:
            yield bodies.chunk(answer, model, {"reasoning_content": thought})
        text = parser.fresh(final=bool(answer.job.finish_reason))
        if text:
            spoken = parser.fresh_spoken()
            yield bodies.chunk(answer, model, {"content": text}, spoken=spoken)
        for part in parser.fresh_calls():
            yield bodies.chunk(answer, model, bodies.call_delta(answer, part))

    async def models(self, http: Request) -> Response:
        """Answer ``GET /v1/models``: the advertised context."""
        if not self._allowed(http):
            return JSONResponse(bodies.unauthorised(), status_code=401)
        return JSONResponse(bodies.models(self.service.settings))

    async def server_info(self, http: Request) -> Response:
        """Answer ``GET /server_info``: what a node says of itself, if the gateway lets it."""
        return self._node(http, server_info)

    async def model_info(self, http: Request) -> Response:
        """Answer ``GET /model_info``."""
        return self._node(http, model_info)

    async def metrics(self, http: Request) -> Response:
        """Answer ``GET /metrics``; as in SGLang, no key is needed."""
        del http
        if not self.service.steps.gateway_shows_nodes:
            return JSONResponse({"detail": "Not Found"}, status_code=404)
        return PlainTextResponse(exposition(self.service))

    async def health(self, http: Request) -> Response:
        """Answer ``GET /health``: 200, whatever the answers say."""
        del http
        return Response(status_code=200)

    @property
    def _model(self) -> str:
        return self.service.settings.model

    def _node(self, http: Request, build: Callable[[Service], bodies.Body]) -> Response:
        if not self.service.steps.gateway_shows_nodes:
            return JSONResponse({"detail": "Not Found"}, status_code=404)
        if not self._allowed(http):
            return JSONResponse(bodies.unauthorised(), status_code=401)
        return JSONResponse(build(self.service))

    def _allowed(self, http: Request) -> bool:
        return bool(self._tenant(http))

    def _tenant(self, http: Request) -> str:
        """Return whose key it is, "" if nobody's."""
        scheme, _, key = http.headers.get("authorization", "").partition(" ")
        named = {key: name for name, key in self.service.settings.keys.items()}
        return named.get(key, "") if scheme.lower() == "bearer" else ""


async def _gone(http: Request) -> None:
    """Return when the client has gone away. The body must have been read."""
    while (await http.receive())["type"] != "http.disconnect":
        pass


def _refused(refusal: Refusal, headers: dict[str, str]) -> Response:
    return JSONResponse(bodies.refusal(refusal), status_code=refusal.status, headers=headers)


def application(service: Service) -> Starlette:
    """Return the ASGI application of a lab."""
    lab = Lab(service)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        loop = asyncio.create_task(service.run())
        yield
        loop.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await loop

    return Starlette(
        lifespan=lifespan,
        routes=[
            Route("/v1/chat/completions", lab.chat, methods=["POST"]),
            Route("/v1/models", lab.models),
            Route("/server_info", lab.server_info),
            Route("/get_server_info", lab.server_info),
            Route("/model_info", lab.model_info),
            Route("/get_model_info", lab.model_info),
            Route("/metrics", lab.metrics),
            Route("/health", lab.health),
        ],
    )
