"""The daemon and a collector: all of it arrives and none of it is text; or nobody is there."""

from __future__ import annotations

import re
import signal
from typing import Any

from tests.fakes.collector import Collector, collecting, plain
from tests.integration.daemons import daemon, eager, idle
from tests.integration.processes import Installation, free_port, wait_until

LEAKS = ("LEAK", "CROSSED")
FIND_SECONDS = 60.0
STOP_SECONDS = 40.0
TOKEN = "collector-token-0123456789"  # noqa: S105
MARKER = re.compile(r"[a-z]{5}-[a-z]{5}-[a-z]{5}-[a-z]{5}")
# What probes write around markers.
PROMPT = re.compile(r"ticket|reference code|customer|please", re.IGNORECASE)


def told(installation: Installation, url: str) -> Installation:
    (installation.folder / "otel.token").write_text(TOKEN, encoding="ascii")
    otlp = {"endpoint": url, "token_file": "otel.token", "timeout": "2s"}
    installation.settings["telemetry"] = {"otlp": otlp}
    return installation


def leaks(collector: Collector) -> list[str]:
    """Return the trials that showed another tenant's text, as far as told."""
    said = [plain(event.attributes) for event in collector.events]
    return [each["davylamp.trial"] for each in said if each["davylamp.class"] in LEAKS]


def spans_of(collector: Collector, trial: str) -> list[dict[str, Any]]:
    said = [plain(span.attributes) for span in collector.spans]
    return [each for each in said if each["davylamp.trial"] == trial]


def whole(collector: Collector, trial: str) -> bool:
    return len(spans_of(collector, trial)) > 1


def test_a_collector_is_told_of_a_leak_without_a_word_of_it(leaking: Installation) -> None:
    keys = [path.read_text("ascii") for path in leaking.folder.glob("*.key")]
    with collecting() as collector, daemon(eager(told(leaking, collector.url))) as running:
        collector.until(lambda: leaks(collector) and whole(collector, leaks(collector)[0]))
        leak = leaks(collector)[0]
        assert running.count("davylamp_telemetry_records_total", result="sent") > 0
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(STOP_SECONDS) == 0
        log = running.log.read_text("utf-8")
    stored = leaking.contents()
    assert {plain(event.attributes)["davylamp.verdict"] for event in collector.events} <= {
        verdict[0] for verdict in stored["verdicts"]
    }
    exchanges = [row for row in stored["exchanges"] if leak in row]
    assert len(spans_of(collector, leak)) == 1 + len(exchanges)
    assert collector.metrics["gen_ai.client.inference.duration"].histogram.data_points
    assert {headers["authorization"] for headers in collector.headers} == {f"Bearer {TOKEN}"}
    said = b"\n".join(collector.bodies).decode("utf-8", "replace")
    assert keys
    assert not [key for key in (*keys, TOKEN) if key in said or key in log]
    assert not MARKER.findall(said)
    assert not PROMPT.findall(said)


def test_a_collector_that_is_away_costs_neither_verdicts_nor_the_end(
    healthy: Installation,
) -> None:
    with daemon(idle(told(healthy, f"http://127.0.0.1:{free_port()}"))) as running:
        assert healthy.check("--probe", "canary").exit_code == 0
        wait_until(
            lambda: running.count("davylamp_telemetry_records_total", result="failed"),
            FIND_SECONDS,
            "a loss that is counted",
        )
        assert running.count("davylamp_exchanges_total", outcome="good") > 0
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(STOP_SECONDS) == 0
        log = running.log.read_text("utf-8")
    assert log.count("the collector takes no spans: no answer") == 1
    assert not re.search("Traceback|opentelemetry|Failed to export|Transient", log)
    assert len(healthy.contents()["verdicts"]) == 4
