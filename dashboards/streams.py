"""The shelf of streams: evidence, thresholds and alarms of one target."""

from __future__ import annotations

from dashboards.frame import ALARMED
from dashboards.panels import (
    GREEN,
    GREY,
    ORANGE,
    Look,
    Said,
    Shelf,
    now,
    prometheus,
    rows_of,
    stat,
    state_timeline,
    table,
    time_series,
)
from dashboards.questions import alarmed, of, rise
from monitor.conventions import STREAM_SCORES
from monitor.conventions.streams import (
    ALARM_ACTIVE,
    ALARMS,
    SLO_EVIDENCE,
    SLO_EVIDENCE_THRESHOLD,
    STREAM_VALID_RATIO,
    STREAMS_NOT_WATCHED,
)

_STREAM = "probe, stratum, lane"
_evidence = time_series(
    Said(
        "Evidence",
        "short",
        "Of each stream; an alarm is raised at its threshold.",
        "No stream of this target has a score yet.",
    ),
    [prometheus(f"max by ({_STREAM}) ({of(SLO_EVIDENCE)}) > 1", "{{lane}} {{probe}} {{stratum}}")],
    Look(logarithmic=True),
)
_thresholds = table(
    Said(
        "Thresholds",
        "short",
        "The evidence at which a stream raises a ticket or a page.",
        "No stream of this target can raise an alarm. This is not good.",
    ),
    [rows_of(f"max by ({_STREAM}, tier) ({of(SLO_EVIDENCE_THRESHOLD)})")],
    Look(value="threshold"),
)
_alarms = state_timeline(
    Said(
        "Alarms",
        "none",
        "Streams whose alarm is not over. Grey and hatched: nothing was judged within a day.",
        "No stream of this target can raise an alarm. This is not good.",
    ),
    [prometheus(alarmed(ALARM_ACTIVE, "lane, tier"), "{{lane}} {{tier}}")],
    ALARMED,
)
_alarms_raised = stat(
    Said(
        "Alarms raised",
        "short",
        "By lane and tier, since the store began.",
        "No stream of this target can raise an alarm.",
    ),
    [now(f"sum by (lane, tier) ({of(ALARMS)})", "{{lane}} {{tier}}")],
    Look(steps=((None, GREY), (1, ORANGE))),
)
_streams_without_an_alarm = stat(
    Said(
        "Streams without an alarm",
        "short",
        "How many cannot raise one, and why: they are watched by nobody.",
        "The daemon watches no stream.",
    ),
    [now(f"sum by (reason) ({of(STREAMS_NOT_WATCHED)})", "{{reason}}")],
    Look(steps=((None, GREEN), (1, GREY))),
)
_valid_share_of_the_last_256_trials = time_series(
    Said(
        "Valid share of the last 256 trials",
        "percentunit",
        "Where it falls, a stream says less than it seems to.",
        "No stream of this target has a score yet.",
    ),
    [prometheus(f"min by (probe, lane) ({of(STREAM_VALID_RATIO)})", "{{probe}} {{lane}}")],
    Look(low=0, high=1),
)
_bad_scores_by_lane = time_series(
    Said(
        "Bad scores, by lane",
        "short",
        "Scores of an hour that were bad.",
        "No stream was scored within an hour.",
    ),
    [prometheus(rise(STREAM_SCORES, 'outcome="bad"', by="probe, lane"), "{{probe}} {{lane}}")],
    Look(bars=True, low=0),
)

STREAMS = Shelf(
    title="Streams: what answers add up to",
    panels=(
        (12, 8, _evidence),
        (12, 8, _thresholds),
        (12, 7, _alarms),
        (6, 7, _alarms_raised),
        (6, 7, _streams_without_an_alarm),
        (12, 7, _valid_share_of_the_last_256_trials),
        (12, 7, _bad_scores_by_lane),
    ),
)
