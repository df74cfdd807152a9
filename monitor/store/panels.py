"""The questions that dashboards and reports put to the store, by name.

What looks far back reads sums by hour or by day, never single verdicts. Values are bound by the
server. Verdicts of answers that were judged again do not count, nor do answers that somebody
reported count as asked. Shares and their bounds are worked out by whoever asks, from the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from string import Template
from typing import Any

from monitor.store.client import Client, Row

# Of sketches: what they say is from 1 % too small to 3 % too large.
QUANTILES = (0.5, 0.95, 0.99)
_QUANTILES = "quantilesDDMerge(0.01, 0.5, 0.95, 0.99)"
_TARGETS = "(empty({targets:Array(String)}) OR target IN {targets:Array(String)})"
_SINCE, _UNTIL = "{from:DateTime64(3, 'UTC')}", "{until:DateTime64(3, 'UTC')}"


class Step(StrEnum):
    """How finely time is told."""

    HOUR = "hour"
    DAY = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One question: ``answers`` in words, and the statement that asks it.

    One that ``looks_back`` reads sums alone, so that a year of it is quick. The others read tables
    that stay small, or one trial.
    """

    name: str
    answers: str
    columns: tuple[str, ...]
    looks_back: bool
    text: str

    def statement(self, step: Step) -> str:
        """Return the SQL; its parameters are those of ``parameters``, or ``trial``."""
        every, start = ("hourly", "Hour") if step is Step.HOUR else ("daily", "Day")
        return Template(self.text).substitute(
            every=every,
            start=f"toStartOf{start}",
            since=_SINCE,
            until=_UNTIL,
            targets=_TARGETS,
            when=f"at >= toStartOf{start}({_SINCE}) AND at < {_UNTIL} AND {_TARGETS}",
            quantiles=_QUANTILES,
        )


def _panel(
    name: str, answers: str, columns: Sequence[str], text: str, *, looks_back: bool = True
) -> Panel:
    return Panel(
        name=name, answers=answers, columns=tuple(columns), looks_back=looks_back, text=text
    )


_ALL = (
    _panel(
        "verdict_classes",
        "How many verdicts came to which outcome and class, over time?",
        ("at", "target", "outcome", "class", "number"),
        "SELECT at, target, outcome, class, sum(number) AS number FROM verdicts_$every "
        "WHERE $when AND source != 'rescore' "
        "GROUP BY at, target, outcome, class ORDER BY at, target, outcome, class",
    ),
    _panel(
        "answers_good",
        "Of the scheduled exchanges that count, how many were good, over time? Valid are good and "
        "bad ones; errors and invalid ones say nothing of the answers.",
        ("at", "target", "good", "valid", "errors", "invalid"),
        "SELECT at, target, sumIf(number, outcome = 'good') AS good, "
        "sumIf(number, outcome IN ('good', 'bad')) AS valid, "
        "sumIf(number, outcome = 'error') AS errors, "
        "sumIf(number, outcome = 'invalid') AS invalid FROM exchange_verdicts_$every "
        "WHERE $when AND scheduled AND counted AND source != 'rescore' "
        "GROUP BY at, target ORDER BY at, target",
    ),
    _panel(
        "strata_good",
        "The same over the whole range for each probe and stratum, with how many failed hard and "
        "how many tolerably.",
        ("target", "probe", "stratum", "good", "valid", "hard", "tolerated", "errors", "invalid"),
        "SELECT target, probe, stratum, sumIf(number, outcome = 'good') AS good, "
        "sumIf(number, outcome IN ('good', 'bad')) AS valid, "
        "sumIf(number, hard AND outcome = 'bad') AS hard, "
        "sumIf(number, tolerated AND outcome = 'bad') AS tolerated, "
        "sumIf(number, outcome = 'error') AS errors, "
        "sumIf(number, outcome = 'invalid') AS invalid FROM exchange_verdicts_$every "
        "WHERE $when AND scheduled AND counted AND source != 'rescore' "
        "GROUP BY target, probe, stratum ORDER BY target, probe, stratum",
    ),
    _panel(
        "status_codes",
        "What did HTTP say of the exchanges, over time? Status 0 is none, a failure is why.",
        ("at", "target", "http_status", "failure", "number"),
        "SELECT at, target, http_status, failure, sum(number) AS number FROM exchanges_$every "
        "WHERE $when AND probe != 'traffic' "
        "GROUP BY at, target, http_status, failure ORDER BY at, target, http_status, failure",
    ),
    _panel(
        "latency",
        "How long did answers take, and their first tokens, in seconds: 50, 95 and 99 in a "
        "hundred, over time?",
        ("at", "target", "total_seconds", "first_token_seconds", "number"),
        "SELECT at, target, $quantiles(s.total_seconds) AS total_seconds, "
        "$quantiles(s.first_token_seconds) AS first_token_seconds, sum(s.number) AS number "
        "FROM exchanges_$every AS s WHERE $when AND failure = '' AND probe != 'traffic' "
        "GROUP BY at, target ORDER BY at, target",
    ),
    _panel(
        "tokens",
        "How many tokens did targets report, by probe, over time?",
        ("at", "target", "probe", "input_tokens", "output_tokens", "cached_tokens"),
        "SELECT at, target, probe, sum(s.input_tokens) AS input_tokens, "
        "sum(s.output_tokens) AS output_tokens, sum(s.cached_tokens) AS cached_tokens "
        "FROM exchanges_$every AS s WHERE $when AND probe != 'traffic' "
        "GROUP BY at, target, probe ORDER BY at, target, probe",
    ),
    _panel(
        "budget",
        "What did each budget spend a day, and how many of its reservations were never settled?",
        ("at", "target", "budget", "tokens", "usd", "settled", "open"),
        "SELECT at, target, budget, sum(s.settled_tokens) AS tokens, sum(s.settled_usd) AS usd, "
        "sum(s.settled) AS settled, sum(s.open) AS open FROM budget_daily AS s "
        "WHERE at >= toStartOfDay($since) AND at < $until AND $targets "
        "GROUP BY at, target, budget ORDER BY at, target, budget",
    ),
    _panel(
        "signals",
        "How often did each check fail, could not judge or did not apply, over time?",
        ("at", "target", "code", "status", "number"),
        "SELECT at, target, code, status, sum(number) AS number FROM signals_$every "
        "WHERE $when AND status != 'pass' AND source != 'rescore' "
        "GROUP BY at, target, code, status ORDER BY at, target, code, status",
    ),
    _panel(
        "noisiest_checks",
        "Which checks failed most often, in which way, and how often did they judge?",
        ("target", "code", "variant", "failed", "judged"),
        "SELECT target, code, variant, sum(number) AS failed, any(j.judged) AS judged "
        "FROM signals_$every INNER JOIN (SELECT target, code, "
        "sumIf(number, status IN ('pass', 'fail')) AS judged FROM signals_$every "
        "WHERE $when AND source != 'rescore' GROUP BY target, code) AS j "
        "USING (target, code) WHERE $when AND status = 'fail' AND source != 'rescore' "
        "GROUP BY target, code, variant ORDER BY failed DESC, target, code, variant LIMIT 50",
    ),
    _panel(
        "leaks_by_owner",
        "Whose text was seen in answers to others, how often, and with how much evidence?",
        ("target", "owner_target", "owner_tenant", "code", "variant", "number", "evidence_bits"),
        "SELECT target, owner_target, owner_tenant, code, variant, sum(s.number) AS number, "
        "max(s.evidence_bits) AS evidence_bits FROM signals_$every AS s "
        "WHERE $when AND code IN ('FOREIGN', 'CROSSED') AND status = 'fail' "
        "AND owner_tenant != '' AND source != 'rescore' "
        "GROUP BY target, owner_target, owner_tenant, code, variant "
        "ORDER BY number DESC, target, owner_target, owner_tenant, code, variant",
    ),
    _panel(
        "invalid_share",
        "How many verdicts could not be judged, of how many, over time?",
        ("at", "target", "invalid", "number"),
        "SELECT at, target, sumIf(s.number, outcome = 'invalid') AS invalid, "
        "sum(s.number) AS number FROM verdicts_$every AS s "
        "WHERE $when AND source != 'rescore' GROUP BY at, target ORDER BY at, target",
    ),
    _panel(
        "coverage",
        "When was each probe and stratum last looked at by the schedule, and how often?",
        ("target", "probe", "stratum", "last_at", "number"),
        "SELECT target, probe, stratum, max(s.last_at) AS last_at, sum(s.number) AS number "
        "FROM verdicts_$every AS s WHERE $when AND scheduled AND source = 'probe' "
        "GROUP BY target, probe, stratum ORDER BY target, probe, stratum",
    ),
    _panel(
        "findings",
        "How many findings were first seen when, of which class, and how do they stand?",
        ("at", "target", "class", "state", "number"),
        "SELECT $start(first_seen) AS at, target, class, state, count() AS number "
        "FROM findings FINAL WHERE first_seen >= $since AND first_seen < $until "
        "AND $targets GROUP BY at, target, class, state ORDER BY at, target, class, state",
        looks_back=False,
    ),
    _panel(
        "context_ladders",
        "Up to which size was each target verified to read its prompts whole, and what does it "
        "say of itself?",
        ("at", "target", "verified_tokens", "advertised_tokens", "enforced_tokens", "exit_code"),
        "SELECT started_at AS at, target, verified_tokens, advertised_tokens, enforced_tokens, "
        "exit_code FROM context_ladders FINAL WHERE started_at >= $since "
        "AND started_at < $until AND $targets ORDER BY at, target",
        looks_back=False,
    ),
    _panel(
        "trial_exchanges",
        "What were the exchanges of one trial, in numbers and codes?",
        (
            *("exchange", "part", "tenant", "started_at", "total_seconds", "first_token_seconds"),
            *("http_status", "failure", "finish_reason", "input_tokens", "output_tokens"),
            *("cached_tokens", "response_id", "request_id", "outcome", "class"),
        ),
        "SELECT exchange, part, tenant, started_at, total_seconds, first_token_seconds, "
        "http_status, failure, finish_reason, input_tokens, output_tokens, cached_tokens, "
        "response_id, request_id, j.outcome AS outcome, j.class AS class "
        "FROM (SELECT * FROM exchanges FINAL WHERE trial = {trial:String}) AS e "
        "LEFT JOIN (SELECT exchange, outcome, class FROM exchange_verdicts FINAL "
        "WHERE verdict IN (SELECT id FROM verdicts "
        "WHERE trial = {trial:String} AND source != 'rescore')) AS j "
        "USING (exchange) ORDER BY exchange",
        looks_back=False,
    ),
)
PANELS: Mapping[str, Panel] = {panel.name: panel for panel in _ALL}


def parameters(
    since: datetime, until: datetime, targets: Sequence[str] = (), trial: str = ""
) -> dict[str, Any]:
    """Return what a panel is asked with: a range, and targets, of which none means all."""
    return {
        "from": since.astimezone(UTC),
        "until": until.astimezone(UTC),
        "targets": list(targets),
        "trial": trial,
    }


def panel_rows(client: Client, name: str, step: Step, asked: Mapping[str, Any]) -> list[Row]:
    """Return a panel's rows, whose values are those of its ``columns``."""
    return client.query(PANELS[name].statement(step), asked)
