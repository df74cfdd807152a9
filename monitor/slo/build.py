"""Rule files: of the shipped objectives and alerts, or of a user's own objectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.slo.alert import Alert
from monitor.slo.answers import finding_alerts, objective_alerts, stream_alerts
from monitor.slo.burn_rate import burn_words
from monitor.slo.gpus import GPU_ALERTS
from monitor.slo.links import Links
from monitor.slo.nodes import NODE_SIGNALS, SIGHT_OF_NODES
from monitor.slo.objective import Objective, Sli
from monitor.slo.objective_rules import objective_group
from monitor.slo.probing import KEEPING_ALERTS, PROBING_ALERTS, SIGHT_ALERTS, SILENCE_ALERTS
from monitor.slo.production import Production, production_group
from monitor.slo.rules import Group, rule_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """Files by name, and what there is to say about the burn rates of each objective."""

    files: dict[str, str]
    words: tuple[str, ...]


def shipped_rules(
    objectives: Sequence[Objective], production: Sequence[Production], links: Links
) -> Built:
    """Return every rule that comes with Davylamp."""
    files = {
        "answers.rules.yml": rule_file(
            "What targets answer: alarms of detectors, open findings, objectives.",
            (
                _alerts("davylamp-streams", stream_alerts(), links),
                _alerts("davylamp-findings", finding_alerts(), links),
                _alerts("davylamp-objectives", objective_alerts(), links),
            ),
        ),
        "gpus.rules.yml": rule_file(
            "GPUs that are lost, memory that fails, and what nobody can read.",
            (_alerts("davylamp-gpus", GPU_ALERTS, links),),
        ),
        "nodes.rules.yml": rule_file(
            "What nodes show over time, and of which of them nothing is known.",
            (
                _alerts("davylamp-node-signals", NODE_SIGNALS, links),
                _alerts("davylamp-nodes", SIGHT_OF_NODES, links),
            ),
        ),
        "probing.rules.yml": rule_file(
            "Whether probing itself works: what nobody looks at is never green.",
            (
                _alerts("davylamp-probing", (*PROBING_ALERTS, *SILENCE_ALERTS), links),
                _alerts("davylamp-sight", SIGHT_ALERTS, links),
                _alerts("davylamp-keeping", KEEPING_ALERTS, links),
            ),
        ),
    }
    return _built(files, objectives, production, links, prefix="")


def own_rules(
    objectives: Sequence[Objective], production: Sequence[Production], links: Links
) -> Built:
    """Return the rules of a user's own objectives and mappings, under names of their own."""
    return _built({}, objectives, production, links, prefix="own-")


def _built(
    files: dict[str, str],
    objectives: Sequence[Objective],
    production: Sequence[Production],
    links: Links,
    *,
    prefix: str,
) -> Built:
    made = dict(files)
    if objectives:
        groups = tuple(objective_group(each, links) for each in objectives)
        purpose = "Objectives: how each stands, and how fast its budget burns."
        made[f"{prefix}slos.rules.yml"] = rule_file(purpose, groups)
    if production:
        groups = tuple(production_group(each) for each in production)
        purpose = "What the servers and gateways of production say themselves."
        made[f"{prefix}production.rules.yml"] = rule_file(purpose, groups)
    return Built(files=made, words=tuple(_words(objectives)))


def _words(objectives: Sequence[Objective]) -> list[str]:
    counted = [each for each in objectives if each.sli is not Sli.COVERAGE]
    return [words for each in counted for words in burn_words(each)]


def _alerts(name: str, alerts: Sequence[Alert], links: Links) -> Group:
    return Group(name=name, rules=tuple(alert.rule(links) for alert in alerts))
