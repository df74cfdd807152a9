"""What a probe is: it plans trials with their price, and runs them. It never judges or retries.

A new probe is one module with a ``PROBE`` and one test, listed in ``monitor/probes/__init__``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import lcm
from random import Random
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from monitor.conventions import NotProbed
from monitor.model import Exchange, Expectation, Part, PromptBaseline, Request, ValueKind
from monitor.prompts import GoldenPrompt


class ProbeParams(BaseModel):
    """Base of every probe's parameters: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Feature(StrEnum):
    """What an API may or may not offer; a target ``lacks`` some by configuration."""

    STREAM = "stream"
    TOOLS = "tools"
    JSON_SCHEMA = "json_schema"
    SYSTEM_ROLE = "system_role"
    DEVELOPER_ROLE = "developer_role"
    STOP = "stop"


class BudgetKind(StrEnum):
    """Which daily budget pays for a trial."""

    ORDINARY = "ordinary"
    BOUNDARY = "boundary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Tokens a trial costs if its boundary prompt is refused, and if it is answered."""

    refused_tokens: int
    answered_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantView:
    """A tenant as a probe sees it: never its credential."""

    name: str
    isolation: str
    donor: bool = True
    victim: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLimit:
    """A limit on prompt size and who states it (``config`` or an endpoint's field)."""

    tokens: int
    source: str

    @property
    def advertised(self) -> bool:
        """True if the engine or gateway itself states this limit."""
        return self.source != "config"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetView:
    """What a probe may know of its target: nothing that would tell a lab from a real one.

    ``engine`` is what the target says it is, empty if it does not say. A ``gentle`` target is
    asked nothing that could harm production. Of the ``golden`` prompts it does not master those in
    ``quarantined``, as its calibration showed; ``undecided`` are the border inputs that it answered
    with several first tokens.
    """

    name: str
    model: str
    tenants: tuple[TenantView, ...]
    limits: tuple[TokenLimit, ...] = ()
    min_output_tokens: int = 16
    truncation_accepted: bool = False
    engine: str = ""
    lacks: frozenset[Feature] = frozenset()
    gentle: bool = True
    golden: tuple[GoldenPrompt, ...] = ()
    quarantined: tuple[PromptBaseline, ...] = ()
    undecided: frozenset[str] = frozenset()

    def donors(self) -> tuple[TenantView, ...]:
        """The tenants that may plant."""
        return tuple(tenant for tenant in self.tenants if tenant.donor)

    def victims(self) -> tuple[TenantView, ...]:
        """The tenants whose answers are searched for planted text."""
        return tuple(tenant for tenant in self.tenants if tenant.victim)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """One trial to run: what it sets out to show and what it will spend at most.

    A trial that is not ``gentle`` is left out on targets that ask for gentleness.
    """

    probe: str
    shape: str
    stratum: str
    purpose: str
    price: Price
    budget: BudgetKind = BudgetKind.ORDINARY
    gentle: bool = True
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """A trial that is not planned here, and why, in plain words."""

    probe: str
    stratum: str
    reason: str
    code: NotProbed = NotProbed.IMPOSSIBLE


class Draft(Protocol):
    """An exchange that is about to be sent: it can own markers, and it is sent once."""

    def mint(self, *, planted: bool = False) -> str:
        """Return a fresh marker owned by this exchange."""

    def plant(self, kind: ValueKind) -> str:
        """Return a fresh planted value owned by this exchange: made-up personal data."""

    async def ask(self, request: Request, expectation: Expectation) -> Exchange:
        """Send the request, once, and return what came back."""


class Session(Protocol):
    """What a running probe may do: open exchanges, one tenant each."""

    target: TargetView
    rng: Random

    def open(self, part: Part, tenant: TenantView) -> Draft:
        """Return the draft of this trial's next exchange."""

    async def count_tokens(self, text: str, tenant: TenantView) -> int | None:
        """Return the target's own count of ``text`` without its template, if it counts."""


Planner = Callable[[TargetView, Any, Random], list[TrialPlan | Impossible]]
Runner = Callable[[TrialPlan, Session], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A plug: how to plan and run one shape. Probes ``at_limits`` spend the boundary budget.

    It is ``left_out_of`` some profiles, unless it is named. ``most_a_day`` says, by its
    parameters, after how many trials a day more would tell no more. ``localising`` are parameters
    with which it asks strata of no profile, for whoever wants to know where a fault begins.
    """

    name: str
    shape: str
    params: type[ProbeParams]
    plan: Planner
    run: Runner
    at_limits: bool = False
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    left_out_of: frozenset[str] = frozenset()
    most_a_day: Callable[[Any], float] | None = None
    localising: tuple[Mapping[str, Any], ...] = ()


def stratum(
    *,
    length: str = "short",
    concurrency: int = 1,
    cache: str = "cold",
    transport: str = "plain",
    tenants: str = "one",
) -> str:
    """Return the stratum id ``length/concurrency/cache/transport/tenants``, a metric label."""
    return f"{length}/c{concurrency}/{cache}/{transport}/{tenants}"


def tenant_in_turn(tenants: Sequence[TenantView], number: int) -> TenantView:
    """Return the tenant of a trial by its number, so that two ways in turn meet every tenant.

    Every second trial is streamed: with each tenant in turn, one of two would always be.
    """
    return tenants[(number + number // lcm(len(tenants), 2)) % len(tenants)]


def transport_of(*, stream: bool) -> str:
    """Return the transport axis of a stratum."""
    return "stream" if stream else "plain"


def estimate_tokens(characters: int, output_tokens: int) -> int:
    """Return a generous price of a short exchange: three characters a token, plus the output."""
    return characters // 3 + 24 + output_tokens
