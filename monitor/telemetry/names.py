"""Every name an OpenTelemetry collector is told, in one table, by version of the conventions.

Names that start with ``gen_ai``, ``server``, ``error`` or ``deployment`` are OpenTelemetry's; those
with ``davylamp`` are ours, for what the conventions have no name for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from monitor.conventions.metric import MetricKind

EVALUATION = "gen_ai.evaluation.result"
CHAT = "chat"
INTERNAL_SPAN = "probe"

# The buckets the conventions advise: 10 ms to 82 s by twos, 1 to 67 million tokens by fours.
_SECONDS = tuple(0.01 * 2**power for power in range(14))
_TOKENS = tuple(float(4**power) for power in range(14))


class Key(StrEnum):
    """The attributes of spans, metrics and events."""

    OPERATION = "gen_ai.operation.name"
    PROVIDER = "gen_ai.provider.name"
    REQUEST_MODEL = "gen_ai.request.model"
    REQUEST_STREAM = "gen_ai.request.stream"
    REQUEST_SEED = "gen_ai.request.seed"
    REQUEST_TEMPERATURE = "gen_ai.request.temperature"
    REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
    RESPONSE_MODEL = "gen_ai.response.model"
    RESPONSE_ID = "gen_ai.response.id"
    FINISH_REASONS = "gen_ai.response.finish_reasons"
    FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
    INPUT_TOKENS = "gen_ai.usage.input_tokens"
    OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
    CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
    REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
    PROMPT_NAME = "gen_ai.prompt.name"
    PROMPT_VERSION = "gen_ai.prompt.version"
    EVALUATION_NAME = "gen_ai.evaluation.name"
    SCORE = "gen_ai.evaluation.score.value"
    SCORE_LABEL = "gen_ai.evaluation.score.label"
    EXPLANATION = "gen_ai.evaluation.explanation"
    TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - not a password
    TOKEN_MODALITY = "gen_ai.token.modality"  # noqa: S105 - not a password
    SERVER_ADDRESS = "server.address"
    SERVER_PORT = "server.port"
    ERROR_TYPE = "error.type"
    SERVICE_NAME = "service.name"
    SERVICE_VERSION = "service.version"
    SERVICE_INSTANCE = "service.instance.id"
    ENVIRONMENT = "deployment.environment.name"
    TARGET = "davylamp.target"
    PROBE = "davylamp.probe"
    SHAPE = "davylamp.shape"
    STRATUM = "davylamp.stratum"
    TRIAL = "davylamp.trial"
    SCHEDULED = "davylamp.scheduled"
    CONFIRMS = "davylamp.confirms"
    REPLAYS = "davylamp.replays"
    EXCHANGE = "davylamp.exchange"
    PART = "davylamp.part"
    FAILURE = "davylamp.failure"
    REQUEST_ID = "davylamp.request_id"
    OUTCOME = "davylamp.outcome"
    CLASS = "davylamp.class"
    SOURCE = "davylamp.source"
    VERDICT = "davylamp.verdict"
    FINDING = "davylamp.finding"
    CHECKS_VERSION = "davylamp.checks_version"


class Measure(StrEnum):
    """What is measured of an exchange, whatever it is called."""

    DURATION = "duration"
    FIRST_CHUNK = "first_chunk"
    INPUT = "input"
    OUTPUT = "output"
    CACHED = "cached"
    REASONING = "reasoning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """One metric: what it measures, what it is called, and the attributes that are always so."""

    measure: Measure
    name: str
    kind: MetricKind
    unit: str
    help: str
    buckets: tuple[float, ...] = ()
    fixed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """One version of the conventions; ``lacks`` are attributes that it has no name for.

    ``schema_url`` is empty where nobody publishes a schema.
    """

    schema_url: str
    instruments: tuple[Instrument, ...]
    lacks: frozenset[Key] = frozenset()


def _seconds(measure: Measure, name: str, text: str) -> Instrument:
    return Instrument(
        measure=measure,
        name=name,
        kind=MetricKind.HISTOGRAM,
        unit="s",
        help=text,
        buckets=_SECONDS,
    )


def _sizes(measure: Measure, name: str, **fixed: str) -> Instrument:
    return Instrument(
        measure=measure,
        name=name,
        kind=MetricKind.HISTOGRAM,
        unit="{token}",
        help="Tokens of one exchange, as the target reports them.",
        buckets=_TOKENS,
        fixed=tuple((Key[key].value, value) for key, value in fixed.items()),
    )


def _sum(measure: Measure, name: str) -> Instrument:
    # Whatever we send and read is text.
    return Instrument(
        measure=measure,
        name=name,
        kind=MetricKind.COUNTER,
        unit="{token}",
        help="Tokens of all exchanges, as the target reports them.",
        fixed=((Key.TOKEN_MODALITY.value, "text"),),
    )


_DURATION = "From sending the request of an exchange to the end of its answer or failure."
_FIRST_CHUNK = "From sending the request to the first piece of a streamed answer."
_INFERENCE = "gen_ai.client.inference"
_OPERATION = "gen_ai.client.operation"
_USAGE = "gen_ai.client.token.usage"

NAMES: Mapping[str, Names] = {
    "genai-v0.1.0": Names(
        schema_url="",
        instruments=(
            _seconds(Measure.DURATION, f"{_INFERENCE}.duration", _DURATION),
            _seconds(Measure.FIRST_CHUNK, f"{_INFERENCE}.time_to_first_chunk", _FIRST_CHUNK),
            _sum(Measure.INPUT, f"{_INFERENCE}.usage.input_tokens"),
            _sum(Measure.OUTPUT, f"{_INFERENCE}.usage.output_tokens"),
            _sum(Measure.CACHED, f"{_INFERENCE}.usage.cache_read.input_tokens"),
            _sum(Measure.REASONING, f"{_INFERENCE}.usage.reasoning.output_tokens"),
            _sizes(Measure.INPUT, f"{_INFERENCE}.operation.input_tokens"),
            _sizes(Measure.OUTPUT, f"{_INFERENCE}.operation.output_tokens"),
        ),
    ),
    "v1.41": Names(
        schema_url="https://opentelemetry.io/schemas/1.41.0",
        instruments=(
            _seconds(Measure.DURATION, f"{_OPERATION}.duration", _DURATION),
            _seconds(Measure.FIRST_CHUNK, f"{_OPERATION}.time_to_first_chunk", _FIRST_CHUNK),
            _sizes(Measure.INPUT, _USAGE, TOKEN_TYPE="input"),  # noqa: S106 - not a password
            _sizes(Measure.OUTPUT, _USAGE, TOKEN_TYPE="output"),  # noqa: S106 - not a password
        ),
        lacks=frozenset({Key.PROMPT_VERSION}),
    ),
}
