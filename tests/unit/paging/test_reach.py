"""Nobody but a daemon pages: no demo, no drill, no check. And what docs/pages.md shows is true."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import monitor
from monitor.configured import read_config
from monitor.conventions.pages import PageAction
from monitor.drill.configuration import run_config, write_config
from monitor.drill.job import Job
from monitor.drill.lab import Announcement
from monitor.paging import policy_of
from monitor.paging.bodies import webhook_page
from monitor.paging.evidence import Evidence
from monitor.paging.message import message_of
from tests.unit.daemon.installed import config_of
from tests.unit.paging.test_policy import FINDINGS_OF_ONE_EACH, a_finding

SOURCE = Path(monitor.__file__).parent
DOCS = SOURCE.parent / "docs"
LAB = Announcement(url="http://127.0.0.1:9/v1", model="m", keys={"a": "key-a"}, context_tokens=4096)


def test_only_the_daemon_opens_a_pager_and_only_a_verb_tries_receivers() -> None:
    users = {"open_pager(": set(), "receivers_of(": set(), "try_pages(": set()}
    for file in SOURCE.rglob("*.py"):
        text = re.sub(r"def \w+\(", "", file.read_text("utf-8"))
        for call, found in users.items():
            if call in text:
                found.add(str(file.relative_to(SOURCE)))
    assert users == {
        "open_pager(": {"daemon/run.py"},
        "receivers_of(": {"paging/opening.py", "paging/trying.py", "cli/doctor_pages.py"},
        "try_pages(": {"cli/pages_verb.py"},
    }


def test_configurations_of_demo_and_drill_tell_nobody(tmp_path: Path) -> None:
    job = Job(fault="none", seed=1, null=False, profile="quick", context_tokens=4096, whole=False)
    demo = write_config(
        tmp_path, LAB, environment="demo", target="lab", store=tmp_path / "s", more=[]
    )
    for config in (run_config(tmp_path, tmp_path / "s", job, LAB), read_config(str(demo))):
        assert config.settings.pages.receivers == ()
        policy = policy_of(config)
        assert not any(policy.is_direct(finding) for finding in FINDINGS_OF_ONE_EACH)


def test_the_example_of_a_webhook_has_the_keys_that_are_sent(tmp_path: Path) -> None:
    links = {"runbooks": "https://runbooks.example.com/davylamp"}
    config = config_of(tmp_path, pages={"links": links})
    at = datetime(2026, 11, 2, 12, tzinfo=UTC)
    evidence = Evidence(http=((200, 2),), routes=("fp",))
    message = message_of(a_finding(), evidence, config)
    sent = webhook_page(PageAction.TRIGGER, message, event="page-1", at=at)
    block = (DOCS / "pages.md").read_text("utf-8").partition("```json\n")[2].partition("```")[0]
    shown = json.loads(block)
    assert list(shown) == list(sent)
    assert {key: type(value) for key, value in shown.items()} == {
        key: type(value) for key, value in sent.items()
    }
    assert shown["http"][0].keys() == sent["http"][0].keys()  # type: ignore[index]
