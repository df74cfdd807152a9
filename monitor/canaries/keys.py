"""The installation key: it tags markers, hashes their parts and seals live ones at rest."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

from monitor.errors import StoreError

KEY_BYTES = 32


class InstallationKey:
    """A 256-bit secret of this installation; each use has its own derived key.

    The secret never leaves this object except to the key file, and never appears in ``repr``.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != KEY_BYTES:
            msg = f"an installation key has {KEY_BYTES} bytes, not {len(secret)}"
            raise ValueError(msg)
        self._secret = secret

    def __repr__(self) -> str:
        return "InstallationKey(…)"

    @classmethod
    def load_or_create(cls, file: Path) -> InstallationKey:
        """Read the key file, or write a new one readable by its owner only.

        Raises ``StoreError`` if the file is not a key of ours, or cannot be written; nothing is
        left of it then.
        """
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return cls._read(file)
        except OSError as error:
            raise _unwritable(file, error) from error
        secret = os.urandom(KEY_BYTES)
        try:
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(secret)
                handle.flush()
                os.fsync(handle.fileno())
        except OSError as error:
            file.unlink()
            raise _unwritable(file, error) from error
        return cls(secret)

    @classmethod
    def load(cls, file: Path) -> InstallationKey:
        """Read the key file. Raises ``StoreError`` if it is missing or not a key of ours."""
        try:
            return cls._read(file)
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            msg = (
                f"{file}: the installation's key cannot be read: {reason} (restore it from a "
                "backup: a new one would sign as another installation)"
            )
            raise StoreError(msg) from error

    @classmethod
    def _read(cls, file: Path) -> InstallationKey:
        secret = file.read_bytes()
        if len(secret) != KEY_BYTES:
            msg = (
                f"{file}: not an installation key ({len(secret)} bytes instead of {KEY_BYTES}); "
                "restore it from a backup: with another key old markers can no longer be owned"
            )
            raise StoreError(msg)
        return cls(secret)

    @property
    def fingerprint(self) -> str:
        """16 hex digits that name the installation and tell nothing of the secret."""
        return self.derive("fingerprint")[:8].hex()

    def derive(self, purpose: str) -> bytes:
        """Return the 32-byte key for one purpose."""
        return hmac.digest(self._secret, b"davylamp/" + purpose.encode(), "sha256")

    def tag(self, groups: tuple[str, ...]) -> int:
        """Return the 16-bit tag of a marker's random groups (HMAC-SHA256, truncated)."""
        digest = hmac.digest(self.derive("marker-tag"), "-".join(groups).encode(), "sha256")
        return int.from_bytes(digest[:2], "big")


class PartHasher:
    """Keyed 64-bit hashes of marker parts, so that expired markers keep no text."""

    __slots__ = ("_key",)

    def __init__(self, key: InstallationKey) -> None:
        self._key = key.derive("marker-part")

    def __call__(self, position: int, letters: str) -> int:
        """Return the hash of a group at a position (0..3) of its marker."""
        digest = hashlib.blake2b(
            letters.encode(), digest_size=8, key=self._key, salt=bytes([position])
        )
        return int.from_bytes(digest.digest(), "big")


class ValueHasher:
    """Keyed 64-bit hashes of planted values and their parts, so that expired ones keep no text."""

    __slots__ = ("_key",)

    def __init__(self, key: InstallationKey) -> None:
        self._key = key.derive("planted-value")

    def __call__(self, kind: str, form: int, part: str) -> int:
        """Return the hash of what one form (whole, first or last digits) of a value shows."""
        text = f"{kind}/{form:d}/{part}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(text, digest_size=8, key=self._key).digest(), "big")


def _unwritable(file: Path, error: OSError) -> StoreError:
    reason = (error.strerror or type(error).__name__).lower()
    return StoreError(
        f"{file}: the installation key cannot be written: {reason} (see to that disk and folder, "
        "then try again)"
    )
