"""The token of the daemon's API: those who only ask it need nothing else of what serves it."""

from __future__ import annotations

from monitor.config import Config, own_secret, resolve_secret

TOKEN_FILE = "api.token"  # noqa: S105 - a file's name


def api_token(config: Config) -> str:
    """Return the configured token, or one of this installation's own, made on first use."""
    if config.listen.token is not None:
        return resolve_secret(config.listen.token)
    return own_secret(config.storage_path / TOKEN_FILE)
