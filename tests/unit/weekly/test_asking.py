"""What a weekly report is made of by a configuration: targets, plans, acceptances, a drill."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.errors import UsageError
from monitor.reports.drill_summary import summarise_drill
from monitor.weekly.asking import asked_of, read_drill
from monitor.weekly.operation import accepted_of, drill_of
from monitor.weekly.week import Week
from tests.unit.daemon.installed import TARGET, config_of
from tests.unit.drill.made_up import CERTAIN, QUIET, SETTING, a_first, a_run

WEEK = Week.parse("2026-W45")
RULE = "sglang-pool-bound"


def test_a_target_is_known_with_its_plan_and_what_it_leaves_out(tmp_path: Path) -> None:
    asked = asked_of(config_of(tmp_path), WEEK)
    [target] = asked.targets
    assert (target.name, target.model, target.asked, target.nodes) == (
        *("glm", "glm-5.3", True, ()),
    )
    assert target.objective_ratio == 0.999
    assert {place.shape for place in target.planned} >= {"canary", "golden", "pair", "boundary"}
    assert any(gap.code == "not_gentle" and gap.tokens for gap in target.gaps)
    assert {objective.name for objective in asked.objectives} >= {"semantic", "availability"}
    assert RULE in asked.faults_public


def test_a_target_of_nodes_alone_is_known_and_not_asked(tmp_path: Path) -> None:
    nodes_only = {
        "name": "served",
        "nodes": [{"url": "http://10.0.0.1:30000"}],
        "gateway": {"engine": "openai", "url": "http://10.0.0.2", "unprobed": ["old-model"]},
    }
    config = config_of(tmp_path, targets=[TARGET, nodes_only])
    found = asked_of(config, WEEK)
    target = found.known("served")
    assert target is not None
    assert (target.asked, target.nodes, target.planned) == (False, ("10.0.0.1:30000",), ())
    assert (target.finds_nodes, target.reads_nodes) == (False, True)
    assert [(gap.code, gap.stratum) for gap in target.gaps] == [("unprobed", "old-model")]
    assert found.probed == ("glm",)


def test_what_somebody_accepts_is_told_with_its_day(tmp_path: Path) -> None:
    given = {"owner": "serving", "reason": "documented", "expires": "2026-11-08"}
    config = config_of(
        tmp_path,
        {
            "overflow": {"truncate": given},
            "nodes": [
                {
                    "name": "prefill-0",
                    "url": "http://10.0.0.1:30000",
                    "accepted": [{"rule": RULE, **given, "expires": "2026-11-07"}],
                }
            ],
        },
    )
    rows = accepted_of(asked_of(config, WEEK))
    assert [(row.node, row.deviation, row.expired) for row in rows] == [
        ("", "overflow: truncate", False),
        ("prefill-0", f"node rule {RULE}", True),
    ]
    assert {row.owner for row in rows} == {"serving"}


def test_own_objectives_stand_beside_the_shipped_ones(tmp_path: Path) -> None:
    own = {"name": "glm-limits", "target": "glm", "objective": 99, "window": "7d"}
    names = [each.name for each in asked_of(config_of(tmp_path, slos=[own]), WEEK).objectives]
    assert names[-1] == "glm-limits"
    assert len(names) == 8


def test_a_drill_gives_its_time_to_detect(tmp_path: Path) -> None:
    runs = [a_run(first=a_first()), a_run("quiet", null=True, rate=0.0, exposed=0)]
    report = summarise_drill(SETTING, [CERTAIN, QUIET], runs)
    file = tmp_path / "drill.json"
    file.write_text(report.model_dump_json(by_alias=True))
    asked = asked_of(config_of(tmp_path), WEEK, file)
    [row] = drill_of(asked.drill)
    assert (row.fault, row.told, row.detected) == ("certain", 1, 1)
    assert (row.median_seconds, row.median_exchanges) == (1.25, 20)
    assert drill_of(None) == ()


@pytest.mark.parametrize("content", ["", "{}", "[" * 200_000, '{"schema_version": "1.0"}'])
def test_what_is_no_drill_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "drill.json"
    file.write_text(content)
    with pytest.raises(UsageError, match="not the result of a drill"):
        read_drill(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_drill(tmp_path / "none.json")
