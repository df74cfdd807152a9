"""The composition root: from a configuration to an installation that can ask and judge."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from random import Random

from prometheus_client import CollectorRegistry

from monitor.baselines import Baselines, held
from monitor.budget import Budget, Cap, StoredLedger, TokenPrice
from monitor.canaries import MarkerRegistry, Minter
from monitor.checks import CHECKS
from monitor.clock import Clock, new_id
from monitor.config import Config, resolve_secret
from monitor.configured import (
    choices_of,
    credentials_of,
    golden_prompts,
    live_target,
    node_rules,
    surveyor_of,
    token_price,
)
from monitor.findings import Findings, findings_in
from monitor.identifiers import Identifiers
from monitor.judge import Judge
from monitor.judging import judge_of
from monitor.live import LiveTarget
from monitor.measuring import Measuring
from monitor.nodewatch import NodeWatch, node_watch_over
from monitor.paging import policy_of, severities_of, severity_of
from monitor.passes import PassRunner
from monitor.pipeline import Pipeline
from monitor.planning import ProbeChoice, plan_pass
from monitor.probes import PROBES
from monitor.probes.base import BudgetKind
from monitor.prompts import GoldenPrompt
from monitor.scanning import Scanner, scanner_over
from monitor.scorers import scorer_of
from monitor.selftest import SelfTester
from monitor.sinks import (
    Blindness,
    BodySink,
    ClickHouseSink,
    HealthCollector,
    HoldingSink,
    LogSink,
    PrometheusSink,
    Sink,
    Stream,
    TelemetryCounter,
    sealer_of,
)
from monitor.store import Store, WriterLimits, open_store
from monitor.store.migrate import OnStatement, Standing
from monitor.store.store import located, standing_of
from monitor.store.targets import TargetBook
from monitor.streams import StreamSink
from monitor.telemetry import telemetry_sink
from monitor.watching import Watching, WatchingSink, watching_over


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A store that is open already and stays so, with the markers known to one installation."""

    store: Store
    registry: MarkerRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Everything that is open while Davylamp works. Close it to lose nothing."""

    config: Config
    clock: Clock
    store: Store
    registry: MarkerRegistry
    findings: Findings
    budget: Budget
    runner: PassRunner
    self_tester: SelfTester
    scanner: Scanner
    baselines: Baselines
    judge: Judge | None
    watching: Watching | None
    nodes: NodeWatch | None
    targets: Mapping[str, LiveTarget]
    metrics: CollectorRegistry
    counters: PrometheusSink
    resources: ExitStack

    def forget_expired(self) -> None:
        """Erase the text of expired markers, but what findings hold back; hashes stay.

        Evidence that is still to be held, or let go, is.
        """
        now = self.clock.now()
        self.store.markers.expire(now)
        self.registry.expire(now)
        self.store.holds.settle_soon()

    async def aclose(self) -> None:
        """Close engines, sinks and store; what was acknowledged is written first."""
        for target in self.targets.values():
            await target.engine.aclose()
        self.resources.close()


def open_installation(
    config: Config,
    clock: Clock,
    *,
    log_verdicts: bool = False,
    opened: Opened | None = None,
    first: Sequence[Sink] = (),
    sinks: Sequence[Sink] = (),
    watched: bool = False,
    nodes: bool = False,
) -> Installation:
    """Open the store and everything that works over it.

    ``log_verdicts`` writes a line for each verdict that is not good; a pass that ends in a report
    needs none. What is ``opened`` is used as it is and left open at the end; its configuration's
    ``storage`` must name the same store. ``first`` are told of every verdict first, ``sinks`` last.
    With ``watched`` streams are watched and nodes are there to be read; with ``nodes`` only these.
    Raises ``ConfigError`` for a missing credential, and what ``open_store`` raises.
    """
    golden = golden_prompts()
    targets = {t.name: live_target(config, t, golden, clock) for t in config.targets}
    with ExitStack() as resources:
        store, registry = _storage(config, opened, resources, clock)
        _hide_secrets(config, targets, store)
        findings = findings_in(store, clock.now())
        budget = _budget(config, store, clock)
        metrics, counters = _metrics(config, store, clock)
        scorer = resources.enter_context(closing(scorer_of(config)))
        self_tester = SelfTester(clock, scorer)
        watching = watching_over(config, targets, store, clock, metrics) if watched else None
        judge = judge_of(config, targets, budget, clock, counters, watching)
        metrics.register(_health(config, store, budget, findings, self_tester))
        others = [*_told_last(config, store, metrics, clock, log_verdicts), *sinks]
        told = _told(config, store, counters, first, others, resources, watching, findings)
        measuring = Measuring(scorer, judge)
        pipeline = _pipeline(clock, store, registry, golden, findings, told, measuring)
        return Installation(
            config=config,
            clock=clock,
            store=store,
            registry=registry,
            findings=findings,
            budget=budget,
            runner=_runner(clock, pipeline, budget, findings, counters),
            self_tester=self_tester,
            scanner=scanner_over(store, registry, findings, clock, scorer),
            baselines=held(targets, Baselines(config, golden, choices_of, store, counters)),
            judge=judge,
            watching=watching,
            nodes=_nodes(config, store, clock, metrics, pipeline) if watched or nodes else None,
            targets=targets,
            metrics=metrics,
            counters=counters,
            resources=resources.pop_all(),
        )


def _pipeline(
    clock: Clock,
    store: Store,
    registry: MarkerRegistry,
    golden: Mapping[str, GoldenPrompt],
    findings: Findings,
    sinks: Sequence[Sink],
    measuring: Measuring,
) -> Pipeline:
    return Pipeline(
        clock=clock,
        minter=Minter(store.key, registry),
        registry=registry,
        markers=store.markers,
        golden=golden,
        findings=findings,
        sinks=sinks,
        measuring=measuring,
    )


def _runner(
    clock: Clock, pipeline: Pipeline, budget: Budget, findings: Findings, counters: PrometheusSink
) -> PassRunner:
    return PassRunner(
        clock=clock,
        pipeline=pipeline,
        budget=budget,
        findings=findings,
        on_cost=counters.add_cost,
    )


def _nodes(
    config: Config, store: Store, clock: Clock, metrics: CollectorRegistry, pipeline: Pipeline
) -> NodeWatch | None:
    """Return what watches nodes, if there are any to watch."""
    if not config.served:
        return None
    surveyor = surveyor_of(config, config.served, node_rules(config), clock)
    return node_watch_over(config, surveyor, store.writer, clock, metrics, pipeline.file)


def _hide_secrets(config: Config, targets: Mapping[str, LiveTarget], store: Store) -> None:
    identifiers = Identifiers(store.hasher, credentials_of(config))
    for target in targets.values():
        target.identifiers = identifiers


def _told(
    config: Config,
    store: Store,
    counters: PrometheusSink,
    first: Sequence[Sink],
    others: Sequence[Sink],
    resources: ExitStack,
    watching: Watching | None,
    findings: Findings,
) -> list[Sink]:
    kept = ClickHouseSink(store.writer, store.hasher)
    bodies = _body_sink(config, store, counters)
    own: list[Sink] = [kept, counters, StreamSink(counters), *bodies]
    told = [*first, *own, HoldingSink(store.holds), *others]
    if watching is not None:
        told.append(WatchingSink(watching, findings, tuple(told)))
    for sink in told:
        resources.callback(sink.close)
    return told


def _body_sink(config: Config, store: Store, counters: PrometheusSink) -> list[Sink]:
    bodies, sealer = config.storage.bodies, sealer_of(config)
    if bodies is None or sealer is None:
        return []
    sink = BodySink(
        store.writer,
        sealer,
        only_not_good=bodies.keep == "not_good",
        secrets=credentials_of(config),
        process=new_id("process"),
        count=counters.count_bodies,
    )
    return [sink]


def _told_last(
    config: Config, store: Store, metrics: CollectorRegistry, clock: Clock, log_verdicts: bool
) -> list[Sink]:
    told: list[Sink] = []
    if log_verdicts:
        logger = logging.getLogger("monitor.verdicts")
        told.append(LogSink(logger, as_json=config.log.format == "json"))
    if (telemetry := config.settings.telemetry) is not None:
        count, process = TelemetryCounter(metrics, config.environment).count, new_id("process")
        told.append(telemetry_sink(config, telemetry, store.hasher, clock, process, count))
    return told


def _storage(
    config: Config, opened: Opened | None, resources: ExitStack, clock: Clock
) -> tuple[Store, MarkerRegistry]:
    known = None if opened is None else (opened.store, opened.registry)
    store, registry = known or opened_storage(config, resources)
    TargetBook(store.writer, store.reader, store.hasher).note(config.targets, clock.now())
    store.holds.settle_soon()
    return store, registry


def opened_storage(config: Config, resources: ExitStack) -> tuple[Store, MarkerRegistry]:
    """Open an installation's store and know its markers again; ``resources`` close it."""
    store = resources.enter_context(store_of(config))
    registry = MarkerRegistry(store.key)
    for entry in store.markers.load():
        registry.restore(entry)
    return store, registry


def store_of(config: Config, on_statement: OnStatement | None = None) -> Store:
    """Open the store a configuration names. Raises as ``open_store`` does.

    ``on_statement`` is told how far migrations have come.
    """
    storage, spool = config.storage, config.storage.spool
    limits = WriterLimits(max_bytes=spool.max_mb * 1_000_000, fsync=spool.fsync)
    return open_store(
        config.storage_path,
        storage.url,
        password=_password(config),
        cluster=storage.cluster,
        retention=storage.retention,
        limits=limits,
        on_statement=on_statement,
    )


def standing_of_store(config: Config) -> Standing:
    """Return what opening the store would change in it; changes nothing, and makes none.

    Raises as ``open_store`` does.
    """
    path, storage = config.storage_path, config.storage
    location = located(path, storage.url, password=_password(config), cluster=storage.cluster)
    return standing_of(path, location, storage.retention)


def _password(config: Config) -> str:
    password = config.storage.password
    return resolve_secret(password) if password else ""


def _metrics(
    config: Config, store: Store, clock: Clock
) -> tuple[CollectorRegistry, PrometheusSink]:
    """Return what /metrics shows and its sink, with what the last ladders verified."""
    metrics = CollectorRegistry()
    counters = PrometheusSink(metrics, config.environment)
    counters.set_started(clock.now())
    counters.set_config_hash(config.hash)
    known = {target.name for target in config.targets}
    for ladder in store.reader.last_ladders():
        if ladder.target in known:
            counters.set_verified(ladder.target, ladder.verified_tokens, ladder.started_at)
    return metrics, counters


def _budget(config: Config, store: Store, clock: Clock) -> Budget:
    caps: dict[tuple[str, str], Cap] = {}
    prices: dict[str, TokenPrice] = {}
    for target in config.targets:
        settings = config.for_target(target)
        for kind, cap in (
            (BudgetKind.ORDINARY, settings.daily),
            (BudgetKind.BOUNDARY, settings.boundary),
        ):
            caps[target.name, kind.value] = Cap(tokens=cap.tokens, usd=cap.usd)
        prices[target.name] = token_price(target)
    budget = Budget(caps, StoredLedger(store.writer, store.reader), clock, prices)
    budget.remaining()  # what was spent today is read while the database is known to answer
    return budget


def _health(
    config: Config, store: Store, budget: Budget, findings: Findings, self_tester: SelfTester
) -> HealthCollector:
    def blind() -> Blindness:
        last = self_tester.last
        if last is None:
            return Blindness()
        return Blindness(checks=frozenset(b.check for b in last.blind), tried_at=last.at)

    return HealthCollector(
        env=config.environment,
        targets=tuple(dict.fromkeys(each.name for each in (*config.targets, *config.served))),
        writer=store.writer.stats,
        budgets=budget.remaining,
        findings=findings.list_open,
        severity=severity_of,
        severities=severities_of,
        route=policy_of(config).route_of,
        checks=tuple(check.code for check in CHECKS),
        blind=blind,
        links=lambda: store.audit.count,
    )


def initialise_series(
    installation: Installation, live: LiveTarget, choices: Sequence[ProbeChoice]
) -> None:
    """Make the series of everything that will be probed, at 0, before anything happens."""
    plan = plan_pass(live.view, choices, rng=Random(0))
    show_streams(installation, live, {(trial.probe, trial.stratum) for trial in plan.trials})


def show_streams(
    installation: Installation, live: LiveTarget, strata: Collection[tuple[str, str]]
) -> None:
    """Make the series of these strata of these probes, and the limits that are stated."""
    streams = [
        Stream(
            target=live.view.name,
            model=live.view.model,
            probe=probe,
            shape=PROBES[probe].shape,
            stratum=stratum,
        )
        for probe, stratum in sorted(strata)
    ]
    installation.counters.initialise(streams, [check.code for check in CHECKS])
    for limit in live.view.limits:
        installation.counters.set_context(live.view.name, limit.source, limit.tokens)
