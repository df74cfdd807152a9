"""``davylamp config check`` and ``davylamp config show``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from monitor.config import Config, NodeTarget, Target
from monitor.config.proofs import config_warnings, impossible_proofs, node_warnings
from monitor.config.show import render_effective
from monitor.config.target import PriceList
from monitor.slo import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class DayEstimate:
    """Tokens a target's plan spends a day: if boundary prompts are refused, and if answered.

    ``output_tokens`` is the part of either that the target writes.
    """

    refused_tokens: int
    answered_tokens: int
    output_tokens: int = 0


Estimate = Callable[[Config, Target], DayEstimate | None]
"""Prices a day of a target; ``None`` where it cannot be known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a command says: text for stdout, an exit code, and the same as data for ``--json``."""

    text: str
    exit_code: int = 0
    data: Mapping[str, object] = field(default_factory=dict)


def config_check(
    config: Config,
    *,
    today: date,
    estimate: Estimate | None = None,
    objectives: Sources | None = None,
) -> Report:
    """Say that a loaded file is well, and what it cannot prove; a broken file never gets here.

    ``objectives`` are those of its own that were read.
    """
    targets = [_checked(config, target, today, estimate) for target in config.settings.targets]
    count = len(targets)
    lines = [f"OK {config.file}: {count} target{'' if count == 1 else 's'}, hash {config.hash}"]
    for checked in targets:
        lines += ["", *checked.lines()]
    if objectives is not None and (objectives.slos or objectives.production):
        lines += ["", _objective_words(config, objectives)]
    data = {
        "file": str(config.file),
        "hash": config.hash,
        "targets": [checked.data() for checked in targets],
        "objectives": [slo.name for slo in objectives.slos] if objectives is not None else [],
    }
    return Report(text="\n".join(lines) + "\n", data=data)


def _objective_words(config: Config, objectives: Sources) -> str:
    given = config.settings.slos
    place = f" of {given}" if isinstance(given, str) else ""
    words = [
        f"{len(found)} {what}{'' if len(found) == 1 else 's'}"
        for found, what in ((objectives.slos, "objective"), (objectives.production, "mapping"))
        if found
    ]
    return f"{', '.join(words)}{place}; `davylamp rules build` makes rules of them"


def config_show(config: Config) -> Report:
    """Print what is in force."""
    return Report(text=render_effective(config), data={"hash": config.hash})


def price_words(day: DayEstimate | None, price: PriceList | None) -> str:
    """Return one line on what a day costs, in tokens and, where a price is known, in dollars."""
    if day is None:
        return "not known before the plan is made: run `davylamp plan`"
    low, high = day.refused_tokens, day.answered_tokens
    tokens = f"{low:,} tokens" if low == high else f"{low:,} to {high:,} tokens"
    if price is None:
        return f"{tokens} (no price is configured)"
    cheap, dear = usd(low, day.output_tokens, price), usd(high, day.output_tokens, price)
    money = (
        f"${cheap:,.2f}" if f"{cheap:.2f}" == f"{dear:.2f}" else f"${cheap:,.2f} to ${dear:,.2f}"
    )
    return f"{tokens}, {money}"


def usd(tokens: int, output_tokens: int, price: PriceList) -> float:
    """Return dollars for ``tokens`` of which ``output_tokens`` are output."""
    given = max(tokens - output_tokens, 0) * price.input_usd_per_million
    return (given + min(output_tokens, tokens) * price.output_usd_per_million) / 1_000_000


def _checked(
    config: Config, target: Target | NodeTarget, today: date, estimate: Estimate | None
) -> _TargetCheck | _NodesCheck:
    if isinstance(target, NodeTarget):
        return _NodesCheck(target=target, warnings=node_warnings(target, today))
    return _TargetCheck.of(config, target, today, estimate)


def node_words(target: Target | NodeTarget) -> str:
    """Return how many nodes are listed, how many sources may give more, and what the gateway is."""
    words = [
        f"{count} {what}{'' if count == 1 else 's'}"
        for count, what in ((len(target.nodes), "node"), (len(target.node_sources), "source"))
        if count
    ]
    return ", ".join([*words, *([f"gateway {target.gateway.engine}"] if target.gateway else [])])


@dataclass(frozen=True, slots=True, kw_only=True)
class _NodesCheck:
    """A target that is read for its nodes only."""

    target: NodeTarget
    warnings: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        yield f"{self.target.name}  read for its nodes only, never asked"
        yield f"  nodes: {node_words(self.target)}; `davylamp nodes` reads them"
        for warning in self.warnings:
            yield f"  WARNING: {warning}"

    def data(self) -> Mapping[str, object]:
        return {
            "name": self.target.name,
            "tenants": [],
            "impossible": [],
            "warnings": list(self.warnings),
            "day_tokens": None,
            "nodes": len(self.target.nodes),
            "node_sources": len(self.target.node_sources),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _TargetCheck:
    target: Target
    day: DayEstimate | None
    caps: str
    impossible: tuple[str, ...]
    warnings: tuple[str, ...]

    @classmethod
    def of(
        cls, config: Config, target: Target, today: date, estimate: Estimate | None
    ) -> _TargetCheck:
        held = config.for_target(target)
        return cls(
            target=target,
            day=None if estimate is None else estimate(config, target),
            caps=f"{held.daily.tokens:,} tokens, at the limit {held.boundary.tokens:,}",
            impossible=impossible_proofs(target),
            warnings=config_warnings(target, today),
        )

    def lines(self) -> Iterator[str]:
        target = self.target
        yield f"{target.name}  {target.engine}  {target.model}  {target.base_url}"
        for tenant in target.tenants:
            key = "no key" if tenant.credential is None else f"key {tenant.credential}"
            yield f"  tenant {tenant.name}: {', '.join(tenant.roles)}; {key}"
        if words := node_words(target):
            yield f"  nodes: {words}; `davylamp nodes` reads them"
        yield f"  probes: {target.profile or _listed(target)}"
        yield f"  a day costs: {price_words(self.day, target.price)}"
        if self.day is not None and target.context_tokens is None:
            yield "    and what is asked at limits it states itself: `davylamp plan` reads them"
        yield f"  capped at: {self.caps}"
        for proof in self.impossible:
            yield f"  cannot be proven: {proof}"
        for warning in self.warnings:
            yield f"  WARNING: {warning}"

    def data(self) -> Mapping[str, object]:
        day = self.day
        return {
            "name": self.target.name,
            "tenants": [tenant.name for tenant in self.target.tenants],
            "impossible": list(self.impossible),
            "warnings": list(self.warnings),
            "day_tokens": None if day is None else [day.refused_tokens, day.answered_tokens],
            "nodes": len(self.target.nodes),
            "node_sources": len(self.target.node_sources),
        }


def _listed(target: Target) -> str:
    return ", ".join(
        f"{entry.name} (disabled)" if entry.disabled else entry.name for entry in target.entries
    )
