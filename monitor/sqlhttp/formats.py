"""The forms an answer may have, and how HTTP calls them."""

from __future__ import annotations

from monitor.sqlhttp.failures import Code, RefusedError

TEXT = "text/plain; charset=UTF-8"
DEFAULT = "TabSeparated"
_TSV = "text/tab-separated-values; charset=UTF-8"
_JSON = "application/json; charset=UTF-8"
_LINES = "application/x-ndjson; charset=UTF-8"
_BINARY = "application/octet-stream"
# What needs a schema file or settings, speaks to brokers or writes to a terminal is left out.
_TYPES = {
    **dict.fromkeys(("TabSeparated", "TSV", "TabSeparatedRaw", "TSVRaw", "Raw", "TSKV"), _TSV),
    **dict.fromkeys(("TabSeparatedWithNames", "TSVWithNames", "TSVRawWithNames"), _TSV),
    **dict.fromkeys(("TabSeparatedRawWithNames", "TabSeparatedRawWithNamesAndTypes"), _TSV),
    **dict.fromkeys(("TabSeparatedWithNamesAndTypes", "TSVWithNamesAndTypes"), _TSV),
    "TSVRawWithNamesAndTypes": _TSV,
    "CSV": "text/csv; charset=UTF-8; header=absent",
    "CSVWithNames": "text/csv; charset=UTF-8; header=present",
    "CSVWithNamesAndTypes": "text/csv; charset=UTF-8; header=present",
    **dict.fromkeys(("JSON", "JSONStrings", "JSONColumns", "JSONCompactColumns"), _JSON),
    **dict.fromkeys(("JSONCompact", "JSONCompactStrings", "JSONColumnsWithMetadata"), _JSON),
    "JSONObjectEachRow": _JSON,
    **dict.fromkeys(("JSONEachRow", "JSONLines", "NDJSON", "JSONL", "JSONStringsEachRow"), _LINES),
    **dict.fromkeys(("JSONCompactEachRow", "JSONCompactEachRowWithNames"), _LINES),
    **dict.fromkeys(("JSONCompactEachRowWithNamesAndTypes", "JSONCompactStringsEachRow"), _LINES),
    "JSONCompactStringsEachRowWithNames": _LINES,
    "JSONCompactStringsEachRowWithNamesAndTypes": _LINES,
    **dict.fromkeys(("Pretty", "PrettyCompact", "PrettySpace", "PrettyNoEscapes"), TEXT),
    **dict.fromkeys(("PrettyCompactMonoBlock", "PrettyMonoBlock", "PrettySpaceMonoBlock"), TEXT),
    **dict.fromkeys(("PrettyCompactNoEscapes", "PrettySpaceNoEscapes", "Vertical"), TEXT),
    **dict.fromkeys(("Values", "SQLInsert", "LineAsString", "RawBLOB", "Null"), TEXT),
    "Markdown": "text/markdown; charset=UTF-8",
    "XML": "application/xml; charset=UTF-8",
    **dict.fromkeys(("Native", "RowBinary", "RowBinaryWithNames", "ODBCDriver2"), _BINARY),
    **dict.fromkeys(("RowBinaryWithNamesAndTypes", "MsgPack", "BSONEachRow"), _BINARY),
    **dict.fromkeys(("Parquet", "ORC", "Arrow", "ArrowStream", "Avro", "Npy"), _BINARY),
}
_BY_SMALL_NAME = {name.lower(): name for name in _TYPES}


def known_format(name: str) -> str:
    """Return the format's own spelling. Raises ``RefusedError`` for one that is not offered."""
    found = _BY_SMALL_NAME.get(name.lower())
    if found is None:
        words = f"Format {name[:60]!r} is not offered; for example JSON, CSVWithNames or Native is."
        raise RefusedError(Code.UNKNOWN_FORMAT, words)
    return found


def content_type(name: str) -> str:
    """Return the media type of a format in its own spelling."""
    return _TYPES[name]
