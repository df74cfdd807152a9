"""What the servers of ours share: where they listen, under which names they answer, how they stop.

A page of the web can make a browser send requests to this machine under a name of its own. What
spends or reveals therefore needs a known name, besides its token.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Collection, Iterator

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from monitor.errors import UsageError

_REFUSAL = "unknown host name: add it to listen.hosts\n"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - only compared


def own_names(host: str, further: Collection[str] = ()) -> frozenset[str]:
    """Return the names of a server that listens on ``host``: loopback's, its own, and further."""
    own = () if host in _EVERY_ADDRESS else (host,)
    return frozenset(name.strip("[]").lower() for name in (*_LOOPBACK, *own, *further))


def listening(host: str, port: int, keys: str) -> socket.socket:
    """Return a socket bound there. Raises ``UsageError`` that names ``keys`` if none can be."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        msg = f"cannot serve on {host}:{port}: {reason} (change {keys})"
        raise UsageError(msg) from error
    return listener


def url_of(host: str, port: int) -> str:
    """Return where a server answers on this machine; every address is reached by loopback."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not bound to
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def host_name(header: str) -> str:
    """Return the name in a Host header, without its port or the brackets of an IPv6 address."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return (header if header.count(":") > 1 else header.partition(":")[0]).lower()


class KnownHost:
    """Refuses requests under unknown names, but for pages that hold neither secrets nor text."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], open_paths: Collection[str]) -> None:
        self._app = app
        self._hosts = hosts
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        guarded = scope["type"] in ("http", "websocket") and scope["path"] not in self._open_paths
        if guarded and host_name(Headers(scope=scope).get("host", "")) not in self._hosts:
            await PlainTextResponse(_REFUSAL, status_code=400)(scope, receive, send)
            return
        await self._app(scope, receive, send)


class QuietServer(uvicorn.Server):
    """uvicorn without its own signal handlers: stopping is ours, in our order."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield
