"""The command line of the lab: start, say where, stay until told to stop."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import signal
import socket
import sys
from collections.abc import Mapping

import uvicorn

from monitor.lab.mechanisms.catalogue import (
    MECHANISMS,
    UnknownMechanismError,
    assemble,
    parse_sets,
)
from monitor.lab.node_server import NodeFace
from monitor.lab.ports import GATEWAY, Port, Ports
from monitor.lab.responder import facts
from monitor.lab.server import application
from monitor.lab.service import Service
from monitor.lab.settings import (
    MAX_CONTEXT_TOKENS,
    MIN_CONTEXT_TOKENS,
    TENANTS,
    LabSettings,
    Mode,
    NodeRole,
)

# Longer than any answer takes; who holds a connection open longer is cut off.
_SHUTDOWN_SECONDS = 3
_BACKLOG = 2048
_LOOPBACK = ("127.0.0.1", "localhost")


def main(argv: list[str] | None = None) -> int:
    """Run the lab; return an exit code."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.list_faults:
        sys.stdout.write(json.dumps(_listed()) + "\n" if options.json else _list())
        return 0
    try:
        values = parse_sets(options.set)
        settings, steps = assemble(
            _settings(options), options.fault, values, mode=options.mode, draw=options.draw
        )
    except UnknownMechanismError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    serve(Service(settings, steps), options.host, options.port)
    return 0


def serve(service: Service, host: str, port: int) -> None:
    """Listen, print one line of JSON, answer until a signal comes, and print what happened."""
    facts.load()
    listener = _listener(host, port)
    first = service.settings.node_port
    nodes = {
        role: _listener(host, first + place if first else 0)
        for place, role in enumerate(service.settings.roles)
    }
    ports = Ports(
        Port(GATEWAY, application(service)),
        {_port(each): Port(role, NodeFace(service, role)) for role, each in nodes.items()},
    )
    config = uvicorn.Config(
        ports,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    server = uvicorn.Server(config)
    # The server stops in good order and then raises the signal again: that is a normal end here.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.handle_exit)
    where = {role: f"http://{host}:{_port(each)}" for role, each in nodes.items()}
    _say(announcement(service.settings, f"http://{host}:{_port(listener)}", where))
    with contextlib.ExitStack() as open_sockets:
        sockets = [open_sockets.enter_context(each) for each in (listener, *nodes.values())]
        server.run(sockets=sockets)
    _say({**service.report(), "asked": ports.asked})


def _listener(host: str, port: int) -> socket.socket:
    # With the protocol named, accepted connections send small packets at once.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    # Who reads the announcement may connect at once, and stop the lab at once.
    listener.listen(_BACKLOG)
    return listener


def _port(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def _say(what: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def announcement(
    settings: LabSettings, base: str, nodes: Mapping[NodeRole, str]
) -> dict[str, object]:
    """Return what a client needs to know; nothing tells which faults are on."""
    said: dict[str, object] = {
        "url": f"{base}/v1",
        "base": base,
        "model": settings.model,
        "context_tokens": settings.context_tokens,
        "keys": dict(settings.keys),
        "seed": settings.seed,
        "nodes": [{"name": role, "role": role, "url": url} for role, url in nodes.items()],
    }
    return said | ({"node_token": settings.node_token} if settings.node_auth else {})


def node_token(seed: int) -> str:
    """Return the token of the nodes: a function of the seed."""
    return "sk-node-" + hashlib.sha256(f"{seed}/node".encode()).hexdigest()[:24]


def tenant_keys(seed: int) -> dict[str, str]:
    """Return the API key of every tenant: a function of the seed."""
    return {
        name: "sk-lab-" + hashlib.sha256(f"{seed}/key/{name}".encode()).hexdigest()[:24]
        for name in TENANTS
    }


def _settings(options: argparse.Namespace) -> LabSettings:
    return LabSettings(
        context_tokens=options.context,
        seed=options.seed,
        keys=tenant_keys(options.seed),
        node_token=node_token(options.seed),
    )


def _context(text: str) -> int:
    value = int(text)
    if not MIN_CONTEXT_TOKENS <= value <= MAX_CONTEXT_TOKENS:
        message = f"between {MIN_CONTEXT_TOKENS} and {MAX_CONTEXT_TOKENS}"
        raise argparse.ArgumentTypeError(message)
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="davylamp lab", description="A simulated serving cluster with real faults."
    )
    parser.add_argument("--host", default="127.0.0.1", choices=_LOOPBACK)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME")
    parser.add_argument("--set", action="append", default=[], metavar="NAME.PARAM=VALUE")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--context", type=_context, default=4096, metavar="TOKENS")
    parser.add_argument("--mode", type=Mode, choices=list(Mode), default=None)
    parser.add_argument(
        "--draw", action="store_true", help="draw from the seed what is not set of each fault"
    )
    parser.add_argument("--list-faults", action="store_true")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    return parser


def _list() -> str:
    lines = []
    for null, title in ((False, "Faults"), (True, "Nulls (peculiar, but not wrong)")):
        lines.append(title)
        for mechanism in MECHANISMS.values():
            if mechanism.null is null:
                params = ", ".join(f"{key}={value}" for key, value in mechanism.params.items())
                lines.append(f"  {mechanism.name}: {mechanism.sentence} [{params}]")
    return "\n".join(lines) + "\n"


def _listed() -> list[dict[str, object]]:
    return [
        {
            "name": mechanism.name,
            "null": mechanism.null,
            "sentence": mechanism.sentence,
            "params": dict(mechanism.params),
            "shown_by": mechanism.shown_by,
            "deterministic": mechanism.deterministic,
            "drawn": {name: str(each) for name, each in mechanism.drawn_from().items()},
        }
        for mechanism in MECHANISMS.values()
    ]
