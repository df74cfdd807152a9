"""What goes wrong with a reader's statement, as ClickHouse says it: a code, its name, a status."""

from __future__ import annotations

import re
from enum import IntEnum
from http import HTTPStatus

from monitor.errors import DavylampError

_ENGINE = re.compile(
    r"Code: (\d+)\. (?:DB::Exception: )?(.*?)(?: \(([A-Z][A-Z0-9_]*)\))?", re.DOTALL
)
# Our own question to the engine about a statement, which its messages quote back.
_ASIDE = re.compile(r": In scope (?:WITH|SELECT) .*unhex\(.*", re.DOTALL)
MOST_CHARACTERS = 4_000


class Code(IntEnum):
    """The codes of ClickHouse that we give ourselves."""

    BAD_ARGUMENTS = 36
    NOT_IMPLEMENTED = 48
    UNKNOWN_TABLE = 60
    SYNTAX_ERROR = 62
    UNKNOWN_FORMAT = 73
    UNKNOWN_DATABASE = 81
    TIMEOUT_EXCEEDED = 159
    READONLY = 164
    TOO_DEEP_AST = 167
    REQUIRED_PASSWORD = 194
    TOO_MANY_SIMULTANEOUS_QUERIES = 202
    QUERY_IS_TOO_LARGE = 229
    NOT_ENOUGH_SPACE = 243
    QUERY_WAS_CANCELLED = 394
    TOO_MANY_ROWS_OR_BYTES = 396
    ACCESS_DENIED = 497
    AUTHENTICATION_FAILED = 516
    UNKNOWN_EXCEPTION = 1002


# As ClickHouse has it; what is not here is 500. Two are ours: who is told to come back may do so.
_STATUS = {
    194: HTTPStatus.UNAUTHORIZED,
    **dict.fromkeys((192, 193, 497, 512, 516), HTTPStatus.FORBIDDEN),
    **dict.fromkeys(
        (6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376),
        HTTPStatus.BAD_REQUEST,
    ),
    **dict.fromkeys((427, 441, 675, 676), HTTPStatus.BAD_REQUEST),
    **dict.fromkeys((46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511), HTTPStatus.NOT_FOUND),
    229: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    48: HTTPStatus.NOT_IMPLEMENTED,
    159: HTTPStatus.REQUEST_TIMEOUT,
    **dict.fromkeys((202, 394), HTTPStatus.SERVICE_UNAVAILABLE),
}


class SqlError(DavylampError):
    """A statement that was refused or failed; the reader is told code, words and name."""

    def __init__(self, code: int, words: str, name: str = "") -> None:
        self.code = int(code)
        self.words = words
        self.name = name or _name(self.code)
        super().__init__(f"Code: {self.code}. DB::Exception: {words} ({self.name})")

    @property
    def status(self) -> int:
        """The HTTP status that goes with the code."""
        return int(_STATUS.get(self.code, HTTPStatus.INTERNAL_SERVER_ERROR))


class RefusedError(SqlError):
    """We refused it, before the engine ran anything of it."""


def engine_failure(error: BaseException) -> SqlError:
    """Return what the engine said, without what we asked it about the statement."""
    said = str(error)
    found = _ENGINE.fullmatch(said[said.find("Code: ") :].strip()) if "Code: " in said else None
    if found is None:
        return SqlError(Code.BAD_ARGUMENTS, _short(said))
    return SqlError(int(found[1]), _short(_ASIDE.sub("", found[2])), found[3] or "")


def too_many() -> RefusedError:
    """Tell whoever waited too long, or need not begin to."""
    words = "Too many simultaneous queries; ask again in a moment."
    return RefusedError(Code.TOO_MANY_SIMULTANEOUS_QUERIES, words)


def too_long(seconds: float) -> SqlError:
    """Tell whoever asked what does not come to an end."""
    return SqlError(Code.TIMEOUT_EXCEEDED, f"Timeout exceeded: no answer within {seconds:.0f} s.")


def stopping() -> SqlError:
    """Tell everybody that it stops."""
    return SqlError(Code.QUERY_WAS_CANCELLED, "The server is stopping.")


def failed_unexpectedly() -> SqlError:
    """Tell whoever met a fault of ours."""
    return SqlError(Code.UNKNOWN_EXCEPTION, "The statement failed; the server's log says why.")


def _short(words: str) -> str:
    return words if len(words) <= MOST_CHARACTERS else words[:MOST_CHARACTERS] + "…"


def _name(code: int) -> str:
    return Code(code).name if code in set(Code) else "UNKNOWN_EXCEPTION"
