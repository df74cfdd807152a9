"""What a weekly report is made of, by a configuration: targets, plans, objectives, acceptances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from monitor.config import Config, Target
from monitor.config.acceptance import Acceptance
from monitor.config.target import AnyTarget
from monitor.configured import choices_of, golden_prompts, node_rules, target_view
from monitor.dayplan.plan import day_plan
from monitor.errors import UsageError
from monitor.probes import PROBES
from monitor.prompts import GoldenPrompt
from monitor.reports.drill import DrillReport
from monitor.slo import Objective, objectives_of, sources_folder, sources_of
from monitor.weekly.inputs import Accepted, Asked, Gap, KnownTarget, Place
from monitor.weekly.week import Week

_MOST_DRILL_BYTES = 64_000_000
_HUNDRED = 100


def asked_of(config: Config, week: Week, drill: Path | None = None) -> Asked:
    """Return what is to be reported of a week by a configuration.

    Raises ``ConfigError`` for objectives that cannot be read, ``UsageError`` for a drill that
    cannot.
    """
    golden = golden_prompts()
    return Asked(
        week=week,
        environment=config.environment,
        targets=tuple(_known(config, each, golden) for each in config.settings.targets),
        objectives=_objectives(config),
        accepted=tuple(_accepted(config.settings.targets)),
        drill=None if drill is None else read_drill(drill),
        faults_public={
            rule.id: rule.public for rule in node_rules(config).rules if rule.public is not None
        },
    )


def _known(config: Config, target: AnyTarget, golden: dict[str, GoldenPrompt]) -> KnownTarget:
    nodes, finds = tuple(each.name for each in target.nodes), bool(target.node_sources)
    unprobed = tuple(_unprobed(target))
    if not isinstance(target, Target):
        return KnownTarget(
            name=target.name,
            model="",
            asked=False,
            nodes=nodes,
            finds_nodes=finds,
            objective_ratio=1.0,
            planned=(),
            gaps=unprobed,
        )
    # By the configuration alone: what a target says of itself now was perhaps not so in that week.
    plan = day_plan(config, target, target_view(target, golden), choices_of(config, target))
    return KnownTarget(
        name=target.name,
        model=target.model,
        asked=True,
        nodes=nodes,
        finds_nodes=finds,
        objective_ratio=round(config.for_target(target).objective_percent / _HUNDRED, 9),
        planned=tuple(
            Place(probe=each.probe, shape=PROBES[each.probe].shape, stratum=each.stratum)
            for each in plan.strata
        ),
        gaps=(
            *(
                Gap(
                    probe=each.probe,
                    stratum=each.stratum,
                    code=each.code.value,
                    reason=each.reason,
                    tokens=each.price.answered_tokens if each.price is not None else None,
                )
                for each in plan.not_probed
            ),
            *unprobed,
        ),
    )


def _unprobed(target: AnyTarget) -> Iterator[Gap]:
    """Yield the models of a gateway that are known and wanted unprobed."""
    for model in target.gateway.unprobed if target.gateway is not None else ():
        reason = "a model that its gateway serves, configured as not to be asked"
        yield Gap(probe="", stratum=model, code="unprobed", reason=reason, tokens=None)


def _objectives(config: Config) -> tuple[Objective, ...]:
    given = config.settings.slos
    own = sources_of(config.file.parent / given).slos if isinstance(given, str) else given
    shipped = sources_of(sources_folder() / "slos").slos
    # How many are asked a day is for burn rates alone, which are not told here.
    return objectives_of((*shipped, *own), config.environment, lambda _: (0.0, ""))


def _accepted(targets: Iterable[AnyTarget]) -> Iterator[Accepted]:
    for target in targets:
        if isinstance(target, Target) and target.overflow.truncate is not None:
            yield _acceptance(target.name, "", "overflow: truncate", target.overflow.truncate)
        for node in target.nodes:
            for each in node.accepted:
                yield _acceptance(target.name, node.name, f"node rule {each.rule}", each)
        for source in target.node_sources:
            name = source.dns or source.file_sd or ""
            for each in source.accepted:
                yield _acceptance(target.name, name, f"node rule {each.rule}", each)


def _acceptance(target: str, node: str, deviation: str, given: Acceptance) -> Accepted:
    return Accepted(
        target=target,
        node=node,
        deviation=deviation,
        owner=given.owner,
        reason=given.reason,
        expires=given.expires,
    )


def read_drill(file: Path) -> DrillReport:
    """Return the result of a drill. Raises ``UsageError`` if the file holds none."""
    try:
        if file.stat().st_size > _MOST_DRILL_BYTES:
            raise UsageError(f"{file}: larger than the result of any drill")
        return DrillReport.model_validate_json(file.read_bytes())
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise UsageError(f"{file} cannot be read: {reason}") from None
    except (ValidationError, RecursionError):
        msg = f"{file} is not the result of a drill (davylamp drill --json FILE writes one)"
        raise UsageError(msg) from None
