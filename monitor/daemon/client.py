"""``check`` beside a running daemon: the same pass, run by the process that owns the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import httpx

from monitor.checking import Selection
from monitor.config import Config
from monitor.daemon.run import api_token
from monitor.errors import StoreBusyError, UsageError
from monitor.reports.check import CheckReport
from monitor.store import StoreOwner

# A daemon at work gives a sign of life every second.
ANSWER_SECONDS = 5.0

OnWords = Callable[[str, str, int, int], None]


def check_through_daemon(
    config: Config, owner: StoreOwner, selection: Selection, on_words: OnWords
) -> CheckReport:
    """Return the daemon's report. Raises ``StoreBusyError`` if it does not answer in 5 s."""
    try:
        return _check(config, owner, selection, on_words)
    except httpx.HTTPError as error:
        msg = (
            f"{config.storage_path}: process {owner.pid} owns this store, but its daemon at "
            f"{owner.url} does not answer ({type(error).__name__}); stop it, or wait for it"
        )
        raise StoreBusyError(msg) from error


def _check(
    config: Config, owner: StoreOwner, selection: Selection, on_words: OnWords
) -> CheckReport:
    asked = {
        "targets": selection.targets,
        "probes": selection.probes,
        "profile": selection.profile,
        "require_coverage": selection.require_coverage,
    }
    headers = {"Authorization": f"Bearer {api_token(config)}"}
    patience = httpx.Timeout(ANSWER_SECONDS)
    url = f"{owner.url}/api/check"
    with (
        httpx.Client(trust_env=False, timeout=patience, follow_redirects=False) as client,
        client.stream("POST", url, json=asked, headers=headers) as reply,
    ):
        if reply.status_code != httpx.codes.OK:
            msg = f"the daemon at {owner.url} refused the check (HTTP {reply.status_code})"
            raise UsageError(msg)
        return _report(reply.iter_lines(), on_words)


def _report(lines: Iterator[str], on_words: OnWords) -> CheckReport:
    for line in lines:
        said = json.loads(line)
        if "step" in said:
            step = said["step"]
            on_words(step["target"], step["words"], step["done"], step["total"])
        elif "error" in said:
            raise UsageError(said["error"])
        elif "report" in said:
            return CheckReport.model_validate(said["report"])
    msg = "the daemon stopped before the check came to its end"
    raise UsageError(msg)
