"""``check``: one pass over the selected targets, and its report."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from random import Random

from monitor import __version__
from monitor.app import Installation, initialise_series
from monitor.checks import CHECKS_VERSION
from monitor.config import Config, NodeTarget, Target
from monitor.config.proofs import impossible_proofs
from monitor.configured import choices_of
from monitor.engines.base import Discovery
from monitor.errors import UsageError
from monitor.limits import merged_limits
from monitor.live import LiveTarget
from monitor.model import VerdictClass
from monitor.nodes.survey import Survey
from monitor.passes import Done, PassResult
from monitor.planning import (
    NotProbed,
    PassPlan,
    ProbeChoice,
    plan_pass,
    profile_choices,
    with_shapes,
)
from monitor.probes import PROBES
from monitor.probes.base import BudgetKind, TrialPlan
from monitor.reports.check import CheckReport, OpenFindingReport, TargetReport
from monitor.reports.checked_nodes import (
    checked_gateways,
    checked_nodes,
    named_shapes,
    nodes_exit,
    with_nodes,
)
from monitor.reports.summary import (
    UNSURE_EXIT,
    BudgetState,
    Prices,
    TargetContext,
    overall_exit,
    summarise,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What ``check`` is asked to do; ``limits_first`` asks at the context limits before all."""

    targets: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    profile: str | None = None
    require_coverage: bool = False
    limits_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a pass, for whoever shows progress."""

    target: str
    plan: TrialPlan
    result: Done | NotProbed
    done: int
    total: int

    @property
    def words(self) -> str:
        """What became of the trial, in a few words, never model text."""
        place = f"{self.plan.probe} {self.plan.stratum}"
        if not isinstance(self.result, Done):
            return f"{place}: not probed"
        verdict = self.result.verdict
        if verdict.verdict_class is VerdictClass.NONE:
            return f"{place}: {verdict.outcome.value}"
        return f"{place}: {verdict.outcome.value} {verdict.verdict_class.label}"


OnStep = Callable[[Step], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A target, what to ask it, and the shapes that rules of its nodes name, each with one."""

    target: Target
    choices: tuple[ProbeChoice, ...]
    selection: Selection
    shapes: Mapping[str, str]

    def why_not(self, shape: str) -> str | None:
        """Say why a shape that a rule names is left out all the same; ``None`` if it is not."""
        if self.selection.probes:
            return "because of --probe"
        disabled = (entry.name for entry in self.target.entries if entry.disabled)
        if self.selection.profile is None and shape in {PROBES[name].shape for name in disabled}:
            return "because its entry is disabled"
        return None


def selected_probes(
    installation: Installation, target: Target, selection: Selection
) -> tuple[ProbeChoice, ...]:
    """Return the probes to run on a target; never none (``UsageError``)."""
    chosen = _selected(installation, target, selection)
    if selection.limits_first:
        return tuple(sorted(chosen, key=lambda choice: not PROBES[choice.name].at_limits))
    return chosen


def _selected(
    installation: Installation, target: Target, selection: Selection
) -> tuple[ProbeChoice, ...]:
    if selection.profile is not None:
        return profile_choices(selection.profile, selection.probes)
    configured = choices_of(installation.config, target)
    if not selection.probes:
        chosen = configured
    else:
        own = {choice.name: choice for choice in configured}
        preset = {c.name: c for c in profile_choices("quick", selection.probes)}
        chosen = tuple(own.get(name, choice) for name, choice in preset.items())
    if not chosen:
        msg = f"target {target.name}: no probe is selected (all are disabled)"
        raise UsageError(msg)
    return chosen


async def run_check(
    installation: Installation, selection: Selection, on_step: OnStep
) -> CheckReport:
    """Run one pass over the selected targets, side by side, and return the report."""
    config = installation.config
    started_at = installation.clock.now()
    picked = _picked(config, selection.targets)
    targets = [target for target in picked if isinstance(target, Target)]
    choices = {t.name: selected_probes(installation, t, selection) for t in targets}
    survey = await _survey(installation, [target.name for target in picked])
    tested = await installation.self_tester.run(secrets.randbits(64))
    nodes = checked_nodes(survey, started_at.date(), installation.findings.list_open())
    gateways = checked_gateways(survey)
    asked = [
        _Asked(
            target=target,
            choices=choices[target.name],
            selection=selection,
            shapes=named_shapes(survey.of(target.name)),
        )
        for target in targets
    ]
    reports = await asyncio.gather(*(_check_target(installation, each, on_step) for each in asked))
    return CheckReport(
        davylamp_version=__version__,
        checks_version=CHECKS_VERSION,
        configuration_hash=config.hash,
        environment=config.environment,
        profile=selection.profile or "configured",
        started_at=started_at,
        finished_at=installation.clock.now(),
        # A check that is blind cannot say that all is well.
        exit_code=overall_exit(
            [
                *(report.exit_code for report in reports),
                nodes_exit(nodes, gateways),
                *([UNSURE_EXIT] if tested.blind else []),
            ]
        ),
        blind=[f"{each.check} {each.words}" for each in tested.blind],
        targets=[with_nodes(report, nodes, gateways) for report in reports],
        nodes=nodes,
        gateways=gateways,
    )


def _picked(config: Config, names: tuple[str, ...]) -> Sequence[Target | NodeTarget]:
    """Return the targets of these names, or all, those that are read for their nodes only too.

    Raises ``UsageError`` for an unknown one.
    """
    known = {target.name: target for target in config.settings.targets}
    missing = sorted(set(names) - set(known))
    if missing:
        msg = f"no target {missing[0]!r} (use one of: {', '.join(known)})"
        raise UsageError(msg)
    return [known[name] for name in dict.fromkeys(names)] if names else list(known.values())


async def _survey(installation: Installation, targets: Sequence[str]) -> Survey:
    """Return what the nodes of these targets are known to be, read now if nobody reads them.

    No tokens are spent. Beside the schedule of a daemon it is what that read last, unless that is
    too long ago.
    """
    watch = installation.nodes
    if watch is None:
        return Survey(verdicts=())
    return (await watch.recent()).survey.of(*targets)


async def _check_target(installation: Installation, asked: _Asked, on_step: OnStep) -> TargetReport:
    target = asked.target
    choices = with_shapes(asked.choices, [each for each in asked.shapes if not asked.why_not(each)])
    live, discovery = await ready(installation, target)
    rng = Random(secrets.randbits(64))
    plan = plan_pass(
        live.view, choices, rng=rng, frozen=installation.findings.frozen_shapes(target.name)
    )
    initialise_series(installation, live, choices)
    result = await _run(installation, live, plan, rng, on_step)
    context = _context(installation, target, discovery, asked.selection.require_coverage)
    return summarise(result, replace(context, notes=(*context.notes, *_named(asked))))


def _named(asked: _Asked) -> Iterator[str]:
    """Say which probes rules of its nodes name, and why one is not asked."""
    there = {PROBES[choice.name].shape for choice in asked.choices}
    for shape, rule in asked.shapes.items():
        if shape not in there:
            why = asked.why_not(shape)
            left = f"it is left out {why}" if why else "it is asked, too"
            yield f"rule {rule} of its nodes names the probe {shape}: {left}"


async def ready(installation: Installation, target: Target) -> tuple[LiveTarget, Discovery]:
    """Return the target with the limits it states today, and what it says of itself.

    The target's memory is shared with every other pass over it.
    """
    live = installation.targets[target.name]
    first = next(iter(live.credentials.values()), None)
    discovery = await live.engine.discover(credential=first)
    limits = merged_limits(live.view.limits, discovery, target.model)
    view = replace(live.view, limits=limits, engine=discovery.engine or "")
    return replace(live, view=view), discovery


async def _run(
    installation: Installation,
    live: LiveTarget,
    plan: PassPlan,
    rng: Random,
    on_step: OnStep,
) -> PassResult:
    done = 0

    def progress(target: LiveTarget, trial: TrialPlan, step: Done | NotProbed) -> None:
        nonlocal done
        done += 1
        on_step(
            Step(
                target=target.view.name, plan=trial, result=step, done=done, total=len(plan.trials)
            )
        )

    return await installation.runner.run(live, plan, rng=rng, progress=progress)


def _context(
    installation: Installation, target: Target, discovery: Discovery, require_coverage: bool
) -> TargetContext:
    price = target.price
    return TargetContext(
        engine=discovery.engine or target.engine,
        engine_version=discovery.version,
        prices=Prices(
            input_usd_per_million=price.input_usd_per_million if price else None,
            output_usd_per_million=price.output_usd_per_million if price else None,
        ),
        budget=_budget_state(installation, target),
        open_findings=_open_findings(installation, target),
        impossible=impossible_proofs(target),
        notes=(
            *discovery.notes,
            *_expired_acceptance(target, installation.clock.now().date()),
        ),
        require_coverage=require_coverage,
    )


def _expired_acceptance(target: Target, today: date) -> tuple[str, ...]:
    """Say if an accepted deviation of the target is past its day."""
    truncate = target.overflow.truncate
    if truncate is None or not target.overflow.expired(today):
        return ()
    return (f"the accepted truncation expired on {truncate.expires}; owner {truncate.owner}",)


def _budget_state(installation: Installation, target: Target) -> BudgetState:
    caps = installation.config.for_target(target)
    left = {
        remaining.kind: remaining.tokens
        for remaining in installation.budget.remaining()
        if remaining.target == target.name
    }
    return BudgetState(
        ordinary=caps.daily.tokens,
        ordinary_left=left[BudgetKind.ORDINARY.value],
        boundary=caps.boundary.tokens,
        boundary_left=left[BudgetKind.BOUNDARY.value],
    )


def _open_findings(installation: Installation, target: Target) -> tuple[OpenFindingReport, ...]:
    return tuple(
        OpenFindingReport(
            finding=finding.id,
            verdict_class=finding.verdict_class.label,
            shape=finding.shape,
            stratum=finding.stratum,
            first_seen=finding.first_seen,
            count=finding.count,
            confirmations=finding.confirmations,
            reproduced=finding.reproduced,
        )
        for finding in installation.findings.list_open(target.name)
    )
