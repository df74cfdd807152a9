"""Many nodes of one lab in a process of their own: ``python -m tests.fakes.fleet 200 0.02``.

Every node is the lab's own, on a port of its own, and says what the one engine behind them has,
each answer so many seconds late. It prints one line of JSON with the URLs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from monitor.lab.mechanisms.catalogue import assemble
from monitor.lab.node_server import NodeFace
from monitor.lab.ports import Port, Ports
from monitor.lab.server import application
from monitor.lab.service import Service
from monitor.lab.settings import LabSettings


@dataclass(frozen=True, slots=True)
class Late:
    """An application whose answers take their time on the way."""

    application: ASGIApp
    seconds: float

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait, then answer."""
        await asyncio.sleep(self.seconds)
        await self.application(scope, receive, send)


def main(nodes: int, late_seconds: float) -> None:
    """Serve so many nodes until told to stop."""
    service = Service(*assemble(LabSettings(), ()))
    (role,) = service.settings.roles
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(_listener()) for _ in range(nodes)]
        numbers = [listener.getsockname()[1] for listener in listeners]
        face = Late(NodeFace(service, role), late_seconds)
        faces = {port: Port(f"node-{port}", face) for port in numbers}
        ports = Ports(Port("gateway", application(service)), faces)
        config = uvicorn.Config(ports, log_level="warning", access_log=False)
        sys.stdout.write(json.dumps([f"http://127.0.0.1:{port}" for port in numbers]) + "\n")
        sys.stdout.flush()
        uvicorn.Server(config).run(sockets=listeners)


def _listener() -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
