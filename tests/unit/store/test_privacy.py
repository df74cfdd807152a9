"""No body, prompt or credential in any table, file of the store or log line."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest

from monitor.canaries import InstallationKey
from monitor.findings import findings_in
from monitor.sinks import ClickHouseSink, LogSink, PrometheusSink
from monitor.store import EvidenceHasher, Store, open_store, redact
from monitor.store.private import finish_reason
from monitor.store.rows import TABLES
from tests.unit.store.samples import NOW, SECRETS, trial, verdict

KEY = InstallationKey(bytes(range(32)))


def everything(store: Store) -> str:
    """Export all tables as text."""
    names = [*TABLES.values(), "schema_migrations"]
    tables = [
        store.writer.run(lambda client, name=name: client.query(f"SELECT * FROM {name}"))  # type: ignore[misc]  # noqa: S608
        for name in names
    ]
    return json.dumps(tables, default=str)


def found_in(text: str) -> list[str]:
    """The secrets, whole or their last word, that stand in a text."""
    return [secret for secret in SECRETS if secret in text or secret.split()[-1] in text]


def test_no_secret_reaches_table_file_log_or_metric(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    registry = CollectorRegistry()
    with open_store(tmp_path / "store") as store:
        sinks = (
            ClickHouseSink(store.writer, store.hasher),
            PrometheusSink(registry, "test"),
            LogSink(logging.getLogger("davylamp.text")),
            LogSink(logging.getLogger("davylamp.json"), as_json=True),
        )
        findings = findings_in(store, NOW)
        for number in range(3):
            findings.record(verdict(number))
            for sink in sinks:
                sink.deliver(trial(number), verdict(number))
        store.flush()
        text = everything(store)
    assert "trial-glm-1" in text
    assert len(caplog.records) >= 6
    written = "\n".join(record.getMessage() for record in caplog.records)
    assert "trial-glm-1" in written
    for public in (text, written, generate_latest(registry).decode()):
        assert found_in(public) == []
        assert "lusab" not in public
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 10
    for file in files:
        assert found_in(file.read_bytes().decode("latin-1")) == []


def test_an_identifier_of_the_target_is_kept_only_if_it_looks_like_one() -> None:
    hasher = EvidenceHasher(KEY)
    assert hasher.identifier("chatcmpl-9f:2/a.b") == "chatcmpl-9f:2/a.b"
    assert hasher.identifier(None) == ""
    assert re.fullmatch(r"hashed-[0-9a-f]{32}", hasher.identifier("Dear Mrs Smith"))
    assert re.fullmatch(r"hashed-[0-9a-f]{32}", hasher.identifier("a" * 129))


def test_a_finish_reason_is_one_of_a_list() -> None:
    assert [finish_reason(text) for text in ("stop", None, "my secret")] == ["stop", "", "other"]


def test_hashes_depend_on_text_and_installation() -> None:
    hasher = EvidenceHasher(KEY)
    assert hasher("a") == hasher("a") != hasher("b")
    assert hasher("a") != EvidenceHasher(InstallationKey(bytes(32)))("a")
    assert hasher("") == ""


def test_redaction_leaves_only_the_given_places() -> None:
    assert redact("abcdefgh", [(2, 4)]) == "[2 characters]cd[4 characters]"
    assert redact("abcd", []) == "[4 characters]"
    assert redact("", []) == ""
    assert redact("abcdef", [(0, 3), (2, 6)]) == "abcdef"


@given(
    st.text("xyz", max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=5),
)
def test_redaction_shows_no_place_outside_its_spans(
    text: str, spans: list[tuple[int, int]]
) -> None:
    clear = re.sub(r"\[\d+ characters\]", "", redact(text, spans))
    allowed = {place for start, end in spans for place in range(start, end)} & set(range(len(text)))
    assert clear == "".join(text[place] for place in sorted(allowed))
