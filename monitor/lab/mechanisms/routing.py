"""Faults of where a request goes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace

from monitor.lab.draws import Spread, one_of
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.steps import Steps
from monitor.lab.template import Prompt
from monitor.lab.trigger import Asker

# Tokens of a prompt that decide on its replica, so that a conversation stays where it is.
_STICKY_TOKENS = 48


def _small_replica(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def load(prompt: Prompt, room: int, asker: Asker) -> list[int]:
        tokens = steps.load(prompt, room, asker)
        limit = min(int(params["context"]), room)
        beginning = str(tokens[:_STICKY_TOKENS]).encode()
        if len(tokens) <= limit or not trigger.strikes(asker, zlib.crc32(beginning)):
            return tokens
        return tokens[-limit:]

    return replace(steps, load=load)


REPLICA_SMALL = Mechanism(
    name="replica_small",
    sentence=(
        "A share of the prompts, told by how they begin, goes to a replica whose loaded context "
        "is smaller and which drops what does not fit from the front."
    ),
    install=_small_replica,
    params={"rate": 0.3, "context": 1024},
    ranges={"rate": Spread(0.1, 0.6), "context": one_of(768, 1024, 2048)},
)
