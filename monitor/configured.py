"""From the configuration to what it says: probes, prices, and targets that can be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from monitor.budget import TokenPrice
from monitor.clock import Clock
from monitor.config import (
    Config,
    NodeTarget,
    Target,
    load_config,
    resolve_secret,
    validate_section,
)
from monitor.config.problems import near_miss
from monitor.config.secrets import quoted
from monitor.engines import ENGINES
from monitor.engines.base import Manner
from monitor.errors import ConfigError, UsageError
from monitor.history import JudgeSettings
from monitor.http import HttpClient, origin_of
from monitor.limits import configured_limits
from monitor.live import LiveTarget
from monitor.model import DEFAULT_TOLERANCE
from monitor.nodes.discovery import NodeFinder
from monitor.nodes.readers import NODE_ENGINES
from monitor.nodes.ruleset import RuleSet, load_rules
from monitor.nodes.survey import Surveyor
from monitor.planning import ProbeChoice, profile_choices
from monitor.probes import PROBES
from monitor.probes.base import Feature, TargetView, TenantView
from monitor.prompts import GoldenPrompt, load_suites, shipped_folder
from monitor.scorers import check_extras
from monitor.sinks import sealer_of


def read_config(path: str) -> Config:
    """Load the configuration with every plug name that exists, and check what plugs own in it."""
    config = load_config(path, engines=ENGINES, probes=PROBES, node_engines=NODE_ENGINES)
    for target in config.targets:
        choices_of(config, target)
        _check_engine_options(config, target)
    check_extras(config)
    sealer_of(config)
    if config.served:
        node_rules(config)
    return config


def node_rules(config: Config, *, strict: bool = False) -> RuleSet:
    """Return the rules that nodes are held to. Raises ``ConfigError`` for a wrong one.

    They are strict if either the configuration or ``strict`` says so.
    An acceptance of a rule that does not exist is wrong too: it accepts nothing.
    """
    shapes = frozenset(probe.shape for probe in PROBES.values())
    rules = load_rules(config.rules_path, strict=strict or config.nodes.strict, shapes=shapes)
    for target in config.served:
        for reached in (*target.nodes, *target.node_sources):
            for accepted in reached.accepted:
                if accepted.rule not in rules.ids:
                    place = accepted.place_of("rule")
                    raise ConfigError(
                        f"no rule {quoted(accepted.rule)}",
                        file=place.file,
                        line=place.line,
                        path=place.path,
                        remedy=near_miss(accepted.rule, rules.ids),
                    )
    return rules


def surveyor_of(
    config: Config, served: Sequence[Target | NodeTarget], rules: RuleSet, clock: Clock
) -> Surveyor:
    """Return what surveys nodes of these targets. Raises ``ConfigError`` for a missing token."""
    return Surveyor(
        NodeFinder.of(config, served, clock=clock, engines=NODE_ENGINES),
        config.nodes,
        rules,
        asked=[target.model for target in config.targets],
        clock=clock,
    )


def _check_engine_options(config: Config, target: Target) -> None:
    path = target.place_of("engine_options").path
    options = ENGINES[target.engine].options
    validate_section(options, target.engine_options, path, config.positions, config.file)


def choices_of(config: Config, target: Target) -> tuple[ProbeChoice, ...]:
    """Return the probes a target is configured with. Raises ``ConfigError`` for bad parameters."""
    if target.profile is not None:
        return profile_choices(target.profile)
    choices = []
    for place, entry in enumerate(target.entries):
        path = target.place_of("probes", place, "params").path
        params = validate_section(
            PROBES[entry.name].params, entry.params, path, config.positions, config.file
        )
        if not entry.disabled:
            choices.append(ProbeChoice(name=entry.name, params=params))
    return tuple(choices)


def selected(config: Config, names: tuple[str, ...]) -> tuple[Target, ...]:
    """Return the targets of these names, or all. Raises ``UsageError`` for an unknown one."""
    known = {target.name: target for target in config.targets}
    if not known:
        why = "every target is read for its nodes only" if config.served else "no target is there"
        msg = f"{config.file}: {why}, so none can be asked (add one under targets)"
        raise UsageError(msg)
    missing = sorted(set(names) - set(known))
    if missing:
        msg = f"no target {missing[0]!r} (use one of: {', '.join(known)})"
        raise UsageError(msg)
    return tuple(known[name] for name in names) if names else config.targets


def golden_prompts() -> dict[str, GoldenPrompt]:
    """Return the shipped golden prompts by name."""
    return {prompt.name: prompt for prompt in _shipped_prompts()}


@cache
def _shipped_prompts() -> tuple[GoldenPrompt, ...]:
    """Read what is shipped once a process: each answer of each prompt is tried against it."""
    return load_suites(shipped_folder())


def selected_served(config: Config, names: Sequence[str]) -> tuple[Target | NodeTarget, ...]:
    """Return the targets of these names whose nodes are read, or all of them.

    Raises ``UsageError`` for one that has none, and where there is none at all.
    """
    known = {target.name: target for target in config.served}
    if not known:
        msg = f"{config.file}: no nodes are configured (add some, or name them with --node URL)"
        raise UsageError(msg)
    missing = sorted(set(names) - set(known))
    if missing:
        msg = f"no nodes of a target {missing[0]!r} (use one of: {', '.join(known)})"
        raise UsageError(msg)
    return tuple(known[name] for name in dict.fromkeys(names)) if names else config.served


def live_target(
    config: Config, target: Target, golden: Mapping[str, GoldenPrompt], clock: Clock
) -> LiveTarget:
    """Return a target that can be asked. Raises ``ConfigError`` if a credential is missing.

    The configuration's engine options are taken to be checked.
    """
    settings = config.for_target(target)
    http = HttpClient(
        origins=frozenset({origin_of(target.base_url)}),
        clock=clock,
        fixed_headers={name: resolve_secret(ref) for name, ref in target.header_refs().items()},
    )
    engine = ENGINES[target.engine](
        base_url=target.base_url,
        model=target.model,
        http=http,
        options=target.engine_options,
        manner=Manner(
            effort=target.reasoning.effort if target.reasoning else None,
            tag_header=target.tags.header,
            tag_metadata=target.tags.metadata,
        ),
    )
    view = replace(
        target_view(target, golden),
        min_output_tokens=settings.min_output_tokens,
        truncation_accepted=target.overflow.accepts_truncation(today=clock.now().date()),
    )
    live = LiveTarget(
        view=view,
        engine=engine,
        credentials={
            tenant.name: resolve_secret(tenant.credential) if tenant.credential else None
            for tenant in target.tenants
        },
        timeout_seconds=settings.timeout_seconds,
        tolerance=DEFAULT_TOLERANCE,
        untagged_share=target.tags.untagged_share,
        judging=judge_settings(config, target),
    )
    live.hold_to(live.calibrated, settings.tolerance)
    return live


def credentials_of(config: Config) -> frozenset[str]:
    """Return every credential that goes to a target. Raises ``ConfigError`` if one is missing."""
    named = [
        *(tenant.credential for target in config.targets for tenant in target.tenants),
        *(ref for target in config.targets for ref in target.header_refs().values()),
    ]
    return frozenset(resolve_secret(ref) for ref in named if ref is not None)


def judge_settings(config: Config, target: Target) -> JudgeSettings:
    """Return what the configuration says about judging a target's answers."""
    pii, topic = config.settings.checks.pii, config.settings.checks.topic
    judging = JudgeSettings(
        sensitive_terms=target.sensitive_terms, allowed=pii.allow if pii else ()
    )
    return replace(judging, topic_level=topic.level) if topic else judging


def target_view(target: Target, golden: Mapping[str, GoldenPrompt]) -> TargetView:
    """Return what probes may know of a target by its configuration alone."""
    return TargetView(
        name=target.name,
        model=target.model,
        tenants=tuple(
            TenantView(name=t.name, isolation=t.isolation, donor=t.donor, victim=t.victim)
            for t in target.tenants
        ),
        limits=configured_limits(target),
        lacks=frozenset(Feature(name) for name in (*target.lacks, *ENGINES[target.engine].lacks)),
        gentle=target.gentle,
        golden=tuple(golden.values()),
    )


def token_price(target: Target) -> TokenPrice:
    """Return what a target charges, nothing where no price is configured."""
    if target.price is None:
        return TokenPrice()
    return TokenPrice(
        input_usd=target.price.input_usd_per_million,
        output_usd=target.price.output_usd_per_million,
    )
