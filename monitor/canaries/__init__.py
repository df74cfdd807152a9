"""Canaries: mint markers, remember their owners, find them in answers, weigh the evidence."""

from monitor.canaries.evidence import (
    HINT_BITS,
    LEAK_BITS,
    MatchKind,
    PartialEvidence,
    accumulate,
    net_bits,
)
from monitor.canaries.keys import InstallationKey
from monitor.canaries.match import Match
from monitor.canaries.mint import Minter
from monitor.canaries.registry import MarkerRegistry
from monitor.canaries.scan import Echo, Echoes, Scan, echo, is_code, scan_answer

__all__ = [
    "HINT_BITS",
    "LEAK_BITS",
    "Echo",
    "Echoes",
    "InstallationKey",
    "MarkerRegistry",
    "Match",
    "MatchKind",
    "Minter",
    "PartialEvidence",
    "Scan",
    "accumulate",
    "echo",
    "is_code",
    "net_bits",
    "scan_answer",
]
