"""The ports of a lab: the gateway's and one for each node, in one server; what each was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Receive, Scope, Send

GATEWAY = "gateway"
# What is asked of one port beyond so many kinds, and how much of a path is kept.
_MOST_PATHS = 200
_PATH_CHARACTERS = 120
_OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Port:
    """One of them: whose it is, and what answers there."""

    name: str
    application: ASGIApp


@dataclass(slots=True)
class Ports:
    """An ASGI application that is another one on each port, and counts what is asked by path."""

    gateway: Port
    nodes: Mapping[int, Port]
    _asked: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def asked(self) -> Mapping[str, Mapping[str, int]]:
        """Return, for each port by name, how often each method and path was asked for."""
        return {name: dict(counts) for name, counts in self._asked.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand over to whoever answers on the port that was asked."""
        port = self.gateway
        if scope["type"] == "http":
            port = self.nodes.get((scope.get("server") or ("", 0))[1], self.gateway)
            self._count(port.name, f"{scope['method']} {scope['path'][:_PATH_CHARACTERS]}")
        await port.application(scope, receive, send)

    def _count(self, name: str, what: str) -> None:
        counts = self._asked.setdefault(name, Counter())
        counts[what if what in counts or len(counts) < _MOST_PATHS else _OTHERS] += 1
