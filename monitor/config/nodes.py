"""The processes that serve a target: where they are, how they are found, and how they are read."""

from __future__ import annotations

import re
from datetime import date
from ipaddress import ip_network
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from monitor.config.acceptance import AcceptedRule
from monitor.config.known import NodeEngineName
from monitor.config.problems import wrong
from monitor.config.secrets import SecretRef, quoted
from monitor.config.section import Section
from monitor.config.values import (
    Duration,
    EnvName,
    FileName,
    Flag,
    HttpUrl,
    Label,
    Labels,
    Ratio,
    Text,
)

NodeRole = Literal["unified", "prefill", "decode"]
Scheme = Literal["http", "https"]

_PORTS = {"http": 80, "https": 443}
_MOST_AT_ONCE = 256
LEAST_SECONDS, MOST_SECONDS = 1.0, 300.0
_HOST_AND_PORT = re.compile(r"([A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?):([0-9]{1,5})")
_HIGHEST_PORT = 65_535


def _interval(seconds: float) -> float:
    """Return a time between readings; live signals are of half an hour, and need several in it."""
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise wrong("is not between 1s and 5m", "write 30s")
    return seconds


def _network(value: object) -> str:
    """Return a range of addresses in its shortest writing."""
    try:
        return str(ip_network(value)) if isinstance(value, str) else _not_a_network(value)
    except ValueError:
        return _not_a_network(value)


def _not_a_network(value: object) -> str:
    problem = f"{quoted(value)} is not a range of addresses"
    raise wrong(problem, "write 10.0.0.0/8 or one address; no bit may be set beyond the prefix")


def _host_and_port(value: object) -> str:
    found = _HOST_AND_PORT.fullmatch(value) if isinstance(value, str) else None
    if found is None or not 0 < int(found[2]) <= _HIGHEST_PORT:
        raise wrong(f"{quoted(value)} is not a name with a port", "write prefill.serving.svc:30000")
    return found[0]


def _different(values: tuple[str, ...]) -> tuple[str, ...]:
    twice = next((each for each in values if values.count(each) > 1), None)
    if twice is not None:
        raise wrong(f"{quoted(twice)} stands twice", "keep one of them")
    return values


Network = Annotated[
    str, BeforeValidator(_network), WithJsonSchema({"type": "string", "title": "addresses"})
]
HostAndPort = Annotated[
    str, BeforeValidator(_host_and_port), WithJsonSchema({"type": "string", "title": "name:port"})
]


class Reached(Section):
    """What holds for a node however it was found: its own credential, what is known of it."""

    role: NodeRole | None = Field(
        default=None, description="Its part in serving. Left out, what the node says, else unified."
    )
    engine: NodeEngineName | None = Field(
        default=None, description="Its serving engine; found out if left out."
    )
    token_env: EnvName | None = Field(
        default=None, description="Environment variable that holds its token."
    )
    token_file: FileName | None = Field(default=None, description="File that holds its token.")
    accepted: tuple[AcceptedRule, ...] = Field(
        (), description="Rules it may break, each for a time."
    )

    @property
    def token(self) -> SecretRef | None:
        """The name of its token, or ``None``."""
        return self.secret("token")

    def expired(self, today: date) -> tuple[AcceptedRule, ...]:
        """Return the acceptances whose day is past."""
        return tuple(each for each in self.accepted if each.expired(today))

    @model_validator(mode="after")
    def _check_reached(self) -> Self:
        self._only_one_of("token")
        return self


class Node(Reached):
    """One serving process behind the target, read but never probed."""

    name_given: Label | None = Field(
        default=None,
        alias="name",
        description="Unique within the target; a metric label. Default: host and port.",
        examples=["prefill-0"],
    )
    url: HttpUrl = Field(
        description="Where its own endpoints are.", examples=["http://prefill-0:30000"]
    )
    metrics_url: HttpUrl | None = Field(
        default=None, description="Where its metrics are, if not at `/metrics` of its own: a relay."
    )

    @property
    def name(self) -> str:
        """Its name: host and port of its URL unless one is given."""
        return self.name_given or host_and_port(self.url)


class NodeSource(Reached):
    """Where nodes are found: a name in DNS, or files as Prometheus reads them."""

    dns: HostAndPort | None = Field(
        default=None,
        description="A name and a port: each address (A and AAAA) of the name is a node.",
        examples=["prefill.serving.svc:30000"],
    )
    file_sd: FileName | None = Field(
        default=None,
        description=(
            "Files of Prometheus' file_sd, JSON or YAML, read anew each time; `*` stands for any "
            "part of a file's name. Labels `role`, `engine` and `__scheme__` hold over the keys "
            "here."
        ),
        examples=["./nodes/*.json"],
    )
    scheme: Scheme = Field(default="http", description="How they are spoken to.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.dns is None) == (self.file_sd is None):
            problem = "names no source" if self.dns is None else "has both dns and file_sd"
            raise wrong(problem, "give one of them, dns or file_sd")
        return self


class Gateway(Section):
    """What stands in front of the nodes and says which models it serves, and how long a prompt."""

    engine: Literal["litellm", "openai"] = Field(
        description="`litellm` for its `/model/info`, `openai` for `/models`.", examples=["litellm"]
    )
    url: HttpUrl = Field(
        description="Its root; for `openai` that of its API, `/v1` included.",
        examples=["https://gateway.example.com"],
    )
    token_env: EnvName | None = Field(
        default=None, description="Environment variable that holds a token that may list models."
    )
    token_file: FileName | None = Field(default=None, description="File that holds it.")
    unprobed: Annotated[tuple[Text, ...], AfterValidator(_different)] = Field(
        (), description="Models it serves that no target is to ask: known and wanted."
    )

    @property
    def token(self) -> SecretRef | None:
        """The name of its token, or ``None``."""
        return self.secret("token")

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._only_one_of("token")
        return self


class Draft(Section):
    """Where the acceptance of a healthy draft lies, with speculative decoding."""

    lowest_length: Annotated[float, Field(strict=True, ge=0, le=64)] = Field(
        default=1.4,
        description="The fewest tokens a step, on average. 0: not looked at.",
        examples=[2.1],
    )
    highest_ratio: Ratio = Field(
        default=0.96,
        description="The largest share of the draft that is taken. 1: not looked at.",
        examples=[0.9],
    )


class NodeTarget(Section):
    """One model whose nodes are read, and which is never asked anything."""

    name: Label = Field(description="Unique; a metric label.", examples=["glm-prod"])
    nodes: tuple[Node, ...] = Field((), description="As of any target.")
    node_sources: tuple[NodeSource, ...] = Field((), description="As of any target.")
    gateway: Gateway | None = Field(default=None, description="As of any target.")
    draft: Draft = Field(default_factory=Draft, description="As of any target.")
    labels: Labels = Field(default_factory=dict, description="Region, tier and the like.")


class NodeReading(Section):
    """How nodes are read, and what they are held to. No tokens are spent on them."""

    interval_seconds: Annotated[Duration, AfterValidator(_interval)] = Field(
        default=30.0, alias="interval", description="Time between readings of every node, 1s to 5m."
    )
    timeout_seconds: Duration = Field(
        default=5.0, alias="timeout", description="The longest one request to a node may take."
    )
    concurrency: Annotated[int, Field(strict=True, ge=1, le=_MOST_AT_ONCE)] = Field(
        default=32, description="How many nodes are read at the same time."
    )
    strict: Flag = Field(
        default=False, description="Let everything below the version its vendor recommends fail."
    )
    addresses: Annotated[tuple[Network, ...], AfterValidator(_different)] = Field(
        (),
        description=(
            "Where a node that was found, not listed, may be: nothing else is read. Needed by "
            "`node_sources`."
        ),
        examples=["[10.0.0.0/8]"],
    )
    rules: FileName | None = Field(
        default=None, description="Folder of further rules; see docs/node-rules.md."
    )
    rules_max_age_seconds: Duration = Field(
        default=45 * 86_400.0,
        alias="rules_max_age",
        description="Rules that nobody reviewed for longer are alerted.",
    )


def host_and_port(url: str) -> str:
    """Return ``host:port`` of a URL, with the port of its scheme where none is written."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or _PORTS[parts.scheme]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
