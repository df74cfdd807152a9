"""Under which names the daemon answers.

A page of the web can make a browser send requests to this machine under a name of its own. What
spends or reveals therefore needs a known name, besides its token. Metrics and health hold neither
secrets nor text, and a scraper calls them by whatever name it found.
"""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from monitor.config.schema import Listen

OPEN_PATHS = frozenset({"/metrics", "/healthz", "/readyz"})
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - only compared


def known_hosts(listen: Listen) -> frozenset[str]:
    """Return the names under which the API may be called."""
    own = () if listen.host in _EVERY_ADDRESS else (listen.host,)
    return frozenset(name.strip("[]").lower() for name in (*_LOOPBACK, *own, *listen.hosts))


def host_name(header: str) -> str:
    """Return the name in a Host header, without its port or the brackets of an IPv6 address."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return (header if header.count(":") > 1 else header.partition(":")[0]).lower()


class KnownHost:
    """Refuses requests under unknown names, but for the open pages."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        guarded = scope["type"] in ("http", "websocket") and scope["path"] not in OPEN_PATHS
        if guarded and host_name(Headers(scope=scope).get("host", "")) not in self._hosts:
            refusal = PlainTextResponse(
                "unknown host name: add it to listen.hosts\n", status_code=400
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)
