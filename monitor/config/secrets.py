"""Secrets are named in the configuration, never written in it.

``SecretRef`` is the name; ``resolve_secret`` is the only way to the value. ``key_likeness`` finds
values that somebody pasted by mistake, so that no message ever repeats one. Where none is named,
``own_secret`` makes one that stays with the installation.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from monitor.errors import ConfigError, UsageError

SECRET_FILE_MAX_BYTES = 65_536
MAX_QUOTED = 60
MAX_DIGITS = 40
_KEY_VARIETY = 12

SECRET_KEYS = frozenset(
    {
        "api_key",
        "apikey",
        "auth",
        "authorization",
        "bearer",
        "bearer_token",
        "credential",
        "credentials",
        "key",
        "passwd",
        "password",
        "private_key",
        "routing_key",
        "secret",
        "token",
    }
)

_SHAPES = (
    ("an API key", re.compile(r"(?<![A-Za-z0-9])(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,}")),
    ("an API key", re.compile(r"(?<![A-Za-z0-9])(?:hf|ghp|gho|ghs|glpat|npm)[-_][A-Za-z0-9]{16,}")),
    (
        "an API key",
        re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\bxox[abps]-"),
    ),
    ("a bearer token", re.compile(r"(?i)\bbearer\s+\S{4,}")),
    ("a signed token", re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+")),
    ("a private key", re.compile(r"-----BEGIN ")),
    ("a URL with a password", re.compile(r"(?i)[a-z][a-z0-9+.-]*://[^/\s@:]*:[^/\s@]+@")),
)
_RUN = re.compile(r"[A-Za-z0-9+=]{24,}")
_HEX = re.compile(r"[0-9a-fA-F]{32,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in which file something was written, for messages."""

    file: Path
    line: int | None
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRef:
    """The name of a secret: an environment variable or a file. Safe to print."""

    kind: str
    name: str
    place: Place

    def __str__(self) -> str:
        return f"${self.name}" if self.kind == "env" else self.name


def key_likeness(text: str, *, random_too: bool = True) -> str | None:
    """Return what ``text`` looks like (``an API key``, …), or ``None`` if it looks harmless.

    ``random_too`` also suspects long random strings; switch it off for model names and paths.
    """
    for what, shape in _SHAPES:
        if shape.search(text):
            return what
    if random_too and any(_is_random(run) for run in _RUN.findall(text)):
        return "a random key"
    return None


def _is_random(run: str) -> bool:
    if _HEX.fullmatch(run):
        return True
    kinds = (
        any(c.isdigit() for c in run),
        any(c.islower() for c in run),
        any(c.isupper() for c in run),
    )
    return kinds[0] and any(kinds[1:]) and len(set(run)) >= _KEY_VARIETY


def quoted(value: object) -> str:
    """Return ``value`` for a message: in quotes if short and harmless, else only described."""
    if isinstance(value, str):
        risky = key_likeness(value) or ("://" in value and "@" in value)
        if risky or len(value) > MAX_QUOTED or not value.isprintable():
            return f"a text of {len(value)} characters"
        return f"'{value}'"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value) if len(str(value)) <= MAX_DIGITS else "a very long number"
    return (
        "a section"
        if isinstance(value, dict)
        else "a list"
        if isinstance(value, list)
        else "nothing"
    )


def resolve_secret(ref: SecretRef, environ: Mapping[str, str] | None = None) -> str:
    """Return the secret's value; the error names the variable or file, never the value.

    A file is read relative to the configuration's folder; white space around the value is dropped.
    """
    found = _from_environment(ref, environ) if ref.kind == "env" else _from_file(ref)
    value = found.strip()
    if not value:
        raise _unusable(ref, "is empty")
    if not value.isprintable() or " " in value or not value.isascii():
        raise _unusable(ref, "does not hold one plain key (spaces, line breaks or odd characters)")
    return value


def own_secret(file: Path) -> str:
    """Return the secret in a file of our own, made on first use, that only its owner may read.

    Raises ``UsageError`` that names the file if it cannot be read, made, or holds nothing.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            _make_secret(file)
        value = file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is not text").lower()
        raise UsageError(f"{file} cannot be used: {reason}") from error
    if not value:
        raise UsageError(f"{file} is empty (remove it, and a new one is made)")
    return value


def _make_secret(file: Path) -> None:
    """Put a whole secret in place, or find that somebody else just did."""
    descriptor, draft = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as handle:
            handle.write(secrets.token_urlsafe(32))
        with contextlib.suppress(FileExistsError):
            os.link(draft, file)
    finally:
        Path(draft).unlink()


def _from_environment(ref: SecretRef, environ: Mapping[str, str] | None) -> str:
    found = (os.environ if environ is None else environ).get(ref.name)
    if found is None:
        raise _unusable(ref, "is not set")
    return found


def _from_file(ref: SecretRef) -> str:
    path = ref.place.file.parent / ref.name
    try:
        with path.open("rb") as handle:
            raw = handle.read(SECRET_FILE_MAX_BYTES + 1)
        if len(raw) > SECRET_FILE_MAX_BYTES:
            raise _unusable(ref, "is too large to be a secret")
        return raw.decode()
    except UnicodeDecodeError:
        raise _unusable(ref, "is not text") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise _unusable(ref, f"cannot be read: {reason.lower()}") from None


def _unusable(ref: SecretRef, problem: str) -> ConfigError:
    env = ref.kind == "env"
    subject = f"environment variable {ref.name}" if env else f"secret file {ref.name}"
    return ConfigError(
        f"{subject} {problem}",
        file=ref.place.file,
        line=ref.place.line,
        path=ref.place.path,
        remedy=f"export {ref.name} before starting"
        if env
        else "put the key, and nothing else, there",
    )
