"""Logging to stderr, as text for people or JSON lines for machines."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime

_STANDARD = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message"}


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the record's own fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {k: v for k, v in record.__dict__.items() if k not in _STANDARD}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=True)


def crash_words(error: BaseException | None) -> str:
    """Return the type of an error and where it was raised, never its message.

    A message may quote what was being worked on, and that may be a prompt or an answer.
    """
    if error is None:
        return "unknown error"
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__} in {places}"


def set_up_logs(level: str, style: str) -> None:
    """Send the logs of ``monitor`` to stderr. Other libraries speak from warning upwards."""
    handler = logging.StreamHandler(sys.stderr)
    if style == "json":
        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    # At debug httpcore prints a target's response headers, which may repeat a credential.
    for library in ("httpcore", "httpx"):
        logging.getLogger(library).setLevel(logging.WARNING)
    # It quotes what a collector answers; that one does not take what it is told we say ourselves.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)
    logging.getLogger("monitor").setLevel(level.upper())
