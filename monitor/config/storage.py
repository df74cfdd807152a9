"""The sections below ``storage``: how long, how much, sealed to whom, and who may read."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from monitor.config.secrets import SecretRef
from monitor.config.section import Section
from monitor.config.values import EnvName, FileName, Text

_Days = Annotated[int, Field(strict=True, ge=1, le=3650)]


class Retention(Section):
    """Days after which rows are deleted; what an open finding holds is kept longer."""

    verdicts_days: _Days = Field(
        default=400, description="Verdicts, trials, exchanges, request ids and signals."
    )
    bodies_days: _Days = Field(default=7, description="Sealed texts of prompts and answers.")
    rollups_days: _Days = Field(default=1100, description="Hourly and daily sums.")
    records_days: _Days = Field(
        default=400, description="Schedule events, context ladders, node snapshots and pages."
    )


class Spool(Section):
    """Rows wait here, on this machine's disk, until the store has them."""

    max_mb: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = Field(
        default=1024,
        description="The most it may hold. Then texts are shed, and probing waits.",
    )
    fsync: Annotated[bool, Field(strict=True)] = Field(
        default=True,
        description=(
            "Wait for the disk before a verdict counts as kept. Off, a crash of the machine (not "
            "of Davylamp) may lose the last seconds."
        ),
    )


class Bodies(Section):
    """Texts of prompts and answers, sealed so that this machine cannot read them again."""

    public_key_file: FileName = Field(
        description=(
            "X25519 public key in PEM (openssl genpkey -algorithm x25519; openssl pkey -pubout). "
            "Keep the private key elsewhere."
        )
    )
    keep: Literal["all", "not_good"] = Field(
        default="all",
        description="`all`, or only those of trials whose verdict is `not_good`.",
    )


class Sql(Section):
    """Read-only SQL for Grafana and any ClickHouse client. A server of your own has its own."""

    enabled: Annotated[bool, Field(strict=True)] = Field(
        default=True, description="Whether the daemon serves it, over an embedded store."
    )
    host: Text = Field(default="127.0.0.1", description="Address to listen on.")
    port: Annotated[int, Field(strict=True, ge=1, le=65_535)] | None = Field(
        default=None, description="Port to listen on. Left out, the one after `listen.port`."
    )
    token_env: EnvName | None = Field(
        default=None, description="Environment variable that holds the readers' password."
    )
    token_file: FileName | None = Field(
        default=None,
        description="File that holds it. Left out, one is made in `storage.path`.",
    )
    max_seconds: Annotated[int, Field(strict=True, ge=1, le=3600)] = Field(
        default=30, description="The longest a query may run."
    )
    max_memory_mb: Annotated[int, Field(strict=True, ge=16, le=1_000_000)] = Field(
        default=1024, description="The most memory a query may use."
    )
    max_rows: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=1_000_000, description="The most rows an answer may hold."
    )

    @property
    def token(self) -> SecretRef | None:
        """The name of the readers' password, or ``None``."""
        return self.secret("token")

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._only_one_of("token")
        return self
