"""``GET /probe?target=&module=``, as the blackbox exporter answers it; but nothing is probed.

Whoever scrapes decides neither what is asked nor how often: the answer is the last verdict. What
could not tell is never success.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from starlette.requests import Request
from starlette.responses import Response

from monitor.app import Installation
from monitor.conventions import endpoint as names
from monitor.conventions.metric import Metric
from monitor.daemon.pages import Pages, refused
from monitor.daemon.scheduler import ProbeSchedule
from monitor.daemon.standing import Standing, State

_TOLD = frozenset({State.GOOD, State.BAD})


class ProbePages(Pages):
    """The page of last verdicts, for whoever has the token."""

    def __init__(
        self,
        installation: Installation,
        schedule: ProbeSchedule,
        token: str,
        stopping: asyncio.Event,
    ) -> None:
        super().__init__(token, stopping)
        self._installation = installation
        self._schedule = schedule

    async def probe(self, request: Request) -> Response:
        """How a target stands by its last verdicts; with a ``module`` by those of one probe."""
        if not self.authorised(request):
            return refused(401, "a token is needed")
        for name in ("target", "module"):
            if len(request.query_params.getlist(name)) > 1:
                return refused(400, f"more than one {name}: ask for each by itself")
        target = request.query_params.get("target", "")
        module = request.query_params.get("module", "")
        known = [each.name for each in self._installation.config.targets]
        if not target:
            return refused(400, f"name a target: ?target=… (one of: {', '.join(known)})")
        if target not in known:
            return refused(404, f"no such target is configured (one of: {', '.join(known)})")
        standings = self._schedule.standings(target)
        if module:
            probes = [each.probe for each in standings]
            standings = tuple(each for each in standings if each.probe == module)
            if not standings:
                return refused(
                    404, f"no such module: a module is a probe of {target} ({', '.join(probes)})"
                )
        page = standing_page(standings, self._installation.clock.now(), asked_for=bool(module))
        return Response(page, media_type=CONTENT_TYPE_LATEST)


def standing_page(standings: Sequence[Standing], now: datetime, *, asked_for: bool) -> bytes:
    """Return how probes stand, as Prometheus reads it.

    One that the day's plan never asks is shown and does not count, unless it was ``asked_for``:
    that nobody looks is an alert of its own (``davylamp_not_probed``).
    """
    states = {each.probe: each.state(now) for each in standings}
    count = [state for state in states.values() if asked_for or state is not State.NOT_PROBED]
    registry = CollectorRegistry()
    # What is bad is known, whatever else could not be told.
    known = bool(count) and (State.BAD in count or _TOLD.issuperset(count))
    good = bool(count) and all(state is State.GOOD for state in count)
    _gauge(names.PROBE_SUCCESS, registry).set(good)
    _gauge(names.PROBE_KNOWN, registry).set(known)
    took = [each.last.seconds for each in standings if each.last and each.last.seconds is not None]
    if took:
        _gauge(names.PROBE_DURATION, registry).set(max(took))
    info, age = _gauge(names.PROBE_VERDICT_INFO, registry), None
    for each in standings:
        last = each.last
        stratum, label = (last.stratum, last.class_label) if last else ("", "none")
        info.labels(each.probe, stratum, states[each.probe].value, label).set(1)
        if last is not None:
            age = age or _gauge(names.PROBE_VERDICT_AGE, registry)
            age.labels(each.probe).set(max(0.0, (now - last.decided_at).total_seconds()))
    return generate_latest(registry)


def _gauge(metric: Metric, registry: CollectorRegistry) -> Gauge:
    return Gauge(metric.name, metric.help, metric.labels, registry=registry)
