"""The report of a pass, as a record, on a terminal and as JUnit."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET

from monitor.conventions import NotProbed as Code
from monitor.engines.scripted import ScriptedEngine, answered
from monitor.live import LiveTarget
from monitor.model import Response
from monitor.passes import Done, PassResult
from monitor.planning import NotProbed
from monitor.probes.base import Price
from monitor.reports.check import CheckReport, OpenFindingReport
from monitor.reports.junit import junit_xml
from monitor.reports.summary import BudgetState, Prices, TargetContext, summarise
from monitor.reports.terminal import printable, render
from tests.builders import NOW, Bench, a_trial, an_exchange
from tests.contract.test_probes import VIEW

ESCAPE = "\x1b[31mred\u202e\x07"


def done(bench: Bench, *exchanges: Any, **trial: Any) -> Done:
    return Done(trial=a_trial(*exchanges, **trial), verdict=bench.judge(*exchanges, **trial))


def a_live_target() -> LiveTarget:
    engine = ScriptedEngine(lambda _: answered(Response(text="never asked")))
    return LiveTarget(view=VIEW, engine=engine, credentials={}, timeout_seconds=5.0, tolerance=0.1)


def report(
    *items: Done,
    not_probed: tuple[NotProbed, ...] = (),
    live: LiveTarget | None = None,
    **context: Any,
) -> CheckReport:
    result = PassResult(
        target=live or a_live_target(),
        done=items,
        not_probed=not_probed,
        started_at=NOW,
        finished_at=NOW,
    )
    base: dict[str, Any] = {
        "engine": "sglang",
        "engine_version": None,
        "prices": Prices(input_usd_per_million=2.0, output_usd_per_million=8.0),
        "budget": BudgetState(ordinary=100, ordinary_left=90, boundary=200, boundary_left=200),
        "open_findings": (),
        "impossible": (),
        "notes": (),
        "require_coverage": False,
    }
    target = summarise(result, TargetContext(**(base | context)))
    return CheckReport(
        davylamp_version="0",
        checks_version="1",
        configuration_hash="abc",
        environment="test",
        profile="quick",
        started_at=datetime(2026, 11, 2, tzinfo=UTC),
        finished_at=datetime(2026, 11, 2, tzinfo=UTC),
        exit_code=target.exit_code,
        targets=[target],
    )


def leaking(bench: Bench) -> Done:
    nonce, donor = bench.mint("tenant-b"), bench.mint("tenant-a", trial="trial-0")
    exchange = an_exchange(nonce, f"{donor}", response={"response_id": ESCAPE}, nonce=nonce)
    cell = "pages/c1/cold/plain/pair"
    return done(bench, exchange, id="trial-leak", probe="tenant", stratum=cell)


GAP = NotProbed(
    probe="boundary",
    stratum="over-4096/c1",
    code=Code.BUDGET,
    reason="what is left of the boundary budget of the day cannot pay it",
    price=Price(refused_tokens=1000, answered_tokens=5000),
)


def test_a_leak_names_owner_victim_bits_status_and_request() -> None:
    [found, *_] = report(leaking(Bench())).targets[0].found
    assert found.verdict_class == "LEAK"
    assert (found.owner_tenant, found.tenant) == ("tenant-a", "tenant-b")
    assert found.evidence_bits is not None
    assert found.evidence_bits >= 30
    assert (found.http_status, found.request_id, found.trial) == (200, "req-0", "trial-leak")


def test_the_terminal_says_worst_first_what_was_not_probed_and_what_next() -> None:
    lines = render(report(leaking(Bench()), done(Bench(), an_exchange()), not_probed=(GAP,)))
    text = "\n".join(lines)
    assert lines[0].endswith("BAD")
    assert lines[-1] == "BAD (exit 1)"
    assert "text of tenant-a answered to tenant-b" in text
    assert "NOT PROBED  boundary over-4096/c1: what is left of the boundary budget" in text
    assert "price 1000 to 5000 tokens, 0.0100 USD" in text
    assert "davylamp explain trial-leak" in text
    assert text.index("LEAK") < text.index("UNSEEN")


def test_one_price_is_said_once() -> None:
    small = replace(GAP, price=Price(refused_tokens=600, answered_tokens=600))
    text = "\n".join(render(report(leaking(Bench()), not_probed=(small,))))
    assert "(price 600 tokens, 0.0012 USD)" in text


def test_what_comes_from_the_target_cannot_steer_the_terminal() -> None:
    item = done(Bench(), an_exchange())
    hostile = report(item, engine=ESCAPE, notes=(ESCAPE,))
    text = "\n".join(render(hostile))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\u001b" in text
    assert printable("Zoë 模型 5 %") == "Zoë 模型 5 %"


def test_an_open_leak_is_never_green_although_nothing_bad_was_sent() -> None:
    finding = OpenFindingReport(
        finding="F-1", verdict_class="LEAK", shape="tenant", stratum="s", first_seen=NOW, count=1
    )
    checked = report(done(Bench(), an_exchange()), open_findings=(finding,))
    assert checked.exit_code == 1
    assert "OPEN" in "\n".join(render(checked))


def test_the_same_fault_in_many_strata_is_said_with_a_few_of_them() -> None:
    items = [
        done(
            Bench(),
            an_exchange("hello", " ".join(map(str, range(900))), usage={"output_tokens": 0}),
            probe=f"p{number}",
        )
        for number in range(12)
    ]
    text = "\n".join(render(report(*items)))
    assert text.count("no output tokens counted for a text") == 1
    assert "(12 exchanges)" in text
    assert "in 7 more strata" in text


def test_a_confirmed_finding_says_so() -> None:
    finding = OpenFindingReport(
        finding="F-1",
        verdict_class="CONTRACT",
        shape="tenant",
        stratum="s",
        first_seen=NOW,
        count=1,
        confirmations=2,
        reproduced=1,
    )
    text = "\n".join(render(report(done(Bench(), an_exchange()), open_findings=(finding,))))
    assert "seen again in 1 of 2 confirmations" in text


def test_junit_fails_for_what_fails_the_check_and_skips_what_was_not_probed() -> None:
    bench = Bench()
    wrong = done(bench, an_exchange("code", "no", nonce=bench.mint("tenant-b")), probe="canary")
    good = [done(Bench(), an_exchange(), probe=f"p{i}") for i in range(12)]
    tolerated = ET.fromstring(junit_xml(report(wrong, *good, not_probed=(GAP,))))
    assert [case.get("name") for case in tolerated.iter("failure")] == []
    assert len(list(tolerated.iter("skipped"))) == 1
    leaked = ET.fromstring(junit_xml(report(leaking(bench))))
    assert [case.get("type") for case in leaked.iter("failure")] == ["LEAK"]


def test_the_json_reads_back_to_the_same_report() -> None:
    whole = report(leaking(Bench()), not_probed=(GAP,))
    assert CheckReport.model_validate_json(whole.model_dump_json(by_alias=True)) == whole


def test_money_is_said_where_a_price_is_known() -> None:
    target = report(done(Bench(), an_exchange(usage={"input_tokens": 10**6}))).targets[0]
    assert target.tokens.spent_usd is not None
    assert round(target.tokens.spent_usd, 2) == 2.0
    assert report(leaking(Bench()), prices=Prices()).targets[0].tokens.spent_usd is None
