"""The pager of a daemon, made of its configuration. Nothing but a daemon opens one."""

from __future__ import annotations

import logging
from functools import partial

from prometheus_client import CollectorRegistry

from monitor.clock import Clock
from monitor.config import Config
from monitor.findings import Finding, Findings, from_row
from monitor.paging.brief import BriefReader
from monitor.paging.counting import PageCounters
from monitor.paging.evidence import RecentAnswers, evidence_in
from monitor.paging.outbox import open_outbox
from monitor.paging.pager import Pager, Told
from monitor.paging.policy import policy_of
from monitor.paging.receivers import receivers_of
from monitor.store import Store

log = logging.getLogger(__name__)


def open_pager(
    config: Config,
    store: Store,
    findings: Findings,
    recent: RecentAnswers,
    metrics: CollectorRegistry,
    clock: Clock,
) -> Pager | None:
    """Return the pager of an installation, told of its findings; none if it has no receiver.

    Raises ``ConfigError`` for a secret that is missing, ``StoreError`` if the outbox cannot be
    used.
    """
    receivers = receivers_of(config, clock)
    if not receivers:
        return None
    outbox = open_outbox(config.storage_path, clock.now())
    names = [receiver.name for receiver in receivers]
    counters = PageCounters(metrics, config.environment, names, outbox, clock)
    brief = BriefReader(store, clock)
    told = Told(
        config=config,
        policy=policy_of(config),
        findings=findings,
        closed=partial(_closed, brief),
        evidence=partial(evidence_in, brief, recent),
        ledger=store.writer,
        outbox=outbox,
        receivers=receivers,
    )
    pager = Pager(told, clock, counters.count)
    pager.start()
    findings.listen(pager.notice)
    log.info("telling of findings directly: %s", ", ".join(names))
    return pager


def _closed(store: BriefReader, finding_id: str) -> Finding | None:
    """Return a finding of before the start: what was put since then is known without the store."""
    row = store.ask(lambda reader: reader.finding(finding_id))
    return None if row is None else from_row(row)
