"""Exact token counts from the engine's own ``/tokenize``, where there is one."""

from __future__ import annotations

from collections.abc import Mapping

from monitor.engines.openai_fields import is_object
from monitor.engines.wire import Refused, fetch_json
from monitor.http import HttpClient

_TIMEOUT_SECONDS = 30.0
_BODY_BYTES = 64_000_000
_MAX_VALUES = 8_000_000


class Tokenizer:
    """Counts by vLLM's dialect or llama.cpp's, whichever the target answers to."""

    def __init__(self, *, base_url: str, model: str, http: HttpClient) -> None:
        root = base_url.removesuffix("/v1")
        self._url = f"{root}/tokenize" if root != base_url else None
        self._model = model
        self._http = http

    async def count(self, text: str, *, credential: str | None) -> int | None:
        """Return how many tokens ``text`` alone is, or ``None`` if the target does not say."""
        if self._url is None:
            return None
        vllm = {"model": self._model, "prompt": text, "add_special_tokens": False}
        llama_cpp = {"content": text, "add_special": False}
        for body in (vllm, llama_cpp):
            try:
                count = await self._ask(self._url, body, credential)
            except Refused as refused:
                if refused.status in (None, 404, 405):
                    return None
                continue
            if count or not text:
                return count or 0
        return None

    async def _ask(
        self, url: str, body: Mapping[str, object], credential: str | None
    ) -> int | None:
        """Return the count; 0 from a server that did not know the field with the text in it."""
        document = await fetch_json(
            self._http,
            url,
            credential=credential,
            timeout_seconds=_TIMEOUT_SECONDS,
            post=body,
            body_bytes=_BODY_BYTES,
            max_values=_MAX_VALUES,
        )
        if not is_object(document):
            return None
        count, tokens = document.get("count"), document.get("tokens")
        if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
            return count
        return len(tokens) if isinstance(tokens, list) else None
