"""The weekly report of four weeks with two incidents: its figures are those of exported Parquet."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from monitor.app import store_of
from monitor.canaries import InstallationKey
from monitor.certificate.keys import Signer
from monitor.cli.reading import open_reading
from monitor.config import Config
from monitor.errors import UsageError
from monitor.nodes.ruleset import load_rules
from monitor.slo.objective import Sli
from monitor.store.exporting import Form, Wanted, Workshop, export
from monitor.store.store import KEY_FILE
from monitor.store.streaming import tables_of
from monitor.store.week_reader import WeekReader
from monitor.weekly.asking import asked_of
from monitor.weekly.building import Built, build
from monitor.weekly.files import Format
from monitor.weekly.html import MOST_BYTES
from monitor.weekly.objectives import objectives_of
from monitor.weekly.verifying import verify
from monitor.weekly.week import Week
from tests.integration.processes import davylamp
from tests.integration.weekly_figures import (
    Exported,
    always_bounds,
    by,
    exact_upper,
    read_json,
    settled,
    signals_of,
)
from tests.integration.weekly_history import (
    DECAY_AT,
    DECAYING,
    LEAK_AT,
    LEAKING,
    MUTE,
    NODE,
    RULE,
    WEEKS,
    WHO,
    labs,
    write_history,
)

EMPTY = WEEKS[0].earlier(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A history, its store as Parquet, and the reports of it, some of them built twice."""

    config: Config
    exported: Exported
    planted: frozenset[str]
    reports: dict[Week, Path]
    again: dict[Week, Path]
    built: dict[Week, Built]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("history")
    with labs() as places:
        config = write_history(folder, places)
    tables = folder / "parquet"
    tables.mkdir()
    first, second = folder / "reports", folder / "again"
    first.mkdir()
    second.mkdir()
    key = InstallationKey.load_or_create(config.storage_path / KEY_FILE)
    built = {}
    with store_of(config) as store:
        seen = store.markers.unsealed(store.reader.evidence_markers())
        planted = frozenset(each.marker.text for each in seen)
    with open_reading(config) as reading:
        workshop = Workshop(folder=folder, open_engine=reading.engine)
        for table in tables_of(reading.client):
            with (tables / f"{table}.parquet").open("wb") as file:
                wanted = Wanted(table=table, form=Form.PARQUET)
                export(reading.client, wanted, file, workshop, lambda *_: None)
        reader = WeekReader(reading.client)
        for week in WEEKS:
            asked = asked_of(config, week)
            built[week] = build(reader, asked, list(Format), first / week.label, key)
            build(reader, asked, list(Format), second / week.label, key)
    return Told(
        config=config,
        exported=Exported(tables),
        planted=planted,
        reports={week: first / week.label for week in WEEKS},
        again={week: second / week.label for week in WEEKS},
        built=built,
    )


@pytest.fixture(params=range(len(WEEKS)), ids=["first", "leaking", "decaying", "last"])
def week(request: pytest.FixtureRequest) -> Week:
    number: int = request.param
    return WEEKS[number]


def test_outcomes_are_those_of_the_exchanges(told: Told, week: Week) -> None:
    counted = told.exported.outcomes(week.since, week.until, lambda row: row["target"])
    rows = by(read_json(told.reports[week])["targets"], "target")
    assert set(rows) == {(LEAKING,), (DECAYING,), (MUTE,)}
    for (target,), row in rows.items():
        good, bad = counted[target]["good"], counted[target]["bad"]
        low, high = always_bounds(bad, good + bad)
        assert (row["good"], row["bad"]) == (good, bad)
        assert (row["errors"], row["invalid"]) == (
            counted[target]["error"],
            counted[target]["invalid"],
        )
        assert row["bad_at_least"] == pytest.approx(low, abs=1e-9)
        assert row["bad_at_most"] == pytest.approx(high, abs=1e-9)
        assert row["bad_ratio"] == (None if target == MUTE else bad / (good + bad))


def test_days_and_weeks_add_up_to_the_same(told: Told, week: Week) -> None:
    said = read_json(told.reports[week])
    counted = told.exported.outcomes(
        week.since, week.until, lambda row: (row["target"], row["decided_at"].date().isoformat())
    )
    assert len(said["days"]) == 3 * 7
    for row in said["days"]:
        outcomes = counted[row["target"], row["day"]]
        assert [row["good"], row["bad"]] == [outcomes["good"], outcomes["bad"]]
    for back in range(5):
        then = week.earlier(back)
        weekly = told.exported.outcomes(then.since, then.until, lambda row: row["target"])
        for target in (LEAKING, DECAYING, MUTE):
            row = by(said["trend"], "target", "week")[target, then.label]
            assert (row["good"], row["bad"]) == (weekly[target]["good"], weekly[target]["bad"])


def test_cells_and_strata_have_exact_bounds(told: Told, week: Week) -> None:
    said = read_json(told.reports[week])
    strata = told.exported.outcomes(
        week.since, week.until, lambda row: (row["target"], row["probe"], row["stratum"])
    )
    rows = by(said["strata"], "target", "probe", "stratum")
    assert set(strata) <= set(rows)
    cells: dict[tuple[str, ...], Counter[str]] = {}
    in_part: set[tuple[str, ...]] = set()
    for key, row in rows.items():
        bad, good = strata[key]["bad"], strata[key]["good"]
        assert (row["good"], row["bad"]) == (good, bad)
        assert row["bad_at_most"] == pytest.approx(exact_upper(bad, good + bad), abs=1e-9)
        length, concurrency = row["stratum"].split("/")[:2]
        of = cells.setdefault((row["target"], row["shape"], length, concurrency), Counter())
        of.update(strata[key])
        if row["planned"] and not bad + good:
            in_part.add((row["target"], row["shape"], length, concurrency))
    for cell, row in by(said["coverage"], "target", "shape", "length", "concurrency").items():
        outcomes = cells.pop(cell, None)
        expected = "not_planned" if outcomes is None else _state(outcomes, cell in in_part)
        assert row["state"] == expected, cell
        good, bad = (outcomes or Counter())["good"], (outcomes or Counter())["bad"]
        assert row["bad_at_most"] == pytest.approx(exact_upper(bad, good + bad), abs=1e-9)
    assert not cells, "every stratum is in a cell"


def _state(outcomes: Counter[str], in_part: bool) -> str:
    valid = outcomes["good"] + outcomes["bad"]
    if outcomes["bad"]:
        return "failing"
    if not outcomes.total():
        return "never_probed"
    if not valid:
        return "not_answered"
    enough = valid >= 29 and valid >= outcomes.total() / 2
    return "partly" if in_part else "clean" if enough else "few"


def test_objectives_count_their_own_window(told: Told, week: Week) -> None:
    rows = by(read_json(told.reports[week])["objectives"], "target", "probe", "objective")
    for days, name, room in ((7, "answers", 0.1), (30, "semantic", 0.001)):
        since = week.until - timedelta(days=days)
        counted = told.exported.outcomes(since, week.until, lambda row: row["target"])
        for target in (LEAKING, DECAYING, MUTE):
            row = rows[target, "", name]
            bad, valid = counted[target]["bad"], counted[target]["bad"] + counted[target]["good"]
            low, high = always_bounds(bad, valid)
            assert (row["bad"], row["valid"]) == (bad, valid), (target, name)
            assert row["attained_at_least"] == pytest.approx(1 - high, abs=1e-9)
            assert row["attained_at_most"] == pytest.approx(1 - low, abs=1e-9)
            assert row["budget_left_low"] == pytest.approx(1 - high / room, rel=1e-6)
            enough = valid >= row["least_valid"]
            known = 1 - bad / valid if enough else None
            assert row["attained_ratio"] == pytest.approx(known) if enough else True
            assert (row["attained_ratio"] is None) is not enough
            expected = "missed" if low > room else "met" if enough and high <= room else None
            assert expected is None or row["attainment"] == expected
            assert enough or row["attainment"] in {"missed", "unknown"}


def test_times_of_answers_are_counted_as_they_were_kept(told: Told, week: Week) -> None:
    rows = by(read_json(told.reports[week])["objectives"], "target", "probe", "objective")
    since = week.until - timedelta(days=30)
    for name, within in (("latency", 60.0), ("first-token", 30.0)):
        first_token = name == "first-token"
        for target in (LEAKING, DECAYING):
            times = told.exported.seconds(target, since, week.until, first_token=first_token)
            assert times, "both are asked and streamed every week"
            row = rows[target, "", name]
            slow, n = sum(each > within for each in times), len(times)
            low, high = always_bounds(slow, n)
            assert (row["bad"], row["valid"], row["asked"]) == (slow, n, n)
            assert row["attained_at_least"] == pytest.approx(1 - high, abs=1e-9)
            assert row["budget_left_low"] == pytest.approx(1 - high / 0.05, rel=1e-6)
            assert row["budget_left_high"] == pytest.approx(1 - low / 0.05, rel=1e-6)
        assert rows[MUTE, "", name]["attainment"] == "unknown"


@pytest.mark.parametrize("first_token", [False, True], ids=["latency", "first_token"])
def test_slow_answers_are_those_beyond_any_bound(told: Told, week: Week, first_token: bool) -> None:
    asked = asked_of(told.config, week)
    sli = Sli.FIRST_TOKEN if first_token else Sli.LATENCY
    [shipped] = [each for each in asked.objectives if each.sli is sli]
    since = week.until - timedelta(days=30)
    for target in (LEAKING, DECAYING):
        times = sorted(told.exported.seconds(target, since, week.until, first_token=first_token))
        # A bound that is one of the times: what takes just as long is quick enough.
        within = times[len(times) // 2]
        own = replace(shipped, target=target, within_seconds=within)
        with open_reading(told.config) as reading:
            [row], _ = objectives_of(WeekReader(reading.client), replace(asked, objectives=(own,)))
        assert (row.bad, row.valid) == (sum(each > within for each in times), len(times))
        assert 0 < row.bad < row.valid


def test_sizes_are_covered_that_were_judged_in_the_week(told: Told, week: Week) -> None:
    judged: dict[str, set[str]] = {LEAKING: set(), DECAYING: set(), MUTE: set()}
    for verdict in told.exported.rows("verdicts", "decided_at", week.since, week.until):
        if verdict["source"] == "probe" and verdict["outcome"] in {"good", "bad"}:
            judged[verdict["target"]].add(verdict["stratum"].split("/")[0])
    said = read_json(told.reports[week])
    rows = by(said["objectives"], "target", "probe", "objective")
    for target, looked in judged.items():
        planned = {
            row["stratum"].split("/")[0]
            for row in said["strata"]
            if row["target"] == target and row["planned"]
        }
        left_out = {
            row["where"].split(" ")[1].split("/")[0]
            for row in said["not_looked_at"]
            if row["target"] == target and row["what"].startswith("stratum (")
        }
        sizes = planned | left_out | looked
        row = rows[target, "", "coverage"]
        assert (row["bad"], row["valid"]) == (len(sizes - looked), len(sizes))
        share = len(looked) / len(sizes)
        assert row["attained_ratio"] == pytest.approx(share)
        assert row["attained_at_least"] == row["attained_at_most"] == row["attained_ratio"]
        assert row["attainment"] == ("met" if share >= 0.95 else "missed")
        assert _instant(row["since"]) == week.since


def test_readings_of_nodes_are_counted_over_their_window(told: Told, week: Week) -> None:
    since = week.until - timedelta(days=30)
    states = Counter(
        row["conformity"] for row in told.exported.rows("node_snapshots", "at", since, week.until)
    )
    row = by(read_json(told.reports[week])["objectives"], "target", "objective")[LEAKING, "nodes"]
    assert (row["bad"], row["valid"]) == (states["fail"], states["fail"] + states["pass"])
    low, _ = always_bounds(states["fail"], row["valid"])
    assert row["attained_at_most"] == pytest.approx(1 - low, abs=1e-9)


def test_bad_verdicts_in_no_finding_are_counted(told: Told, week: Week) -> None:
    """Mistakes of scheduled trials are in the rates; whatever else is bad is in a finding."""
    expected: Counter[tuple[str, str]] = Counter()
    for verdict in told.exported.rows("verdicts", "decided_at", week.since, week.until):
        loose = verdict["outcome"] == "bad" and not verdict["finding"]
        if loose and not (verdict["class"] == "WRONG" and verdict["scheduled"]):
            expected[verdict["target"], verdict["class"]] += 1
    found: Counter[tuple[str, str]] = Counter()
    for row in read_json(told.reports[week])["without_finding"]:
        found[row["target"], row["verdict_class"]] += row["verdicts"]
    assert found == expected


def test_findings_are_told_as_they_stood(told: Told, week: Week) -> None:
    until, far = week.until, datetime(2000, 1, 1, tzinfo=UTC)
    versions: dict[str, list[Any]] = {}
    for change in told.exported.rows("finding_changes", "changed_at", far, until):
        versions.setdefault(change["finding"], []).append(change)
    first = by(told.exported.rows("findings", "first_seen", far, until), "id")
    expected = {}
    for finding, changes in versions.items():
        changes.sort(key=lambda change: change["version"])
        last = changes[-1]
        is_open = last["state"] in {"needs_review", "confirmed"}
        closed = None
        if not is_open:
            ended = [c for c in changes if c["state"] not in {"needs_review", "confirmed"}]
            closed = ended[0]["changed_at"]
        if closed is None or closed >= week.since:
            seen = first[finding,]["first_seen"]
            expected[finding] = (last["class"], last["state"], last["count"], seen, closed)
    rows = by(read_json(told.reports[week])["findings"], "finding")
    assert {
        finding: (
            row["finding_class"],
            row["state"],
            row["verdicts"],
            _instant(row["onset_at"]),
            _instant(row["closed_at"]),
        )
        for (finding,), row in rows.items()
    } == expected


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def test_the_leak_is_told_with_its_page_and_who_resolved_it(told: Told) -> None:
    said = read_json(told.reports[WEEKS[1]])
    leaks = [row for row in said["findings"] if row["finding_class"] == "LEAK"]
    assert leaks
    for row in leaks:
        assert row["target"] == LEAKING
        assert _instant(row["onset_at"]) >= LEAK_AT
        assert row["seconds_to_page"] == 7.0
        assert row["page_route"] == "pagerduty"
        assert _instant(row["acknowledged_at"]) - _instant(row["onset_at"]) == timedelta(minutes=6)
        assert (row["state"], row["closed_by"]) == ("resolved", WHO)
        assert row["out_of_rotation_at"] is None
    assert by(said["targets"], "target")[LEAKING,]["judgement"] == "bad"
    assert not read_json(told.reports[WEEKS[2]])["leaks"]


def test_leaks_name_owner_and_victim_and_no_text(told: Told) -> None:
    week = WEEKS[1]
    verdicts = by(told.exported.rows("verdicts", "decided_at", week.since, week.until), "id")
    exchanges = by(
        told.exported.rows("exchanges", "started_at", week.since, week.until), "trial", "exchange"
    )
    expected: Counter[tuple[str, ...]] = Counter()
    answers: dict[tuple[str, ...], set[tuple[str, str]]] = {}
    for signal in told.exported.rows("signals", "decided_at", week.since, week.until):
        judged = verdicts[signal["verdict"],]
        if signal["status"] == "fail" and signal["owner_tenant"] and judged["finding"]:
            if signal["code"] not in {"FOREIGN", "CROSSED"}:
                continue
            victim = exchanges[signal["trial"], signal["exchange"]]["tenant"]
            kind = f"{signal['code']}/{signal['variant']}"
            key = (judged["finding"], judged["class"], kind, signal["owner_tenant"], victim)
            expected[key] += 1
            answers.setdefault(key, set()).add((signal["trial"], signal["exchange"]))
    said = read_json(told.reports[week])["leaks"]
    names = ("finding", "verdict_class", "kind", "owner_tenant", "victim_tenant")
    assert {key: row["sightings"] for key, row in by(said, *names).items()} == dict(expected)
    assert {key: row["answers"] for key, row in by(said, *names).items()} == {
        key: len(each) for key, each in answers.items()
    }
    proven = [row for row in said if row["kind"] == "FOREIGN/other_tenant"]
    assert proven
    assert all(row["owner_tenant"] != row["victim_tenant"] for row in proven)
    assert all(row["evidence_bits"] >= 30 for row in proven)


def test_what_moved_is_drift(told: Told) -> None:
    said = read_json(told.reports[WEEKS[2]])
    week = WEEKS[2]
    moved = [
        row
        for row in told.exported.rows("verdicts", "decided_at", week.since, week.until)
        if row["source"] == "stream"
    ]
    assert len(said["drift"]) == len(moved) > 0
    assert {row["target"] for row in said["drift"]} == {DECAYING}
    assert all(_instant(row["at"]) >= DECAY_AT for row in said["drift"])
    assert any(row["lane"] == "trend" for row in said["drift"])
    drifts = [row for row in said["findings"] if row["finding_class"] == "DRIFT"]
    assert {row["target"] for row in drifts} == {DECAYING}
    assert by(said["targets"], "target")[DECAYING,]["judgement"] == "bad"
    assert by(said["targets"], "target")[DECAYING,]["trend"] == "worse"


def test_costs_are_what_reservations_came_to(told: Told, week: Week) -> None:
    rows = by(read_json(told.reports[week])["costs"], "target", "budget", "day")
    expected = settled(told.exported, week.since, week.until)
    assert {(t, b, day) for t, b, day in rows} == {(t, b, d.isoformat()) for t, b, d in expected}
    for (target, budget, day), (tokens, usd, number) in expected.items():
        row = rows[target, budget, day.isoformat()]
        assert (row["tokens"], row["settled"], row["unsettled"]) == (tokens, number, 0)
        assert row["usd"] == pytest.approx(usd, abs=1e-6)


def test_checks_are_counted_with_their_quiet_signals(told: Told, week: Week) -> None:
    said = signals_of(told.exported, week.since, week.until)
    rows = by(read_json(told.reports[week])["noisiest_checks"], "target", "code", "variant")
    failed = {key[:3]: number for key, number in said.items() if key[3] == "fail"}
    assert {key: row["failed"] for key, row in rows.items()} == failed
    for (target, code, _), row in rows.items():
        judged = sum(
            number
            for (t, c, _, status), number in said.items()
            if (t, c) == (target, code) and status in {"pass", "fail"}
        )
        assert row["judged"] == judged


def test_what_could_not_be_judged_is_told_apart(told: Told, week: Week) -> None:
    rows = by(read_json(told.reports[week])["unjudged"], "target")
    counted: dict[str, Counter[str]] = {}
    for verdict in told.exported.rows("verdicts", "decided_at", week.since, week.until):
        counted.setdefault(verdict["target"], Counter())[verdict["outcome"]] += 1
    for (target,), row in rows.items():
        outcomes = counted.get(target, Counter())
        assert row["verdicts"] == outcomes.total()
        assert (row["invalid"], row["errors"]) == (outcomes["invalid"], outcomes["error"])
    assert rows[DECAYING,]["missed_runs"] == 3


def test_nodes_count_the_days_that_they_were_exposed(told: Told) -> None:
    rows = [by(read_json(told.reports[w])["nodes"], "node")[NODE,] for w in WEEKS]
    assert [row["conformity"] for row in rows] == ["pass", "pass", "fail", "fail"]
    assert [row["failing"] for row in rows] == [0, 0, 16, 28]
    since = WEEKS[2].since + timedelta(days=3)
    assert [_instant(row["failing_since"]) for row in rows] == [None, None, since, since]
    assert [row["days_failing"] for row in rows] == [None, None, 3.75, 10.75]
    assert rows[3]["failed_rules"] == [RULE]
    [public] = {rule.public for rule in load_rules().rules if rule.id == RULE}
    assert public is not None
    assert [row["public_since"] for row in rows] == [None, None, *[public.isoformat()] * 2]
    last = datetime.combine(WEEKS[3].days[-1], datetime.min.time(), UTC) + timedelta(hours=18)
    exposed = last - datetime.combine(public, datetime.min.time(), UTC)
    assert rows[3]["days_exposed"] == exposed / timedelta(days=1)


def test_context_says_what_was_verified_and_when_it_is_old(told: Told) -> None:
    rows = [by(read_json(told.reports[w])["context"], "target") for w in WEEKS]
    assert [each[LEAKING,]["in_week"] for each in rows] == [True, True, True, False]
    assert {each[LEAKING,]["verified_tokens"] for each in rows} == {6_000}
    assert {each[MUTE,]["state"] for each in rows} == {"never measured"}


def test_what_was_not_looked_at_is_told(told: Told, week: Week) -> None:
    said = read_json(told.reports[week])["not_looked_at"]
    mute = [row for row in said if row["target"] == MUTE]
    assert [row["where"].count(",") for row in mute if row["what"] == "days"] == [6]
    assert any(row["what"] == "stratum" and row["why"] == "never asked" for row in mute)
    assert any(row["what"] == "drill" and "not run" in row["why"] for row in said)
    assert any(row["what"] == "stratum (not_gentle)" and row["tokens"] for row in said)
    target = by(read_json(told.reports[week])["targets"], "target")[MUTE,]
    assert (target["judgement"], target["cells_clean"]) == ("could_not_tell", 0)
    assert target["cells_unknown"] == target["cells"] > 0


def test_no_report_says_good_where_so_little_was_asked(told: Told, week: Week) -> None:
    said = read_json(told.reports[week])
    rows = by(said["targets"], "target")
    assert not [row for row in said["targets"] if row["judgement"] == "good"]
    # Of so few answers in a month one leak or a node that fails is bad; the rest is not told.
    failing = {row["target"] for row in said["nodes"] if row["failing"]}
    missed = {
        row["target"]
        for row in said["objectives"]
        if row["attainment"] == "missed" and row["sli"] != "coverage"
    }
    for target in failing | missed:
        assert rows[target,]["judgement"] == "bad"


def test_accepted_deviations_expire(told: Told) -> None:
    rows = [read_json(told.reports[w])["accepted"] for w in WEEKS]
    assert [[row["expired"] for row in each] for each in rows] == [[False], [False], [True], [True]]
    assert rows[0][0]["owner"] == "serving"


def test_a_new_version_of_a_node_is_a_change_of_the_week_it_came(told: Told) -> None:
    found = [
        [row["now"] for row in read_json(told.reports[w])["changes"] if NODE in row["what"]]
        for w in WEEKS
    ]
    assert [len(each) for each in found] == [1, 0, 1, 0]


def test_the_head_of_the_audit_chain_is_in_the_report(told: Told, week: Week) -> None:
    links = told.exported.rows("audit_log", "at", datetime(2000, 1, 1, tzinfo=UTC), week.until)
    last = max(links, key=lambda link: link["seq"])
    said = read_json(told.reports[week])
    assert (said["chain_seq"], said["chain_hash"]) == (last["seq"], last["hash"])
    acts = Counter(link["action"] for link in links if link["at"] >= week.since)
    told_acts: Counter[str] = Counter()
    for row in said["decisions"]:
        told_acts[row["action"]] += row["number"]
    assert told_acts == acts


def test_parquet_holds_every_table_of_the_json(told: Told, week: Week) -> None:
    said = read_json(told.reports[week])
    tables = {name for name, value in said.items() if isinstance(value, list)}
    assert len(tables) == 24
    for name in tables:
        rows = pq.read_table(told.reports[week] / f"{name}.parquet").to_pylist()
        assert len(rows) == len(said[name])


def test_the_same_store_and_week_give_the_same_bytes(told: Told, week: Week) -> None:
    first, second = told.reports[week], told.again[week]
    names = sorted(file.name for file in first.iterdir())
    assert names == sorted(file.name for file in second.iterdir())
    assert [n for n in names if (first / n).read_bytes() != (second / n).read_bytes()] == []


def test_reports_hold_and_follow_one_another(told: Told) -> None:
    key = InstallationKey.load_or_create(told.config.storage_path / KEY_FILE)
    before = None
    for week in WEEKS:
        found = verify(told.reports[week], Signer(key).public, before)
        assert found.problems == ()
        assert told.built[week].manifest_sha256 == found.manifest_sha256
        before = told.reports[week]


def test_what_a_node_says_is_harmless_and_the_page_is_small(told: Told) -> None:
    page = (told.reports[WEEKS[3]] / "report.html").read_bytes()
    assert len(page) < MOST_BYTES
    assert b"<script" not in page
    assert b"v1&lt;script&gt;alert(1)&lt;/script&gt;[U+202E]gnp.exe[U+001B][31m[U+0000]" in page
    assert "\u202e" not in page.decode()
    for file in told.reports[WEEKS[3]].iterdir():
        if file.suffix == ".parquet":
            for row in pq.read_table(io.BytesIO(file.read_bytes())).to_pylist():
                assert not any("\u202e" in str(value) for value in row.values())


def test_no_secret_and_no_planted_text_is_in_a_report(told: Told) -> None:
    content = b"".join(
        file.read_bytes()
        for week in WEEKS
        for file in told.reports[week].iterdir()
        if file.suffix in {".html", ".json", ".csv"}
    )
    keys = {file.read_bytes() for file in told.config.file.parent.rglob("tenant-*.key")}
    assert keys
    assert told.planted
    assert not [key for key in keys if key in content]
    assert not [text for text in told.planted if text.encode() in content]


def test_the_command_builds_verifies_and_says_what_is_empty(told: Told, tmp_path: Path) -> None:
    config = str(told.config.file)
    out, pem = tmp_path / WEEKS[3].label, tmp_path / "public.pem"
    arguments = ("report", "build", "--week", WEEKS[3].label, "--out", str(out))
    built = davylamp(*arguments, "--config", config, "--previous", str(told.reports[WEEKS[2]]))
    assert built.exit_code == 0, built.output
    assert f"it follows {WEEKS[2].label}" in built.stdout
    names = sorted(file.name for file in out.iterdir())
    same = told.reports[WEEKS[3]]
    assert [n for n in names if (out / n).read_bytes() != (same / n).read_bytes()] == []
    assert davylamp(*arguments, "--config", config).exit_code == 2
    later = ("--week", "2100-W01", "--out", str(tmp_path / "later"))
    refused = davylamp("report", "build", *later, "--config", config)
    assert refused.exit_code == 2
    assert "2100-W01 is not over before 2100-01-11 00:00 UTC" in refused.output
    empty = tmp_path / EMPTY.label
    nothing = davylamp(
        *("report", "build", "--week", EMPTY.label, "--out", str(empty)),
        *("--format", "html,json", "--config", config),
    )
    assert nothing.exit_code == 3
    assert "NO DATA" in nothing.stdout
    assert sorted(f.name for f in empty.iterdir()) == [
        "manifest.json",
        "report.html",
        "report.json",
    ]
    said = read_json(empty)
    assert (said["has_data"], said["judgement"]) == (False, "could_not_tell")
    assert davylamp("evidence", "public-key", "--out", str(pem), "--config", config).exit_code == 0
    assert davylamp("report", "verify", str(out), "--public-key", str(pem)).exit_code == 0
    unkeyed = davylamp("report", "verify", str(out))
    assert unkeyed.exit_code == 3
    assert "key not checked" in unkeyed.stdout
    (out / "leaks.csv").write_text("none\n")
    assert davylamp("report", "verify", str(out), "--public-key", str(pem)).exit_code == 1


def test_without_its_key_the_command_makes_no_new_one(told: Told, tmp_path: Path) -> None:
    key, out = told.config.storage_path / KEY_FILE, tmp_path / WEEKS[3].label
    key.rename(tmp_path / "kept.key")
    try:
        arguments = ("report", "build", "--week", WEEKS[3].label, "--out", str(out))
        built = davylamp(*arguments, "--config", str(told.config.file))
        assert not key.exists()
    finally:
        (tmp_path / "kept.key").rename(key)
    assert built.exit_code not in {0, 3}
    assert "restore it from a backup" in built.output
    assert not out.exists()


def test_the_command_names_what_it_does_not_follow(told: Told, tmp_path: Path) -> None:
    shutil.copytree(told.reports[WEEKS[1]], tmp_path / WEEKS[1].label)
    shutil.copytree(told.reports[WEEKS[2]], tmp_path / WEEKS[2].label)
    days = tmp_path / WEEKS[2].label / "days.csv"
    days.write_bytes(days.read_bytes().replace(b"2", b"3"))
    out = tmp_path / WEEKS[3].label
    arguments = ("report", "build", "--week", WEEKS[3].label, "--out", str(out))
    built = davylamp(*arguments, "--format", "json", "--config", str(told.config.file))
    assert built.exit_code == 0, built.output
    assert "NOT FOLLOWED" in built.stdout
    assert (
        f"it follows {WEEKS[1].label}; 1 week in between has no report of this chain"
        in built.stdout
    )


def test_the_command_names_what_the_report_it_is_told_to_follow_leaves_out(
    told: Told, tmp_path: Path
) -> None:
    for week in WEEKS[:3]:
        shutil.copytree(told.reports[week], tmp_path / week.label)
    before = tmp_path / WEEKS[0].label
    arguments = ("report", "build", "--week", WEEKS[3].label, "--previous", str(before))
    out = ("--out", str(tmp_path / "new"), "--format", "json")
    built = davylamp(*arguments, *out, "--config", str(told.config.file))
    assert built.exit_code == 0, built.output
    said = [line for line in built.stdout.splitlines() if line.startswith("LEFT OUT OF THE CHAIN")]
    assert [line.split(": ", 1)[1] for line in said] == [
        f"{tmp_path / week.label} holds and is newer than {WEEKS[0].label}"
        for week in (WEEKS[2], WEEKS[1])
    ]
    words = f"it follows {WEEKS[0].label}; 2 weeks in between have no report of this chain"
    assert words in built.stdout


def test_a_folder_that_is_taken_or_a_report_of_another_is_refused(
    told: Told, tmp_path: Path
) -> None:
    own = InstallationKey.load_or_create(told.config.storage_path / KEY_FILE)
    other = InstallationKey.load_or_create(tmp_path / "other.key")
    asked, out = asked_of(told.config, WEEKS[3]), tmp_path / "x"
    refused = (
        ("not empty", told.reports[WEEKS[2]], own, None),
        ("no such folder", tmp_path / "none" / "x", own, None),
        ("has the name of another week", tmp_path / WEEKS[2].label, own, None),
        ("not one of this installation", out, other, told.reports[WEEKS[2]]),
        ("cannot come before", out, own, told.reports[WEEKS[3]]),
        ("cannot be followed", out, own, tmp_path),
    )
    with open_reading(told.config) as reading:
        reader = WeekReader(reading.client)
        for words, folder, key, previous in refused:
            with pytest.raises(UsageError, match=words):
                build(reader, asked, [Format.JSON], folder, key, previous)
    assert not out.exists()
