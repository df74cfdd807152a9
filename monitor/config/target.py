"""What the configuration says about one target, its tenants and its nodes."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from monitor.config.acceptance import Truncation
from monitor.config.known import EngineName, ProbeName
from monitor.config.nodes import Draft, Gateway, Node, NodeSource, NodeTarget
from monitor.config.problems import wrong
from monitor.config.secrets import SecretRef
from monitor.config.section import Section
from monitor.config.terms import Term
from monitor.config.values import (
    Duration,
    EnvName,
    FileName,
    Flag,
    HeaderName,
    HeadersFromEnv,
    HttpUrl,
    Label,
    Labels,
    Percent,
    Ratio,
    Text,
    Tokens,
    Usd,
)

FeatureName = Literal["stream", "tools", "json_schema", "system_role", "developer_role", "stop"]
PROFILES = ("quick", "standard", "deep")


class Budget(Section):
    """What may be spent in one day. A cap left out is taken from the level above."""

    tokens: Tokens | None = Field(
        default=None, description="Tokens a day, input and output together."
    )
    usd: Usd | None = Field(
        default=None, description="US dollars a day; needs the target's `price`."
    )


class Tenant(Section):
    """A synthetic tenant of this installation: one credential at the target."""

    name: Label = Field(description="Unique within the target.", examples=["donor-a"])
    api_key_env: EnvName | None = Field(
        default=None,
        description="Environment variable that holds the key. Leave both out for an open server.",
    )
    api_key_file: FileName | None = Field(
        default=None, description="File that holds the key and nothing else."
    )
    roles: tuple[Literal["donor", "victim"], ...] = Field(
        ("donor", "victim"),
        description="A donor plants text, a victim's answers are searched for it.",
    )
    isolation_given: Label | None = Field(
        default=None,
        alias="isolation",
        description="Isolation domain; tenants of one domain may share caches. Default: the name.",
    )

    @property
    def isolation(self) -> str:
        """The isolation domain: the tenant's own unless one is given."""
        return self.isolation_given or self.name

    @property
    def donor(self) -> bool:
        """True if it may plant."""
        return "donor" in self.roles

    @property
    def victim(self) -> bool:
        """True if its answers are searched for planted text."""
        return "victim" in self.roles

    @property
    def credential(self) -> SecretRef | None:
        """The name of its key, or ``None`` for an open server."""
        return self.secret("api_key")

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._only_one_of("api_key")
        if not self.roles:
            raise wrong("has no roles", "leave roles out for both, or write [donor] or [victim]")
        return self


class Overflow(Section):
    """What a prompt beyond the limit must lead to; no ``truncate`` means it must be refused."""

    truncate: Truncation | None = Field(
        default=None, description="Accept silent truncation, for a time."
    )

    def expired(self, today: date) -> bool:
        """Return true if an accepted truncation is past its day."""
        return self.truncate is not None and self.truncate.expired(today)

    def accepts_truncation(self, today: date) -> bool:
        """Return true if truncation is accepted today."""
        return self.truncate is not None and not self.expired(today)


def _overflow(value: object) -> object:
    if value == "refuse":
        return {}
    if isinstance(value, dict) and value:
        return value
    raise wrong(
        "is neither 'refuse' nor an accepted truncation",
        "write refuse, or truncate: {owner, reason, expires}",
    )


class Reasoning(Section):
    """How hard a reasoning model may think about a probe."""

    effort: Literal["none", "minimal", "low", "medium", "high"] = Field(
        description="Sent in the words of the engine; see docs/engines.md.", examples=["none"]
    )


class Tags(Section):
    """How probes are marked, so that billing and dashboards can leave them out."""

    header: HeaderName = Field(
        default="X-Davylamp-Probe", description="A request header, with the value `probe`."
    )
    metadata: Flag = Field(
        default=False,
        description="Put `davylamp: probe` into the body's `metadata`, which some servers refuse.",
    )
    untagged_share: Ratio = Field(
        default=0.02,
        description="Share of trials sent without any mark, to see that marks change nothing.",
    )


class PriceList(Section):
    """What the target charges."""

    input_usd_per_million: Usd = Field(
        description="US dollars a million input tokens.", examples=[0.6]
    )
    output_usd_per_million: Usd = Field(
        description="US dollars a million output tokens.", examples=[2.2]
    )


class ProbeEntry(Section):
    """One probe of a target, with its own settings."""

    name: ProbeName = Field(description="A probe's name.", examples=["burst"])
    params: dict[str, Any] = Field(
        default_factory=dict, description="The probe's own parameters; see docs/probes.md."
    )
    disabled: Flag = Field(default=False, description="Keep the entry, run nothing.")
    interval_seconds: Duration | None = Field(
        default=None, alias="interval", description="As in `defaults`."
    )
    timeout_seconds: Duration | None = Field(
        default=None, alias="timeout", description="As in `defaults`."
    )
    min_output_tokens: Tokens | None = Field(default=None, description="As in `defaults`.")


def _probes_shape(value: object) -> str:
    return "<list>" if isinstance(value, list | tuple) else "<profile>"


Probes = Annotated[
    Annotated[Literal["quick", "standard", "deep"], Tag("<profile>")]
    | Annotated[tuple[ProbeEntry, ...], Tag("<list>")],
    Discriminator(_probes_shape),
]


class Target(Section):
    """One model at one endpoint."""

    name: Label = Field(description="Unique; a metric label.", examples=["glm-prod"])
    engine: EngineName = Field(description="How to speak to it.", examples=["openai"])
    base_url: HttpUrl = Field(
        description="The root of its API, `/v1` included.",
        examples=["https://gateway.example.com/v1"],
    )
    model: Text = Field(description="The model as the API calls it.", examples=["glm-5.3"])
    engine_options: dict[str, Any] = Field(
        default_factory=dict, description="The engine's own options; see docs/engines.md."
    )
    tenants: tuple[Tenant, ...] = Field(
        description="Two or more let us prove that tenants are kept apart.",
        examples=["[{name: donor-a, api_key_env: DONOR_A_KEY}]"],
    )
    context_tokens: Tokens | None = Field(
        default=None, description="The declared limit of prompt plus answer."
    )
    output_tokens: Tokens | None = Field(
        default=None, description="The declared limit of an answer."
    )
    nodes: tuple[Node, ...] = Field((), description="The processes that serve it, if reachable.")
    node_sources: tuple[NodeSource, ...] = Field(
        (), description="Where more of them are found; needs `nodes.addresses`."
    )
    gateway: Gateway | None = Field(
        default=None, description="What lists the models that are served here."
    )
    draft: Draft = Field(
        default_factory=Draft,
        description="Where the acceptance of its draft lies, if nodes tell of one.",
    )
    labels: Labels = Field(default_factory=dict, description="Region, tier and the like.")
    overflow: Annotated[Overflow, BeforeValidator(_overflow)] = Field(
        default_factory=Overflow,
        description="`refuse`, or `truncate` with owner, reason and expiry.",
    )
    lacks: tuple[FeatureName, ...] = Field(
        default=(),
        description="What its API does not offer; probes that need it are not planned.",
    )
    gentle: Flag = Field(
        default=True,
        description="Leave out shapes that could harm a target that serves users.",
    )
    reasoning: Reasoning | None = Field(default=None, description="For reasoning models.")
    tags: Tags = Field(default_factory=Tags, description="How probes are marked.")
    price: PriceList | None = Field(
        default=None, description="Lets `plan` and `config check` speak in money."
    )
    probes: Probes = Field(
        default="standard", description="A profile (quick, standard, deep) or a list."
    )
    headers_env: HeadersFromEnv = Field(
        default_factory=dict,
        description="Extra request headers, each with the variable that holds its value.",
    )
    sensitive_terms: tuple[Term, ...] = Field(
        default=(),
        description=(
            "Words and phrases no answer may hold unless the prompt does: code names, customers. "
            "Found whole, in any case and spacing; inflected forms are not."
        ),
        examples=["[Project Bluebird, 蓝鸟计划]"],
    )
    interval_seconds: Duration | None = Field(
        default=None, alias="interval", description="As in `defaults`."
    )
    timeout_seconds: Duration | None = Field(
        default=None, alias="timeout", description="As in `defaults`."
    )
    min_output_tokens: Tokens | None = Field(default=None, description="As in `defaults`.")
    tolerance: Ratio | None = Field(default=None, description="As in `defaults`.")
    calibration_margin: Ratio | None = Field(default=None, description="As in `defaults`.")
    objective_percent: Percent | None = Field(
        default=None, alias="objective", description="As in `defaults`."
    )
    daily_budget: Budget = Field(
        default_factory=Budget, description="As in `defaults`, cap by cap."
    )
    boundary_budget: Budget = Field(
        default_factory=Budget, description="As in `defaults`, cap by cap."
    )

    @property
    def profile(self) -> str | None:
        """The profile's name, or ``None`` if probes are listed."""
        return self.probes if isinstance(self.probes, str) else None

    @property
    def entries(self) -> tuple[ProbeEntry, ...]:
        """The listed probes; none if a profile is named."""
        return () if isinstance(self.probes, str) else self.probes

    def header_refs(self) -> dict[str, SecretRef]:
        """Return the extra headers with the names of their values."""
        place = self.place_of("headers_env")
        items = self.headers_env.items()
        return {key: SecretRef(kind="env", name=name, place=place) for key, name in items}


def _keys(model: type[Section]) -> frozenset[str]:
    return frozenset(field.alias or name for name, field in model.model_fields.items())


_ASKED_BY = _keys(Target) - _keys(NodeTarget)
_READ_BY = frozenset({"nodes", "node_sources", "gateway"})


def _target_kind(value: object) -> str:
    """Tell a target that is asked from one that is read for its nodes only, by its keys."""
    keys = set(value) if isinstance(value, dict) else set()
    only_read = isinstance(value, NodeTarget) or (_READ_BY & keys and not _ASKED_BY & keys)
    return "<nodes>" if only_read else "<target>"


AnyTarget = Annotated[
    Annotated[Target, Tag("<target>")] | Annotated[NodeTarget, Tag("<nodes>")],
    Discriminator(_target_kind),
]
