"""Labs whose nodes are read: where the nodes are, and what each was asked for in the end."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from tests.integration.processes import Endpoint, Installation, first_line, process

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

STOP_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLab:
    """A lab that runs, with what it said of itself."""

    said: Mapping[str, Any]
    process: subprocess.Popen[str] = field(repr=False)

    @property
    def endpoint(self) -> Endpoint:
        """Its gateway."""
        return Endpoint(
            url=self.said["url"],
            model=self.said["model"],
            keys=self.said["keys"],
            context_tokens=self.said["context_tokens"],
        )

    @property
    def nodes(self) -> list[dict[str, str]]:
        """Its nodes as a configuration lists them."""
        return [{"name": node["name"], "url": node["url"]} for node in self.said["nodes"]]

    @property
    def named(self) -> list[str]:
        """Its nodes as the command line names them."""
        return [part for node in self.nodes for part in ("--node", node["url"])]

    def stop(self) -> dict[str, Any]:
        """End it, and return what it says that it did and was asked for."""
        assert self.process.stdout
        self.process.send_signal(signal.SIGTERM)
        line = self.process.stdout.readline()
        assert self.process.wait(STOP_SECONDS) == 0
        told: dict[str, Any] = json.loads(line)
        return told


@contextlib.contextmanager
def node_labs(arguments: Mapping[str, Sequence[str]]) -> Iterator[dict[str, NodeLab]]:
    """Serve a lab for each name while entered, all started at once."""
    command = [sys.executable, "-m", "monitor.lab", "--port", "0", "--seed", "7"]
    with contextlib.ExitStack() as stack:
        started = {
            name: stack.enter_context(process([*command, *more]))
            for name, more in arguments.items()
        }
        yield {
            name: NodeLab(said=json.loads(first_line(each)), process=each)
            for name, each in started.items()
        }


def nodes_only(
    folder: Path, targets: Mapping[str, Sequence[Mapping[str, Any]]], **more: Any
) -> Installation:
    """Write a configuration whose targets are there for their nodes alone."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "version": 1,
        "environment": "testing",
        "storage": {"path": str(folder / "store"), "sql": {"enabled": False}},
        "targets": [
            {"name": name, "nodes": [dict(node) for node in nodes]}
            for name, nodes in targets.items()
        ],
        **more,
    }
    installation = Installation(folder=folder, settings=settings)
    installation.config.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return installation
