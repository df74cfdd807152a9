"""The whole of ``davylamp.yaml``: every key has a description, and the documentation is theirs."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from monitor.config.checks import Checks
from monitor.config.detection import Detection
from monitor.config.gpu import Gpus
from monitor.config.nodes import NodeReading
from monitor.config.pages import Pages
from monitor.config.problems import wrong
from monitor.config.reports import Reports
from monitor.config.secrets import SecretRef
from monitor.config.section import Section
from monitor.config.slos import Slos
from monitor.config.storage import Bodies, Retention, Spool, Sql
from monitor.config.target import AnyTarget, Budget
from monitor.config.telemetry import Telemetry
from monitor.config.values import (
    ClickHouseUrl,
    Duration,
    EnvName,
    FileName,
    Flag,
    Label,
    Percent,
    Ratio,
    Text,
    Tokens,
)

DEFAULT_PORT = 18150
DAILY_TOKENS = 2_000_000
BOUNDARY_TOKENS = 8_000_000


class Storage(Section):
    """Where verdicts, findings and the installation key are kept."""

    path: FileName = Field(
        default="./davylamp-data",
        description=(
            "Folder on this machine, relative to this file: the embedded store, the spool and the "
            "installation key."
        ),
    )
    url: ClickHouseUrl | None = Field(
        default=None,
        description="A ClickHouse server instead of the embedded store.",
        examples=["clickhouses://davylamp@clickhouse:8443/davylamp"],
    )
    password_env: EnvName | None = Field(
        default=None, description="Environment variable that holds its password."
    )
    password_file: FileName | None = Field(
        default=None, description="File that holds its password."
    )

    cluster: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$")] | None = Field(
        default=None,
        description=(
            "Name of the server's cluster: tables are then made on all of it, and replicated."
        ),
    )
    retention: Retention = Field(default_factory=Retention, description="How long things are kept.")
    spool: Spool = Field(
        default_factory=Spool, description="The disk between verdicts and the store."
    )
    bodies: Bodies | None = Field(
        default=None,
        description="Keep what was asked and answered, sealed. Left out, no text is kept.",
    )
    sql: Sql = Field(
        default_factory=Sql, description="The embedded store over ClickHouse's HTTP interface."
    )

    @property
    def password(self) -> SecretRef | None:
        """The name of the server's password, or ``None``."""
        return self.secret("password")

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._only_one_of("password")
        if self.url is None and (self.password_env or self.password_file):
            raise wrong("has a password but no url", "add url, or remove the password")
        if self.url is None and self.cluster:
            raise wrong("has a cluster but no url", "add url, or remove the cluster")
        return self


class Listen(Section):
    """Where the daemon serves metrics, pages and its API."""

    host: Text = Field(default="127.0.0.1", description="Address to listen on.")
    hosts: tuple[Text, ...] = Field(
        default=(),
        description=(
            "Further names under which its API may be called; /metrics and health pages answer "
            "under any."
        ),
        examples=["[davylamp.example.com]"],
    )
    port: Annotated[int, Field(strict=True, ge=1, le=65_535)] = Field(
        default=DEFAULT_PORT, description="Port to listen on."
    )
    token_env: EnvName | None = Field(
        default=None,
        description="Environment variable that holds the token for what writes or reveals.",
    )
    token_file: FileName | None = Field(
        default=None,
        description="File that holds it. Left out, the daemon makes one in `storage.path`.",
    )

    @property
    def token(self) -> SecretRef | None:
        """The name of the API token, or ``None`` if the daemon makes its own."""
        return self.secret("token")

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._only_one_of("token")
        return self


class Defaults(Section):
    """What holds for every target unless the target, or one of its probes, says otherwise."""

    interval_seconds: Duration = Field(
        default=300.0, alias="interval", description="Time between runs of a probe."
    )
    timeout_seconds: Duration = Field(
        default=60.0,
        alias="timeout",
        description="For a short exchange; it grows with the length sent.",
    )
    min_output_tokens: Tokens = Field(
        default=16, description="Never ask for fewer; some providers refuse it."
    )
    tolerance: Ratio | None = Field(
        default=None,
        description=(
            "Share of tolerated failures `check` accepts. Left out, the target's calibration says "
            "it, and without one it is 0.1."
        ),
    )
    calibration_margin: Ratio = Field(
        default=0.02,
        description="What `calibrate` adds to its upper bounds, for other hours and days.",
    )
    objective_percent: Percent = Field(
        default=99.9,
        alias="objective",
        description="Share that must be good; no calibrated tolerance is below 1 - it.",
    )
    daily_budget: Budget = Field(
        default_factory=lambda: Budget(tokens=DAILY_TOKENS),
        description="For all probes but those at the context limit.",
    )
    boundary_budget: Budget = Field(
        default_factory=lambda: Budget(tokens=BOUNDARY_TOKENS),
        description="For the probes at the context limit.",
    )


class Schedule(Section):
    """How runs are laid out in time."""

    jitter_seconds: Duration = Field(
        default=15.0,
        alias="jitter",
        description="Each run starts late by a random time up to this.",
    )
    misfire_grace_seconds: Duration = Field(
        default=60.0,
        alias="misfire_grace",
        description="A run later than this is dropped and counted.",
    )
    spread: Flag = Field(default=True, description="Spread first starts over the interval.")
    reserve: Ratio = Field(
        default=0.2,
        description="Part of each day's budgets kept for the 24 h after a change of the target.",
    )


class Log(Section):
    """What goes to stderr."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least level shown."
    )
    format: Literal["text", "json"] = Field(
        default="text", description="For people or for machines."
    )


class Settings(Section):
    """The file as a whole. ``version`` comes first."""

    version: Literal[1] = Field(
        description="The version of this format, and the first key.", examples=[1]
    )
    environment: Label = Field(
        default="default", description="Label `env` of every metric and page."
    )
    storage: Storage = Field(default_factory=Storage, description="Where things are kept.")
    listen: Listen = Field(default_factory=Listen, description="Where the daemon serves.")
    defaults: Defaults = Field(default_factory=Defaults, description="For every target.")
    targets: tuple[AnyTarget, ...] = Field(
        description=(
            "The models to watch. One with `nodes`, `node_sources` or `gateway`, and nothing "
            "that says how to ask it, is read for its nodes only."
        ),
        examples=["[{name: …, engine: openai, base_url: …, …}]"],
    )
    nodes: NodeReading = Field(
        default_factory=NodeReading, description="How nodes are read, and what they are held to."
    )
    gpus: Gpus = Field(default_factory=Gpus, description="Who tells of GPUs; see docs/gpu.md.")
    checks: Checks = Field(
        default_factory=Checks, description="Checks that need more than the answer itself."
    )
    schedule: Schedule = Field(
        default_factory=Schedule, description="How runs are laid out in time."
    )
    pages: Pages = Field(default_factory=Pages, description="Who is told of findings directly.")
    detection: Detection = Field(
        default_factory=Detection, description="How rarely streams may alarm for nothing."
    )
    slos: Slos = Field(
        default=(),
        description="Objectives, or a folder of files that hold some; see docs/slos.md.",
        examples=["[{name: glm-semantic, target: glm-prod, objective: 99.9}]"],
    )
    reports: Reports | None = Field(
        default=None, description="A report of each week. Left out, the daemon builds none."
    )
    log: Log = Field(default_factory=Log, description="What goes to stderr.")
    telemetry: Telemetry | None = Field(
        default=None,
        description="What an OpenTelemetry collector is told. Left out, nothing is.",
    )
