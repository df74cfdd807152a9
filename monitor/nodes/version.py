"""Versions as engines state them: only a plain release may be compared with another.

A build from a repository says little of what is in it (``0.0.0.dev1+g70df09b83`` may be newer than
every release), and a local build may hold patches. "Old" is never concluded from one of these.
Grammar: https://peps.python.org/pep-0440/.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from packaging.version import InvalidVersion, Version

_MAX_CHARS = 64
_BUILD = re.compile(r"b(\d{1,9})(?:-[0-9a-f]{4,40})?", re.ASCII)
_FIRST_COUNTED_BUILD = 1_000
_WHOLE = re.compile(r"v?(\d[\w.]*)(\+[\w.]+)?", re.ASCII)


class VersionKind(StrEnum):
    """What a version can be compared as."""

    RELEASE = "release"
    PRERELEASE = "prerelease"
    DEVELOPMENT = "development"
    LOCAL = "local"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineVersion:
    """A version: ``number`` is there for a release alone, so that nothing else is compared."""

    text: str
    kind: VersionKind
    number: Version | None = None


def read_version(text: str) -> EngineVersion:
    """Return what ``text`` can be compared as; never raises.

    Releases are PEP 440 in its own spelling (``0.5.10.post1``, also with a ``v``) and the numbered
    builds of llama.cpp (``b6123-1a2b3c4``, compared as 6123). A build number below 1,000 was
    counted in a copy without history, and says nothing.
    """
    if build := _BUILD.fullmatch(text):
        if int(build[1]) < _FIRST_COUNTED_BUILD:
            return EngineVersion(text=text, kind=VersionKind.DEVELOPMENT)
        return EngineVersion(text=text, kind=VersionKind.RELEASE, number=Version(build[1]))
    version = _parsed(text)
    if version is None:
        return EngineVersion(text=text, kind=VersionKind.UNREADABLE)
    kind = _kind(version)
    number = version if kind is VersionKind.RELEASE else None
    return EngineVersion(text=text, kind=kind, number=number)


def _parsed(text: str) -> Version | None:
    """Return the version of a text in its plain spelling: ``0.5.11-52`` counts commits instead."""
    found = _WHOLE.fullmatch(text) if len(text) <= _MAX_CHARS else None
    if found is None:
        return None
    try:
        version = Version(text)
    except InvalidVersion:
        return None
    return version if version.public == found[1] else None


def _kind(version: Version) -> VersionKind:
    if version.is_devrelease or not any(version.release):
        return VersionKind.DEVELOPMENT
    if version.local is not None:
        return VersionKind.LOCAL
    return VersionKind.PRERELEASE if version.is_prerelease else VersionKind.RELEASE
