"""Scenarios of the alerts on the monitor itself."""

from __future__ import annotations

from tests.rules.recorded import Recorded
from tests.rules.scenarios import AT, CALM, CRITICAL, ENV, GLM, WARNING, Scenario

_LIMIT = "over-4096/c1/cold/plain/pair"
_AT_LIMIT = f'davylamp_not_probed{AT},probe="boundary",stratum="{_LIMIT}"'
_RESPONSES = "davylamp_probe_http_responses_total"

REPORTS = (
    Scenario(
        alert="DavylampReportMissing",
        series={
            # Its monitor is away for a while, and builds nothing meanwhile.
            'davylamp_reports_missing{env="prod"}': "0x10 1x60 _x40 1x10 0x30",
            # Built within the hour.
            'davylamp_reports_missing{env="stage"}': "0x10 2x40 0x100",
            'davylamp_report_failures_total{env="stage",kind="files"}': "0+1x150",
            'davylamp_report_failures_total{env="stage",kind="crashed"}': "0x150",
        },
        silent_at="60m",
        fires_at="100m",
        over_at="130m",
        labels={**ENV, **WARNING},
    ),
    Scenario(
        alert="DavylampReportUntold",
        series={
            'davylamp_reports_untold{env="prod"}': "0x10 1x90 0x30",
            'davylamp_reports_untold{env="stage"}': "0x10 1x40 0x100",
        },
        silent_at="60m",
        fires_at="80m",
        over_at="110m",
        labels={**ENV, **WARNING},
    ),
)

PROBING = (
    Scenario(
        alert="DavylampBudgetExhausted",
        series={
            f'davylamp_probe_budget_exhausted{AT},budget="boundary"}}': "0x9 1x20 0x10",
            f'davylamp_probe_budget_exhausted{AT},budget="ordinary"}}': "0x40",
        },
        silent_at="9m",
        fires_at="16m",
        over_at="35m",
        labels={**GLM, **WARNING, "budget": "boundary"},
    ),
    Scenario(
        alert="DavylampBoundaryNotProbed",
        series={
            f'{_AT_LIMIT},reason="no_answer"}}': "1x90 _x10",
            f'{_AT_LIMIT},reason="frozen"}}': "1x90",
            f'davylamp_not_probed{AT},probe="burst",stratum="mixed/c32",reason="budget"}}': "1x90",
        },
        silent_at="30m",
        fires_at="70m",
        over_at="99m",
        labels={
            **GLM,
            **WARNING,
            "probe": "boundary",
            "stratum": _LIMIT,
            "reason": "no_answer",
        },
    ),
    Scenario(
        alert="DavylampMissedRuns",
        series={
            f'davylamp_schedule_missed_runs_total{AT},probe="canary"}}': "0x60 10x80",
            f'davylamp_schedule_missed_runs_total{CALM},probe="canary"}}': "0x60 2x80",
        },
        silent_at="59m",
        fires_at="70m",
        over_at="130m",
        labels={**GLM, **WARNING},
    ),
    Scenario(
        alert="DavylampScheduleLag",
        series={
            f"davylamp_schedule_lag_seconds{AT}}}": "0x5 40x30 0x10",
            f"davylamp_schedule_lag_seconds{CALM}}}": "0x5 40x2 0x40",
        },
        silent_at="15m",
        fires_at="30m",
        over_at="40m",
        labels={**GLM, **WARNING},
    ),
    Scenario(
        alert="DavylampUnauthorised",
        series={
            f'{_RESPONSES}{AT},probe="canary",part="control",code="401"}}': ("0x10 0+1x10 10x60"),
            f'{_RESPONSES}{CALM},probe="canary",part="control",code="429"}}': ("0x10 0+1x10 10x60"),
        },
        silent_at="10m",
        fires_at="25m",
        over_at="60m",
        labels={**GLM, **WARNING, "code": "401"},
    ),
    Scenario(
        alert="DavylampNoVerdictLately",
        series={
            f'davylamp_probe_last_success_timestamp_seconds{AT},probe="canary",stratum="a"}}': (
                "60x45 2760x10"
            ),
            f'davylamp_probe_last_success_timestamp_seconds{AT},probe="canary",stratum="b"}}': (
                "0x60"
            ),
            f'davylamp_schedule_interval_seconds{AT},probe="canary"}}': "300x60",
            f'davylamp_probe_last_success_timestamp_seconds{CALM},probe="boundary",stratum="c"}}': (
                "60x60"
            ),
            f'davylamp_schedule_interval_seconds{CALM},probe="boundary"}}': "43200x60",
            'davylamp_probe_last_success_timestamp_seconds{env="prod",target="new",probe="canary",'
            'stratum="a"}': "0x60",
            'davylamp_schedule_interval_seconds{env="prod",target="new",probe="canary"}': "300x60",
        },
        silent_at="20m",
        fires_at="40m",
        over_at="47m",
        labels={**GLM, **WARNING, "probe": "canary"},
    ),
    Scenario(
        alert="DavylampNeverJudged",
        series={
            f'davylamp_probe_last_success_timestamp_seconds{AT},probe="canary",stratum="a"}}': (
                "0x450 27000x20"
            ),
            f'davylamp_schedule_interval_seconds{AT},probe="canary"}}': "300x500",
            f'davylamp_probe_last_success_timestamp_seconds{CALM},probe="boundary",stratum="a"}}': (
                "0x500"
            ),
            f'davylamp_schedule_interval_seconds{CALM},probe="boundary"}}': "80000x500",
        },
        silent_at="5h",
        fires_at="7h",
        over_at="455m",
        labels={**GLM, **WARNING, "probe": "canary"},
    ),
    Scenario(
        alert="DavylampNeverJudged",
        series={
            f'davylamp_probe_last_success_timestamp_seconds{AT},probe="boundary",stratum="a"}}': (
                "0x1250 75000x50"
            ),
            f'davylamp_schedule_interval_seconds{AT},probe="boundary"}}': "14400x1300",
            f'davylamp_probe_last_success_timestamp_seconds{CALM},probe="boundary",stratum="a"}}': (
                "0x1300"
            ),
            f'davylamp_schedule_interval_seconds{CALM},probe="boundary"}}': "43200x1300",
            'davylamp_start_timestamp_seconds{env="prod"}': "0x1300",
            # Began anew not long ago.
            'davylamp_probe_last_success_timestamp_seconds{env="stage",target="glm",'
            'probe="boundary",stratum="a"}': "0x1300",
            'davylamp_schedule_interval_seconds{env="stage",target="glm",probe="boundary"}': (
                "14400x1300"
            ),
            'davylamp_start_timestamp_seconds{env="stage"}': "0x600 36000x700",
        },
        silent_at="18h",
        fires_at="19h",
        over_at="1260m",
        labels={**GLM, **WARNING, "probe": "boundary"},
    ),
    Scenario(
        alert="DavylampAbsent",
        series={'davylamp_build_info{env="prod",version="1"}': "1x10 _x30 1x10"},
        silent_at="10m",
        fires_at="30m",
        over_at="45m",
        labels=CRITICAL,
    ),
    Scenario(
        alert="DavylampEnvironmentAbsent",
        series={
            'davylamp_build_info{env="prod",version="1"}': "1x10 _x3000 1x20",
            'davylamp_build_info{env="stage",version="1"}': "1x1000 _x4 1x3000",
            'davylamp_build_info{env="stage",version="2"}': "_x1000 1x4 _x3000",
        },
        silent_at="15m",
        fires_at="48h",
        over_at="3020m",
        labels={**ENV, **CRITICAL},
    ),
    Scenario(
        alert="DavylampWatchdog",
        series={'davylamp_build_info{env="prod",version="1"}': "_x5 1x10 _x30"},
        silent_at="4m",
        fires_at="10m",
        over_at="30m",
        labels={**ENV, "severity": "info", "class": "none"},
    ),
)

SIGHT = (
    Scenario(
        alert="DavylampCheckBlind",
        series={
            'davylamp_check_blind{env="prod",signal="FOREIGN"}': "0x4 1x20 0x10",
            'davylamp_check_blind{env="prod",signal="FACT"}': "0x40",
        },
        silent_at="4m",
        fires_at="6m",
        over_at="30m",
        labels={**ENV, **WARNING, "signal": "FOREIGN"},
    ),
    Scenario(
        alert="DavylampSelfTestStale",
        series={
            'davylamp_self_test_timestamp_seconds{env="prod"}': "600x220 13200x20",
            'davylamp_self_test_timestamp_seconds{env="stage"}': "600+60x240",
        },
        silent_at="180m",
        fires_at="210m",
        over_at="230m",
        labels={**ENV, **WARNING},
    ),
    Scenario(
        alert="DavylampDetectorBlind",
        series={
            f'davylamp_stream_valid_ratio{AT},probe="burst",stratum="s",lane="hard"}}': (
                "0.9x9 0.3x80 0.9x20"
            ),
            f'davylamp_stream_valid_ratio{CALM},probe="burst",stratum="s",lane="hard"}}': (
                "0.9x9 0.3x30 0.9x70"
            ),
        },
        silent_at="60m",
        fires_at="75m",
        over_at="100m",
        labels={**GLM, **WARNING, "probe": "burst", "stratum": "s", "lane": "hard"},
    ),
    Scenario(
        alert="DavylampStreamsNotWatched",
        series={
            f'davylamp_streams_not_watched{AT},lane="tolerated",reason="tolerance"}}': (
                "0x9 2x80 0x20"
            ),
            f'davylamp_streams_not_watched{CALM},lane="tolerated",reason="weight"}}': "2x110",
        },
        silent_at="60m",
        fires_at="75m",
        over_at="100m",
        labels={**GLM, **WARNING},
    ),
    Scenario(
        alert="DavylampCalibrationBroken",
        series={
            f'davylamp_calibration{AT},state="broken"}}': "0x4 1x20 0x10",
            f'davylamp_calibration{CALM},state="stale"}}': "1x40",
        },
        silent_at="4m",
        fires_at="6m",
        over_at="30m",
        labels={**GLM, **WARNING, "state": "broken"},
    ),
    Scenario(
        alert="DavylampCalibrationStale",
        series={
            f'davylamp_calibration{AT},state="stale"}}': "0x4 1x300 0x20",
            f'davylamp_calibration{CALM},state="stale"}}': "1x100 0x300",
            f'davylamp_calibration{CALM},state="valid"}}': "1x400",
        },
        silent_at="20h",
        fires_at="25h",
        over_at="26h",
        labels={**GLM, **WARNING, "state": "stale"},
        step="5m",
    ),
    Scenario(
        alert="DavylampJudgeDistrusted",
        series={
            f"davylamp_judge_trusted{AT}}}": "1x9 0x80 1x20",
            f"davylamp_judge_trusted{CALM}}}": "0x30 1x80",
        },
        silent_at="60m",
        fires_at="75m",
        over_at="100m",
        labels={**GLM, **WARNING},
    ),
)

KEEPING = (
    Scenario(
        alert="DavylampSpoolWaits",
        series={
            'davylamp_writer_spool_age_seconds{env="prod"}': "0+60x25 0x10",
            'davylamp_writer_spool_age_seconds{env="stage"}': "0 20 40 60 0 20 40 60 0x40",
        },
        silent_at="5m",
        fires_at="15m",
        over_at="30m",
        labels={**ENV, **WARNING},
    ),
    Scenario(
        alert="DavylampSpoolFull",
        series={
            'davylamp_writer_spool_bytes{env="prod"}': "10x5 900x5 10x10",
            'davylamp_writer_spool_limit_bytes{env="prod"}': "1000x30",
            'davylamp_writer_spool_bytes{env="stage"}': "700x30",
            'davylamp_writer_spool_limit_bytes{env="stage"}': "1000x30",
        },
        silent_at="5m",
        fires_at="9m",
        over_at="15m",
        labels={**ENV, **CRITICAL},
    ),
    Scenario(
        alert="DavylampRowsDropped",
        series={
            'davylamp_writer_dropped_rows_total{env="prod",reason="shed"}': "0x10 3x100",
            'davylamp_writer_dropped_rows_total{env="prod",reason="unreadable"}': "7x110",
        },
        silent_at="10m",
        fires_at="15m",
        over_at="80m",
        labels={**ENV, **WARNING, "reason": "shed"},
    ),
    Scenario(
        alert="DavylampPagesWait",
        series={
            'davylamp_page_outbox_age_seconds{env="prod"}': "0+60x15 0x10",
            'davylamp_page_outbox_age_seconds{env="stage"}': "0 60 120 180 0x30",
        },
        silent_at="7m",
        fires_at="12m",
        over_at="20m",
        labels={**ENV, **CRITICAL},
    ),
    Scenario(
        alert="DavylampPagesRejected",
        series={
            'davylamp_pages_total{env="prod",route="pagerduty",action="trigger",'
            'outcome="rejected"}': "1x110 _x60",
            # Rejected before it was first scraped, and unsaid for longer than an hour.
            'davylamp_page_incidents_unsaid{env="prod",route="pagerduty"}': "0x10 1x100 0x90",
            'davylamp_page_incidents_unsaid{env="stage",route="pagerduty"}': "0x200",
            'davylamp_pages_total{env="prod",route="webhook",action="trigger",'
            'outcome="accepted"}': "0+1x110",
        },
        silent_at="10m",
        fires_at="100m",
        over_at="190m",
        labels={**ENV, **CRITICAL, "route": "pagerduty"},
    ),
    *REPORTS,
)

_TOLD = (
    'ALERTS{alertname="DavylampPagesRejected", alertstate="firing", class="none", '
    'env="prod", route="pagerduty", severity="critical"}'
)
_REFUSED = 'ALERTS{alertname="DavylampPagesRejected",alertstate="firing"}'
REFUSED = (
    Recorded(
        name="a resolve that was rejected leaves nothing unsaid, and is told",
        series={
            'davylamp_pages_total{env="prod",route="pagerduty",action="resolve",'
            'outcome="rejected"}': "0x10 1x100",
            'davylamp_page_incidents_unsaid{env="prod",route="pagerduty"}': "0x110",
        },
        at="20m",
        values={_REFUSED: [(_TOLD, 1)]},
    ),
)

_ENDED = (
    'ALERTS{alertname="DavylampReportMissing", alertstate="firing", class="none", '
    'env="prod", severity="warning"}'
)
_MISSING = 'ALERTS{alertname="DavylampReportMissing",alertstate="firing"}'
_CRASHED = 'davylamp_report_failures_total{env="prod",kind="crashed"}'
REPORTS_BESIDE = (
    Recorded(
        name="reports that have ended by a crash are told before one is missing",
        series={_CRASHED: "0x10 1x100", 'davylamp_reports_missing{env="prod"}': "0x110"},
        at="90m",
        values={_MISSING: [(_ENDED, 1)]},
    ),
    Recorded(
        name="a start after a crash of reports begins anew",
        series={_CRASHED: "0x10 1x100 0x130", 'davylamp_reports_missing{env="prod"}': "0x240"},
        at="230m",
        values={_MISSING: []},
    ),
    Recorded(
        name="where no reports are configured none is missing",
        series={'davylamp_build_info{env="prod",version="1"}': "1x200"},
        at="190m",
        values={_MISSING: []},
    ),
)
