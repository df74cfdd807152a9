"""What may stand nowhere in the file: pasted secrets, variables to expand, keys without a value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from monitor.config.positions import Positions, path_of
from monitor.config.problems import secret_key_words
from monitor.config.secrets import SECRET_KEYS, key_likeness
from monitor.errors import ConfigError

_NAMES_SECRETS = ("_env", "_file")
_LONG_NAMES = frozenset({"model", "url", "base_url", "path", "context_tokens"})


def forbidden(data: object, positions: Positions, file: Path) -> Iterator[ConfigError]:
    """Yield an error for each such value, wherever it stands, plug sections included."""
    for path, key, value, _ in _walk(data, "", "", named=False):
        words = wrong_with(key, value)
        if words is not None:
            yield _error(words, path, positions, file)


def written_secrets(data: object, positions: Positions, file: Path) -> Iterator[ConfigError]:
    """Yield an error for each key that can only hold a secret, such as ``password``."""
    for path, key, value, named in _walk(data, "", "", named=False):
        scalar = isinstance(value, str | int | float)
        if scalar and not named and key.lower().replace("-", "_") in SECRET_KEYS:
            yield _error(secret_key_words(key), path, positions, file)


def _error(words: tuple[str, str], path: str, positions: Positions, file: Path) -> ConfigError:
    problem, remedy = words
    return ConfigError(problem, file=file, line=positions.line(path), path=path, remedy=remedy)


def _walk(
    value: object, path: str, key: str, *, named: bool
) -> Iterator[tuple[str, str, object, bool]]:
    """Yield path, key, value, and whether a ``*_env`` or ``*_file`` key stands above."""
    if path:
        yield path, key, value, named
    if isinstance(value, dict):
        below = named or key.endswith(_NAMES_SECRETS)
        for name, item in value.items():
            yield from _walk(item, path_of((name,), path), name, named=below)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, f"{path}[{index}]", key, named=named)


def wrong_with(key: str, value: object) -> tuple[str, str] | None:
    """Return problem and remedy if ``value`` may not be written under ``key``."""
    if value is None:
        return "has no value", "give it one, or delete the line; empty is written {} or []"
    if key_likeness(key):
        return "this key looks like a secret", "remove it, and replace the secret: it was exposed"
    if not isinstance(value, str):
        return None
    looks_like = key_likeness(
        value, random_too=key not in _LONG_NAMES and not key.endswith("_file")
    )
    if looks_like:
        remedy = "name it with *_env or *_file, and replace it: it was exposed"
        return f"looks like {looks_like}", remedy
    if "${" in value:
        return (
            "variables are not expanded",
            "write the value out; name secrets with *_env or *_file",
        )
    return None
