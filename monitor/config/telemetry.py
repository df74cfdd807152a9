"""The section ``telemetry``: what is told to an OpenTelemetry collector, and how to reach it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from monitor.config.problems import wrong
from monitor.config.secrets import SecretRef
from monitor.config.section import Section
from monitor.config.values import (
    Duration,
    EnvName,
    FileName,
    Flag,
    HeadersFromEnv,
    HttpUrl,
    in_clear,
)

MOST_SECONDS = 60.0


def _patience(seconds: float) -> float:
    if not 1 <= seconds <= MOST_SECONDS:
        raise wrong("is not between 1s and 60s", "write 10s")
    return seconds


class Otlp(Section):
    """An OpenTelemetry collector that takes OTLP over HTTP."""

    endpoint: HttpUrl = Field(
        description="Its root; `/v1/traces`, `/v1/metrics` and `/v1/logs` are added.",
        examples=["http://127.0.0.1:4318"],
    )
    token_env: EnvName | None = Field(
        default=None,
        description="Environment variable that holds the token of its `Authorization` header.",
    )
    token_file: FileName | None = Field(default=None, description="File that holds it.")
    scheme: Literal["Bearer", "Basic"] = Field(
        default="Bearer", description="What stands before the token."
    )
    headers_env: HeadersFromEnv = Field(
        default_factory=dict,
        description="Further request headers, each with the variable that holds its value.",
    )
    ca_file: FileName | None = Field(
        default=None,
        description="Certificates to trust, in PEM. Left out, those of the package `certifi`.",
    )
    timeout_seconds: Annotated[Duration, AfterValidator(_patience)] = Field(
        default=10.0,
        alias="timeout",
        description="For one export with its retries, 1s to 60s. Then what it held is lost.",
    )

    @property
    def token(self) -> SecretRef | None:
        """The name of the token, or ``None``."""
        return self.secret("token")

    def header_refs(self) -> dict[str, SecretRef]:
        """Return the further headers with the names of their values."""
        place = self.place_of("headers_env")
        items = self.headers_env.items()
        return {key: SecretRef(kind="env", name=name, place=place) for key, name in items}

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._only_one_of("token")
        if in_clear(self.endpoint) and (self.token_env or self.token_file or self.headers_env):
            problem = "would send its token or headers in clear"
            raise wrong(problem, "let endpoint be an https:// URL, or a collector of this machine")
        return self


class Telemetry(Section):
    """What an OpenTelemetry collector is told: numbers, names and codes, never text."""

    otlp: Otlp = Field(description="The collector.")
    traces: Flag = Field(
        default=True, description="A span for each trial, and one for each of its exchanges."
    )
    metrics: Flag = Field(
        default=True, description="The metrics of a GenAI client: durations and tokens."
    )
    events: Flag = Field(default=True, description="An evaluation result for each verdict.")
    semconv: Literal["genai-v0.1.0", "v1.41"] = Field(
        default="genai-v0.1.0",
        description=(
            "Whose names are used: those of the GenAI conventions' own repository, or the older "
            "ones of the general conventions."
        ),
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not (self.traces or self.metrics or self.events):
            raise wrong("tells nothing", "let one of traces, metrics and events be true")
        return self
