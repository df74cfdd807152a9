"""What a page says, in plain words first: the same for every receiver.

It holds codes, counts, times and names; never a prompt, an answer, or what a person wrote about a
finding. What a target may choose freely is cleaned and bounded here once more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from monitor.config import Config
from monitor.conventions.pages import Severity, words_of
from monitor.findings import Finding
from monitor.paging.evidence import Evidence
from monitor.paging.policy import severity_of

MAX_SUMMARY = 1024
MAX_KEY = 255
MAX_NAME = 128
MAX_COMMAND = 640
MAX_STRATA = 16
_NOT_SHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_PLACEHOLDER = re.compile(r"\{([a-z]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A finding as a page tells of it. Every text is bounded and printable."""

    dedup_key: str
    finding: str
    environment: str
    target: str
    model: str
    verdict_class: str
    severity: Severity
    summary: str
    shape: str
    strata: tuple[str, ...]
    further_strata: int
    lengths: tuple[str, ...]
    since: datetime
    last_seen: datetime
    verdicts: int
    confirmations: int
    reproduced: int
    out_of_rotation_at: datetime | None
    back_in_rotation_at: datetime | None
    evidence: Evidence
    drain: str
    look: str
    links: tuple[tuple[str, str], ...]


def dedup_key(environment: str, target: str, finding_id: str) -> str:
    """Return the key under which every receiver knows the incident of a finding."""
    return f"davylamp/v1/{environment}/{target}/{finding_id}"[:MAX_KEY]


def message_of(finding: Finding, evidence: Evidence, config: Config) -> Message:
    """Return what there is to say of a finding as it stands."""
    every = (finding.stratum, *finding.children)
    strata = tuple(clean(each, MAX_NAME) for each in every if each)[:MAX_STRATA]
    known = config.target(finding.target)
    model = clean(known.model, MAX_NAME) if known is not None else ""
    environment, target = clean(config.environment, MAX_NAME), clean(finding.target, MAX_NAME)
    severity = severity_of(finding)
    lengths = tuple(dict.fromkeys(each.partition("/")[0] for each in strata))
    drain = _drain(finding, config, model)
    look = f"davylamp findings show {clean(finding.id, MAX_NAME)}"
    pieces = [
        f"{words_of(finding.verdict_class, urgent=finding.urgent)}: {finding.verdict_class.label}",
        f"{target} in {environment}",
        f"since {finding.first_seen.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        "1 verdict" if finding.count == 1 else f"{finding.count} verdicts",
        *_listed("lengths", lengths),
        *_listed("routes", evidence.routes),
        *_listed("HTTP said", evidence.http_words()),
        *_to_drain(finding, drain),
        f"look: {look}",
    ]
    return Message(
        dedup_key=dedup_key(environment, target, finding.id),
        finding=clean(finding.id, MAX_NAME),
        environment=environment,
        target=target,
        model=model,
        verdict_class=finding.verdict_class.label,
        severity=severity,
        summary=joined(pieces),
        shape=clean(finding.shape, MAX_NAME),
        strata=strata,
        further_strata=len(every) - len(strata) if finding.stratum else 0,
        lengths=lengths,
        since=finding.first_seen,
        last_seen=finding.last_seen,
        verdicts=finding.count,
        confirmations=finding.confirmations,
        reproduced=finding.reproduced,
        out_of_rotation_at=finding.out_of_rotation_at,
        back_in_rotation_at=finding.back_in_rotation_at,
        evidence=evidence,
        drain=drain,
        look=look,
        links=tuple(_links(finding, config)),
    )


def joined(pieces: Iterable[str]) -> str:
    """Return the pieces as one line; one that has no room is left out whole, never cut in half.

    Only the first may be cut: it says what is wrong.
    """
    line = ""
    for piece in pieces:
        if not line:
            line = clean(piece, MAX_SUMMARY)
        elif len(line) + len(piece) + 2 <= MAX_SUMMARY:
            line = f"{line}; {clean(piece, MAX_SUMMARY)}"
    return line


def clean(text: str, most: int) -> str:
    """Return text on one line without what steers a terminal, and at most so many characters."""
    shown = "".join("?" if unicodedata.category(c) in _NOT_SHOWN else c for c in text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def _listed(what: str, values: Iterable[str]) -> list[str]:
    found = tuple(values)
    return [f"{what} {', '.join(found)}"] if found else []


def _to_drain(finding: Finding, drain: str) -> list[str]:
    """Return how to drain the target, or since when it is out of rotation: then nobody has to."""
    out = finding.out_of_rotation_at
    if out is not None and finding.is_out_of_rotation:
        return [f"out of rotation since {out.astimezone(UTC):%Y-%m-%d %H:%M} UTC"]
    return [f"drain: {drain}"] if drain else []


def _drain(finding: Finding, config: Config, model: str) -> str:
    command = config.settings.pages.drain_command(finding.target)
    if command is None:
        return ""
    values = {
        "environment": config.environment,
        "finding": finding.id,
        "model": model,
        "target": finding.target,
    }
    filled = _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), command)
    return clean(filled, MAX_COMMAND)


def _links(finding: Finding, config: Config) -> Iterable[tuple[str, str]]:
    links = config.settings.pages.links
    if links.findings is not None:
        yield "finding", f"{links.findings}/{finding.id}"
    if links.dashboard is not None:
        chosen = {"var-env": config.environment, "var-target": finding.target}
        yield "dashboard", f"{links.dashboard}?{urlencode(chosen)}"
    if links.runbooks is not None:
        yield "runbook", f"{links.runbooks}/{finding.verdict_class.label.lower()}"
