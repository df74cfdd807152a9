"""What a folder of rules lacks, has in excess or says otherwise than would be built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from monitor.slo.rules import HEAD


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One file that is not as it would be built, and in words how."""

    file: str
    words: str


def differences(wanted: Mapping[str, str], found: Mapping[str, str]) -> Iterator[Difference]:
    """Yield what is different. Files that are not ours may lie beside; they are not compared."""
    for name, text in wanted.items():
        if name not in found:
            yield Difference(file=name, words="is missing")
        elif found[name] != text:
            line = _first_difference(text, found[name])
            yield Difference(file=name, words=f"is not what would be built, from line {line} on")
    for name in sorted(found.keys() - wanted.keys()):
        if found[name].startswith(HEAD):
            yield Difference(file=name, words="is made by nothing any more")


def _first_difference(wanted: str, found: str) -> int:
    lines = list(zip(wanted.splitlines(), found.splitlines(), strict=False))
    same = (number for number, (a, b) in enumerate(lines, start=1) if a != b)
    return next(same, len(lines) + 1)
