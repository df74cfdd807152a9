"""The daemon and a collector: all of it arrives and none of it is text; or nobody is there."""

from __future__ import annotations

import re
import signal

from tests.fakes.collector import collecting, plain
from tests.integration.processes import Installation, free_port, wait_until
from tests.integration.test_daemon import FIND_SECONDS, STOP_SECONDS, daemon, eager

TOKEN = "collector-token-0123456789"  # noqa: S105
MARKER = re.compile(r"[a-z]{5}-[a-z]{5}-[a-z]{5}-[a-z]{5}")
# What probes write around markers.
PROMPT = re.compile(r"ticket|reference code|customer|please", re.IGNORECASE)


def told(installation: Installation, url: str) -> Installation:
    (installation.folder / "otel.token").write_text(TOKEN, encoding="ascii")
    otlp = {"endpoint": url, "token_file": "otel.token", "timeout": "2s"}
    installation.settings["telemetry"] = {"otlp": otlp}
    return eager(installation)


def test_a_collector_is_told_of_a_leak_without_a_word_of_it(leaking: Installation) -> None:
    keys = [path.read_text("ascii") for path in leaking.folder.glob("*.key")]
    with collecting() as collector, daemon(told(leaking, collector.url)) as running:
        collector.until(
            lambda: any(
                plain(event.attributes)["davylamp.class"] in ("LEAK", "CROSSED")
                for event in collector.events
            )
        )
        assert running.count("davylamp_telemetry_records_total", result="sent") > 0
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(STOP_SECONDS) == 0
        log = running.log.read_text("utf-8")
    stored = leaking.contents()
    assert len(collector.events) == len(stored["verdicts"])
    assert len(collector.spans) == len(stored["trials"]) + len(stored["exchanges"])
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
    with daemon(told(healthy, f"http://127.0.0.1:{free_port()}")) as running:
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
    assert len(healthy.contents()["verdicts"]) > 0
