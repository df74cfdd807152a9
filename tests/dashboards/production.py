"""What servers of users would export meanwhile: all 200, as quick as ever. vLLM's own names."""

from __future__ import annotations

from random import Random

from prometheus_client import CollectorRegistry, Counter, Histogram

REQUESTS_A_MINUTE = 600


class Production:
    """A vLLM with users, whose status codes and latency say nothing of what it answers."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._rng = Random(5)
        self._requests = Counter(
            "http_requests_total", "Requests.", ("handler", "status"), registry=self.registry
        )
        model = ("model_name",)
        self._durations = Histogram(
            "vllm:e2e_request_latency_seconds", "Latency.", model, registry=self.registry
        )
        self._first_tokens = Histogram(
            "vllm:time_to_first_token_seconds", "First token.", model, registry=self.registry
        )

    def tick(self) -> None:
        """Serve the requests of a minute."""
        for status, number in (("2xx", REQUESTS_A_MINUTE), ("4xx", 3), ("5xx", 1)):
            self._requests.labels("/v1/chat/completions", status).inc(number)
        for _ in range(20):
            self._durations.labels("glm-5.3").observe(self._rng.lognormvariate(0.4, 0.5))
            self._first_tokens.labels("glm-5.3").observe(self._rng.lognormvariate(-1.4, 0.4))
