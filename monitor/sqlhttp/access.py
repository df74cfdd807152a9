"""Who may read: one name, one password, which is not that of the daemon's API."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Mapping
from pathlib import Path

from monitor.config import Config, own_secret, resolve_secret
from monitor.sqlhttp.failures import Code, RefusedError

TOKEN_FILE = "sql.token"  # noqa: S105 - a file's name
USER = "davylamp"
# What clients say who are told a password only.
_NAMES = frozenset({USER, "default"})


def reader_token(config: Config) -> str:
    """Return the configured password of readers, or one of this installation, made on first use.

    Raises ``ConfigError`` for a secret that cannot be read, ``StoreError`` if none can be made.
    """
    if config.storage.sql.token is not None:
        return resolve_secret(config.storage.sql.token)
    return own_token(config.storage_path)


def own_token(folder: Path) -> str:
    """Return the password that is kept in the installation's folder."""
    return own_secret(folder / TOKEN_FILE)


def check_reader(headers: Mapping[str, str], asked: Mapping[str, str], token: str) -> None:
    """Raise ``RefusedError`` unless the request names the reader and the password.

    As ClickHouse has it: in headers of its own, as Basic (or Bearer), or in the URL.
    """
    user, given = _credentials(headers, asked)
    if given is None:
        words = f"User {USER} and the password of storage.sql are needed."
        raise RefusedError(Code.REQUIRED_PASSWORD, words)
    right = hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())
    if user.lower() not in _NAMES or not right or not token:
        words = "Authentication failed: the password is incorrect, or there is no such user."
        raise RefusedError(Code.AUTHENTICATION_FAILED, words)


def _credentials(headers: Mapping[str, str], asked: Mapping[str, str]) -> tuple[str, str | None]:
    if "x-clickhouse-user" in headers or "x-clickhouse-key" in headers:
        return headers.get("x-clickhouse-user", USER), headers.get("x-clickhouse-key", "")
    kind, _, rest = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return USER, rest.strip()
    if kind.lower() == "basic":
        return _basic(rest)
    if "user" in asked or "password" in asked:
        return asked.get("user", USER), asked.get("password", "")
    return "", None


def _basic(encoded: str) -> tuple[str, str]:
    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return user, password
