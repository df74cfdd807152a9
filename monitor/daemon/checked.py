"""``check`` beside a running daemon.

Apart from the other verbs: whoever checks waits for no more to be loaded than a check takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from monitor.checking import Selection
from monitor.config import Config
from monitor.daemon.line import streamed
from monitor.reports.check import CheckReport
from monitor.store import StoreOwner

OnWords = Callable[[str, str, int, int], None]


def check_through_daemon(
    config: Config, owner: StoreOwner, selection: Selection, on_words: OnWords
) -> CheckReport:
    """Return the daemon's report. Raises ``StoreBusyError`` if it does not answer in 5 s."""
    asked = {
        "targets": selection.targets,
        "probes": selection.probes,
        "profile": selection.profile,
        "require_coverage": selection.require_coverage,
    }

    def on_step(step: dict[str, Any]) -> None:
        on_words(step["target"], step["words"], step["done"], step["total"])

    said = streamed(config, owner, "check", asked, on_step)
    return CheckReport.model_validate(said)
