"""The line to a running daemon: a client that waits 5 s, and what comes over it, read with care."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from monitor.config import Config
from monitor.daemon.token import api_token
from monitor.errors import DavylampError, StoreBusyError, UnsureError, UsageError
from monitor.store import StoreOwner

# A daemon at work gives a sign of life every second.
ANSWER_SECONDS = 5.0


@contextmanager
def _answering(config: Config, owner: StoreOwner) -> Iterator[httpx.Client]:
    """Give a client of the daemon. Raises ``StoreBusyError`` if it does not answer in 5 s."""
    try:
        with httpx.Client(
            base_url=owner.url or "",
            headers={"Authorization": f"Bearer {api_token(config)}"},
            trust_env=False,
            timeout=httpx.Timeout(ANSWER_SECONDS),
            follow_redirects=False,
        ) as client:
            yield client
    except httpx.HTTPError as error:
        msg = (
            f"{config.storage_path}: process {owner.pid} owns this store, but its daemon at "
            f"{owner.url} does not answer ({type(error).__name__}); stop it, or wait for it"
        )
        raise StoreBusyError(msg) from error


def told(config: Config, owner: StoreOwner, path: str) -> dict[str, Any]:
    """Return the daemon's answer of a page. Raises ``UsageError`` for one that is an error."""
    with _answering(config, owner) as client:
        reply = client.get(path)
    said = _object_of(reply.text, f"HTTP {reply.status_code}")
    if "error" in said:
        raise UsageError(said["error"])
    return said


def _object_of(text: str, where: str) -> dict[str, Any]:
    """Return the object that JSON of the daemon holds. Raises ``UsageError`` if it is none."""
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    if isinstance(said, dict):
        return said
    msg = (
        f"the daemon gave no answer that can be read ({where}): it has no such page, is of another "
        "version than this command, or something else listens there"
    )
    raise UsageError(msg)


def streamed(
    config: Config,
    owner: StoreOwner,
    what: str,
    asked: dict[str, Any],
    on_step: Callable[[dict[str, Any]], None],
) -> object:
    """Ask the daemon for work and return its report, telling the steps as they come."""
    with (
        _answering(config, owner) as client,
        client.stream("POST", f"/api/{what}", json=asked) as reply,
    ):
        if reply.status_code != httpx.codes.OK:
            raise UsageError(_refusal(reply, owner, what))
        return report_of(reply.iter_lines(), on_step, what)


def _refusal(reply: httpx.Response, owner: StoreOwner, what: str) -> str:
    """Return that the daemon refused, and why. Raises ``UsageError`` if it says nothing of ours."""
    reply.read()
    status = f"HTTP {reply.status_code}"
    why = _object_of(reply.text, status).get("error", "it does not say why")
    return f"the daemon at {owner.url} refused the {what} ({status}): {why}"


def report_of(lines: Iterator[str], on_step: Callable[[dict[str, Any]], None], what: str) -> object:
    """Return the report that ends the lines, telling the steps before it.

    Raises ``UsageError`` or ``UnsureError`` for an error of the daemon, and if no report comes.
    """
    for line in lines:
        said = _object_of(line, what)
        if "step" in said:
            on_step(said["step"])
        elif "error" in said:
            raise (UnsureError if said.get("unsure") else UsageError)(said["error"])
        elif "crashed" in said:
            msg = f"the {what} crashed inside the daemon, see its log: {said['crashed']}"
            raise DavylampError(msg)
        elif "report" in said:
            return said["report"]
    msg = f"the daemon stopped before the {what} came to its end"
    raise UsageError(msg)
