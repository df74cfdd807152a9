"""Our own lock on a data directory: one process owns it, and others are told which."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from monitor.errors import StoreBusyError, StoreError

LOCK_FILE = "lock"
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOwner:
    """The process that owns a directory, and where its daemon answers, if it is one."""

    pid: int
    url: str | None = None


class StoreLock:
    """Held until ``release`` or the death of the process, however it dies."""

    def __init__(self, file: Path, descriptor: int) -> None:
        self._file = file
        self._descriptor = descriptor

    @classmethod
    def take(cls, directory: Path) -> StoreLock:
        """Lock the directory.

        Raises ``StoreBusyError`` naming the process that has it, and ``StoreError`` if the disk
        refuses.
        """
        file = directory / LOCK_FILE
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise _refused(file, error) from error
        lock = cls(file, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            lock.announce(None)
        except BlockingIOError as error:
            lock.release()
            raise StoreBusyError(_busy(directory)) from error
        except OSError as error:
            lock.release()
            raise _refused(file, error) from error
        except StoreError:
            lock.release()
            raise
        return lock

    def announce(self, url: str | None) -> None:
        """Say where this process answers, so that ``check`` can go through it.

        Raises ``StoreError`` if the disk refuses.
        """
        text = json.dumps(asdict(StoreOwner(pid=os.getpid(), url=url))).encode()
        try:
            written = os.pwrite(self._descriptor, text, 0)
            os.ftruncate(self._descriptor, written)
        except OSError as error:
            raise _refused(self._file, error) from error

    def release(self) -> None:
        """Give the directory free; safe to call twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def owner_of(directory: Path) -> StoreOwner | None:
    """Return who owns the directory now, or ``None`` if nobody does.

    Raises ``StoreError`` if that cannot be read.
    """
    file = directory / LOCK_FILE
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(file, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(file)
    else:
        return None
    finally:
        os.close(descriptor)


def _read(file: Path) -> StoreOwner | None:
    try:
        said = json.loads(file.read_text("utf-8"))
        return StoreOwner(pid=int(said["pid"]), url=said["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _refused(file: Path, error: OSError) -> StoreError:
    reason = (error.strerror or type(error).__name__).lower()
    remedy = "make room on that disk" if error.errno in NO_ROOM else "see to that folder"
    return StoreError(f"{file}: the store cannot be locked: {reason} ({remedy}, then try again)")


def _busy(directory: Path) -> str:
    owner = _read(directory / LOCK_FILE)
    if owner is None:
        return f"{directory}: another process owns this store"
    daemon = f"; its daemon answers at {owner.url}" if owner.url else ""
    return f"{directory}: process {owner.pid} owns this store{daemon}"
