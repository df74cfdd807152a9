"""Taking dashboards to a Grafana over its HTTP API: a folder, and each dashboard in it by its uid.

https://grafana.com/docs/grafana/latest/developers/http_api/dashboard/ and …/folder/. What a
server answers is never shown: a status, and of a refusal one of the words that are documented.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from monitor.clock import Clock
from monitor.grafana.shipped import Dashboard
from monitor.http import HttpClient, Limits, RawReply, origin_of

TIMEOUT_SECONDS = 30.0
_ANSWER_BYTES = 1_000_000
# Why Grafana refuses to save, as documented for its 412.
_REASONS = {
    "version-mismatch": "it is there already, perhaps changed by somebody (push with --overwrite)",
    "name-exists": "another dashboard of the folder has its title (rename or remove that one)",
    "plugin-dashboard": "it belongs to a plugin there",
}
_WHY = {
    HTTPStatus.BAD_REQUEST: (
        "it comes from a file there (provisioned), or is not as that version of Grafana reads it"
    ),
    HTTPStatus.CONFLICT: "a folder of this title is there already (--folder)",
    HTTPStatus.UNAUTHORIZED: "the token is not accepted",
    HTTPStatus.FORBIDDEN: "the token may not do this (it needs dashboards:write, folders:create)",
    HTTPStatus.NOT_FOUND: "there is no Grafana, or no such folder",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grafana:
    """Where to, and as whom. ``folder`` is the uid of a folder, made with ``title`` if absent."""

    url: str
    folder: str
    title: str
    token: str | None = field(default=None, repr=False)
    overwrite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What became of one thing. ``reached`` is false where Grafana gave no answer."""

    name: str
    good: bool
    words: str
    reached: bool = True


async def push(
    grafana: Grafana,
    dashboards: Sequence[Dashboard],
    clock: Clock,
    *,
    message: str,
) -> tuple[Pushed, ...]:
    """Make the folder if it is not there, then save each dashboard. Ends where nothing answers."""
    client = HttpClient(
        origins=frozenset({origin_of(grafana.url)}),
        clock=clock,
        limits=Limits(body_bytes=_ANSWER_BYTES),
    )
    try:
        at = _Api(client, grafana)
        done = [await at.folder()]
        for dashboard in dashboards if done[0].good else ():
            done.append(await at.save(dashboard, message))
            if not done[-1].reached:
                break
        return tuple(done)
    finally:
        await client.aclose()


class _Api:
    def __init__(self, client: HttpClient, grafana: Grafana) -> None:
        self._client = client
        self._grafana = grafana

    async def folder(self) -> Pushed:
        """Make the folder, unless it is there."""
        grafana = self._grafana
        name = f"folder {grafana.folder}"
        found = await self._send("GET", f"/api/folders/{grafana.folder}")
        if found.status == HTTPStatus.OK:
            return self._taken(name, found, grafana.folder, "is there")
        if found.status != HTTPStatus.NOT_FOUND:
            return _refused(name, found)
        asked = {"uid": grafana.folder, "title": grafana.title}
        made = await self._send("POST", "/api/folders", asked)
        if made.status == HTTPStatus.OK:
            return self._taken(name, made, grafana.folder, "made")
        return _refused(name, made)

    async def save(self, dashboard: Dashboard, message: str) -> Pushed:
        """Save a dashboard under its uid. One that is there is only replaced with ``overwrite``."""
        grafana = self._grafana
        asked = {
            "dashboard": {**dashboard.data, "id": None},
            "folderUid": grafana.folder,
            "message": message,
            "overwrite": grafana.overwrite,
        }
        reply = await self._send("POST", "/api/dashboards/db", asked)
        if reply.status == HTTPStatus.OK:
            words = f"saved: {dashboard.title}"
            return self._taken(dashboard.uid, reply, dashboard.uid, words)
        return _refused(dashboard.uid, reply)

    @staticmethod
    def _taken(name: str, reply: RawReply, uid: str, words: str) -> Pushed:
        """Believe a 200 only if it names what was asked for: a page to log in is one too."""
        if _json(reply).get("uid") == uid:
            return Pushed(name=name, good=True, words=words)
        what = "HTTP 200, but not as Grafana answers: a page to log in, or a proxy, before it?"
        return Pushed(name=name, good=False, words=what)

    async def _send(
        self, method: str, path: str, asked: Mapping[str, Any] | None = None
    ) -> RawReply:
        headers = {"Accept": "application/json"}
        if self._grafana.token is not None:
            headers["Authorization"] = f"Bearer {self._grafana.token}"
        body = None
        if asked is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(asked).encode()
        url = f"{self._grafana.url.rstrip('/')}{path}"
        return await self._client.send(
            method, url, headers=headers, body=body, timeout_seconds=TIMEOUT_SECONDS
        )


def _refused(name: str, reply: RawReply) -> Pushed:
    if reply.status is None:
        kind = reply.failure.kind.value if reply.failure else "no answer"
        return Pushed(name=name, good=False, words=f"Grafana gave no answer: {kind}", reached=False)
    if reply.status == HTTPStatus.PRECONDITION_FAILED:
        why = _REASONS.get(str(_json(reply).get("status")), "refused as it stands there")
    else:
        why = _WHY.get(HTTPStatus(reply.status), "") if reply.status in list(HTTPStatus) else ""
    words = f"HTTP {reply.status}{': ' if why else ''}{why}"
    return Pushed(name=name, good=False, words=words)


def _json(reply: RawReply) -> dict[str, Any]:
    try:
        said = json.loads(reply.body)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
