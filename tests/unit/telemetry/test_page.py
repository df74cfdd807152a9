"""The page on telemetry names everything that is told, and nothing else."""

from __future__ import annotations

import re

from monitor.telemetry.names import EVALUATION, NAMES, Key
from tests.architecture.source import ROOT

PAGE = (ROOT / "docs/telemetry.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`((?:gen_ai|davylamp|server|service|error|deployment)\.[a-z_.]+)`", PAGE))


def test_every_name_is_on_the_page_and_no_other() -> None:
    metrics = {each.name for names in NAMES.values() for each in names.instruments}
    assert {key.value for key in Key} | metrics | {EVALUATION} == NAMED


def test_each_version_is_named() -> None:
    assert all(f"`{version}`" in PAGE for version in NAMES)
