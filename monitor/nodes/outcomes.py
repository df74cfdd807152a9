"""What a node came to, in the words of every other verdict."""

from __future__ import annotations

from collections.abc import Mapping

from monitor.model import Outcome, VerdictClass
from monitor.nodes.record import Conformity

CAME_TO: Mapping[Conformity, tuple[Outcome, VerdictClass]] = {
    Conformity.PASS: (Outcome.GOOD, VerdictClass.NONE),
    Conformity.WARN: (Outcome.GOOD, VerdictClass.SUSPECT),
    Conformity.FAIL: (Outcome.BAD, VerdictClass.UNSAFE_NODE),
    Conformity.UNKNOWN: (Outcome.INVALID, VerdictClass.NONE),
}
"""Outcome and class of a node by what the rules make of it."""
