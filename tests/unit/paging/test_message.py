"""What a page says: plain words first, bounded, clean, and nothing that is not ours to tell."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.config.pages import Drain
from monitor.conventions.pages import PageAction
from monitor.findings import Finding
from monitor.model import VerdictClass
from monitor.paging.bodies import encoded, pagerduty_event, webhook_page
from monitor.paging.evidence import Evidence
from monitor.paging.message import MAX_SUMMARY, Message, clean, joined, message_of
from tests.fakes.events_v2 import ROUTING_KEY, problems
from tests.unit.daemon.installed import config_of
from tests.unit.paging.test_policy import a_finding
from tests.unit.test_findings import OPENING

MAX_EVENT = 10_000
AT = datetime(2026, 11, 2, 12, tzinfo=UTC)
HOSTILE = st.text(max_size=300)
FINDING = a_finding()
ODD = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def event_of(message: Message, action: PageAction = PageAction.TRIGGER) -> bytes:
    """Return the event as it is sent."""
    return encoded({"routing_key": ROUTING_KEY, **pagerduty_event(action, message)})


def with_pages(config: Config, **pages: object) -> Config:
    """Return a configuration with these keys of ``pages``, whatever is in them."""
    section = config.settings.pages.model_copy(update=pages)
    return replace(config, settings=config.settings.model_copy(update={"pages": section}))


def test_the_whole_summary_in_its_order(tmp_path: Path) -> None:
    drain = [{"command": "gatewayctl drain {target} --model {model} --for {finding}"}]
    config = config_of(tmp_path, environment="prod", pages={"drain": drain})
    finding = a_finding(
        id="F-0123ABCD", stratum="over-4096/c1", children=("short/c8", "short/c1"), count=3
    )
    evidence = Evidence(http=((200, 7), (None, 1)), routes=("fp_1",))
    assert message_of(finding, evidence, config).summary == (
        "answers carry another tenant's text, proven: LEAK; glm in prod; "
        f"since {finding.first_seen:%Y-%m-%d %H:%M} UTC; 3 verdicts; lengths over-4096, short; "
        "routes fp_1; HTTP said 200 (7 times), nothing (1 times); "
        "drain: gatewayctl drain glm --model glm-5.3 --for F-0123ABCD; "
        "look: davylamp findings show F-0123ABCD"
    )


def test_who_is_drained_need_not_be_and_the_summary_says_since_when(tmp_path: Path) -> None:
    drain = [{"command": "gatewayctl drain {target}"}]
    config = config_of(tmp_path, environment="prod", pages={"drain": drain})
    out = a_finding(out_of_rotation_at=AT, rotation_by="ann", rotation_why="s3cret")
    drained = message_of(out, Evidence(), config)
    assert "; out of rotation since 2026-11-02 12:00 UTC; look: " in drained.summary
    assert "gatewayctl" not in drained.summary
    assert drained.drain == "gatewayctl drain glm", "how to, for whoever needs it again"
    page = webhook_page(PageAction.TRIGGER, drained, event="page-1", at=AT)
    assert page["out_of_rotation_at"] == "2026-11-02T12:00:00.000Z"
    assert page["back_in_rotation_at"] is None
    assert "s3cret" not in repr(page) + repr(pagerduty_event(PageAction.TRIGGER, drained))
    back = message_of(replace(out, back_in_rotation_at=AT), Evidence(), config)
    assert "; drain: gatewayctl drain glm; look: " in back.summary


def test_links_lead_to_finding_dashboard_and_runbook(tmp_path: Path) -> None:
    links = {
        "findings": "https://x.example/findings",
        "dashboard": "https://grafana.example/d/davylamp",
        "runbooks": "https://x.example/runbooks",
    }
    config = config_of(tmp_path, environment="prod", pages={"links": links})
    event = json.loads(event_of(message_of(a_finding(id="F-1"), Evidence(), config)))
    assert [link["href"] for link in event["links"]] == [
        "https://x.example/findings/F-1",
        "https://grafana.example/d/davylamp?var-env=prod&var-target=glm",
        "https://x.example/runbooks/leak",
    ]
    assert event["client_url"] == "https://x.example/findings/F-1"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A configuration without pages, to lay hostile names over."""
    return config_of(tmp_path_factory.mktemp("plain"))


@given(
    names=st.lists(HOSTILE, min_size=4, max_size=4),
    command=HOSTILE,
    routes=st.lists(HOSTILE, max_size=6),
    children=st.integers(0, 256),
    kind=st.tuples(st.sampled_from(OPENING), st.booleans()),
)
@settings(max_examples=60, deadline=None)
def test_whatever_names_there_are_a_page_is_whole_valid_and_clean(
    plain: Config,
    names: list[str],
    command: str,
    routes: list[str],
    children: int,
    kind: tuple[VerdictClass, bool],
) -> None:
    (target, environment, shape, stratum), (verdict_class, urgent) = names, kind
    drain = Drain.model_construct(command=f"drain {{target}} {{odd}} {command}", targets=())
    config = replace(with_pages(plain, drain=(drain,)), environment=environment)
    finding: Finding = replace(
        FINDING,
        verdict_class=verdict_class,
        target=target,
        shape=shape,
        stratum=stratum,
        children=tuple(f"{n}{stratum}" for n in range(children)),
        urgent=urgent,
    )
    evidence = Evidence(http=((200, 1),), routes=tuple(clean(each, 64) for each in routes[:5]))
    message = message_of(finding, evidence, config)
    body = event_of(message)
    assert [found for found in problems(body) if found != "source"] == []
    assert len(body) < MAX_EVENT * 4  # every character may take four bytes
    assert len(message.summary) <= MAX_SUMMARY
    assert not any(unicodedata.category(c) in ODD for c in message.summary)
    assert verdict_class.label in message.summary.partition(";")[0]
    assert message.look in message.summary, "what to do next is never cut"
    assert len(message.dedup_key) <= 255
    json.loads(encoded(webhook_page(PageAction.TRIGGER, message, event="e", at=AT)))


def test_the_largest_page_of_usual_names_is_small(plain: Config) -> None:
    strata = tuple(f"under-131072/c{n}/warm/stream/pair" for n in range(256))
    finding = replace(FINDING, target="t" * 63, children=strata)
    config = replace(plain, environment="e" * 63)
    message = message_of(finding, Evidence(http=((200, 9),), routes=("r" * 64,) * 5), config)
    assert len(event_of(message)) < MAX_EVENT
    assert (len(message.strata), message.further_strata) == (16, 241)


def test_a_piece_without_room_is_left_out_whole() -> None:
    assert joined(["wrong", "x" * 1010, "look: here", "z"]) == f"wrong; {'x' * 1010}; z"
    assert joined(["y" * 2000]) == "y" * (MAX_SUMMARY - 1) + "…"


def test_a_persons_words_are_in_no_page(plain: Config) -> None:
    finding = replace(FINDING, who="ann", why="2026-11-02T14:30:15Z Mrs Smith of ward 7 called")
    message = message_of(finding, Evidence(), plain)
    for action in PageAction:
        page = webhook_page(action, message, event="e", at=AT)
        text = event_of(message, action) + encoded(page)
        assert b"Smith" not in text
        assert b"ann" not in text.replace(b"answers", b"")
