"""Whether a report holds, offline: from its folder, a public key, and perhaps the one before.

Nothing in the folder is trusted, least of all the key it names. What is not checked is said.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from monitor.certificate.keys import PublicKey
from monitor.weekly.manifest import (
    MANIFEST_FILE,
    MOST_MANIFEST_BYTES,
    FilePart,
    Manifest,
    canonical,
    sha256,
    to_sign,
)
from monitor.weekly.week import Week

_PIECE = 1 << 20


class BadManifestError(ValueError):
    """A folder has no manifest that could hold; the message says why and quotes nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What became of a report: it holds if there are no ``problems``.

    ``key_checked`` and ``chain_checked`` say whether a key and a report before were given to check
    it against. ``manifest`` is ``None`` if there is none to be shown. ``previous_environment`` is
    that of the report before if it was given and is of another one.
    """

    problems: tuple[str, ...]
    key_checked: bool
    chain_checked: bool
    manifest: Manifest | None = None
    manifest_sha256: str = ""
    previous_environment: str = ""


def verify(folder: Path, key: PublicKey | None, previous: Path | None = None) -> Verified:
    """Verify the report in a folder, and that it follows the one in ``previous``."""
    try:
        manifest, content = read_manifest(folder)
    except BadManifestError as error:
        return Verified(problems=(str(error),), key_checked=False, chain_checked=False)
    if key is not None and (problem := key_problem(manifest, key)):
        return Verified(problems=(problem,), key_checked=True, chain_checked=False)
    problems = [*_name_problems(folder, manifest), *_file_problems(folder, manifest)]
    other = ""
    if previous is not None:
        problems += _chain_problems(manifest, previous, key)
        other = other_environment(manifest.environment, previous)
    return Verified(
        problems=tuple(problems),
        key_checked=key is not None,
        chain_checked=previous is not None,
        manifest=manifest,
        manifest_sha256=sha256(content),
        previous_environment=other,
    )


def other_environment(environment: str, previous: Path) -> str:
    """Return the environment of the report before if it is another; "" if it cannot be read."""
    try:
        before, _ = read_manifest(previous)
    except BadManifestError:
        return ""
    return before.environment if before.environment != environment else ""


def read_manifest(folder: Path) -> tuple[Manifest, bytes]:
    """Return the manifest of a folder and its bytes. Raises ``BadManifestError``."""
    content = _start_of(folder / MANIFEST_FILE)
    if len(content) > MOST_MANIFEST_BYTES:
        raise BadManifestError(f"{MANIFEST_FILE} is larger than any manifest")
    try:
        manifest = Manifest.model_validate_json(content)
        Week.parse(manifest.week)
        written = canonical(manifest)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(each) for each in wrong["loc"] if str(each).isidentifier())
        problem = f"{MANIFEST_FILE} is no manifest of version 1: {where or 'all'} ({wrong['type']})"
        raise BadManifestError(problem) from None
    except (ValueError, RecursionError):
        raise BadManifestError(f"{MANIFEST_FILE} is no JSON, or of no week there is") from None
    if written != content:
        raise BadManifestError(
            f"{MANIFEST_FILE} is not written as manifests are: something was changed"
        )
    return manifest, content


def _start_of(file: Path) -> bytes:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise BadManifestError(f"{MANIFEST_FILE} is not a file")
            return opened.read(MOST_MANIFEST_BYTES + 1)
    except OSError:
        raise BadManifestError(f"{MANIFEST_FILE} is not there, or cannot be read") from None


def key_problem(manifest: Manifest, key: PublicKey) -> str:
    """Return why a manifest is not one that this key signed, empty if it is."""
    if manifest.public_key != key.fingerprint:
        return f"it names the key {manifest.public_key[:16]}…, and yours is another"
    if not key.verifies(manifest.signature, to_sign(manifest)):
        return "the signature is not of this manifest by this key: something was changed"
    return ""


def other_week(folder: Path, week: Week) -> str:
    """Return the week that a folder is named after, unless it is this one or none."""
    # Of a folder that is named as "." too.
    try:
        named = Week.parse(folder.absolute().name)
    except ValueError:
        return ""
    return named.label if named != week else ""


def _name_problems(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Yield a problem if a folder has the name of another week: who reads it there is misled."""
    if named := other_week(folder, Week.parse(manifest.week)):
        yield (
            f"the folder is named after another week: {named}, and the report is of {manifest.week}"
        )


def _file_problems(folder: Path, manifest: Manifest) -> Iterator[str]:
    listed = {part.name: part for part in manifest.files}
    if len(listed) < len(manifest.files):
        yield "the manifest lists a file twice"
    try:
        there = {entry.name for entry in os.scandir(folder)}
    except OSError:
        yield "the folder cannot be listed"
        return
    for name in sorted(there - listed.keys() - {MANIFEST_FILE}):
        # The name is whatever somebody gave it.
        yield f"a file is there that the manifest does not list: {name[:80]!a}"
    for name, part in listed.items():
        problem = "is missing" if name not in there else _difference(folder / name, part)
        if problem:
            yield f"{name} {problem}"


def _difference(file: Path, part: FilePart) -> str:
    """Return in what a file is not the one that is listed, empty if in nothing."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as opened:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                return "is not a file"
            if found.st_size != part.bytes:
                return f"has {found.st_size} bytes, and the manifest says {part.bytes}"
            hashed = hashlib.sha256()
            while piece := opened.read(_PIECE):
                hashed.update(piece)
    except OSError:
        return "cannot be read as a file"
    return "" if hashed.hexdigest() == part.sha256 else "was changed: its SHA-256 is another"


def _chain_problems(manifest: Manifest, folder: Path, key: PublicKey | None) -> Iterator[str]:
    try:
        before, content = read_manifest(folder)
    except BadManifestError as error:
        yield f"the report before: {error}"
        return
    if key is not None and (problem := key_problem(before, key)):
        yield f"the report before: {problem}"
        return
    named = manifest.previous
    if named is None:
        yield "it says that there was no report before it"
    elif (named.week, named.manifest_sha256) != (before.week, sha256(content)):
        yield f"it follows another report than the one given: that of {named.week}"
    elif named.weeks_between != weeks_between(Week.parse(manifest.week), Week.parse(before.week)):
        yield "it says of the wrong number of weeks that they have no report"
    for problem in (*_name_problems(folder, before), *_file_problems(folder, before)):
        yield f"the report before: {problem}"


def weeks_between(week: Week, earlier: Week) -> int:
    """Return how many weeks lie between two; negative unless ``earlier`` is."""
    return week.weeks_since(earlier) - 1
