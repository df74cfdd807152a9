"""The kinds of values a configuration holds: durations, shares, names, URLs."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from monitor.config.problems import wrong
from monitor.config.secrets import quoted

DURATION_KEYS = (
    *("interval", "timeout", "jitter", "misfire_grace"),
    *("false_page_every", "false_ticket_every"),
    *("window", "within"),
    "rules_max_age",
)
MAX_TEXT = 512
MAX_LABELS = 8
_HUNDRED = 100
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION = re.compile(r"([0-9]{1,9})([smhd])", re.ASCII)
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", re.ASCII)
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_LABEL_KEY = re.compile(r"[a-z_][a-z0-9_]{0,31}", re.ASCII)
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}", re.ASCII)

RESERVED_LABELS = frozenset(
    {"env", "target", "model", "probe", "shape", "stratum", "signal", "class", "outcome"}
    | {"role", "code", "node", "instance", "job", "le", "quantile"}
)
FORBIDDEN_HEADERS = frozenset(
    {"authorization", "host", "content-length", "content-type", "connection"}
)


def parse_duration(value: object) -> float:
    """Return seconds for ``30s``, ``5m``, ``1h`` or ``2d``: one whole number and one unit."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        problem = f"{quoted(value)} is not a duration"
        raise wrong(problem, "write a whole number and a unit: 30s, 5m, 1h or 2d")
    return float(int(match[1]) * _UNITS[match[2]])


def format_duration(seconds: float) -> str:
    """Return the shortest text that ``parse_duration`` reads back as ``seconds``."""
    whole = int(seconds)
    unit = next(u for u in ("d", "h", "m", "s") if whole % _UNITS[u] == 0 and (whole or u == "s"))
    return f"{whole // _UNITS[unit]}{unit}"


def in_clear(url: str) -> bool:
    """Return true if what is sent to a URL leaves this machine unencrypted."""
    parts = urlsplit(url)
    return parts.scheme != "https" and not _is_loopback(parts.hostname or "")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _ratio(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        problem = f"must be a ratio between 0 and 1, not {quoted(value)}"
        raise wrong(problem, "write 0.1 for ten percent")
    return float(value)


def _percent(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _HUNDRED:
        problem = f"must be a percentage below 100, not {quoted(value)}"
        raise wrong(problem, "write 99.9")
    if value <= 1:
        raise wrong(
            f"must be a percentage, and {quoted(value)} is nearly none", "write 99.9, not 0.999"
        )
    return float(value)


def _label(value: object) -> str:
    if isinstance(value, str) and _LABEL.fullmatch(value):
        return value
    remedy = "use up to 63 letters, digits, '-', '_' and '.', and quote it if it is a number"
    raise wrong(f"{quoted(value)} is not a usable name", remedy)


def _env_name(value: object) -> str:
    if isinstance(value, str) and _ENV_NAME.fullmatch(value):
        return value
    remedy = "write the variable's name, such as DONOR_A_KEY, without a dollar sign; never the key"
    raise wrong("this is not the name of an environment variable", remedy)


def _file_name(value: object) -> str:
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return value
    raise wrong(f"{quoted(value)} is not a file name", "write a path such as /run/secrets/donor-a")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise wrong(f"must be text, not {quoted(value)}", "put it in quotes")
    if not value.strip() or not value.isprintable() or len(value) > MAX_TEXT:
        raise wrong(
            f"{quoted(value)} is not usable text here", "write one line of up to 512 characters"
        )
    return value


def _iso_date(value: object) -> date:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else _not_a_date(value)
    except ValueError:
        return _not_a_date(value)


def _not_a_date(value: object) -> date:
    raise wrong(f"{quoted(value)} is not a date", "write year-month-day, such as 2027-01-31")


def _instant(value: object) -> datetime:
    try:
        instant = (
            datetime.fromisoformat(value) if isinstance(value, str) else _not_an_instant(value)
        )
        return instant.astimezone(UTC) if instant.tzinfo else _not_an_instant(value)
    except (ValueError, OverflowError):
        return _not_an_instant(value)


def _not_an_instant(value: object) -> datetime:
    problem = f"{quoted(value)} is not a time with its zone"
    raise wrong(problem, "write 2027-01-31T22:00Z, or +02:00 instead of Z")


def _split(value: object, schemes: tuple[str, ...], example: str) -> SplitResult:
    remedy = f"write {example}"
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
        host = parts.hostname if parts else None
        port = parts.port if parts else None
    except ValueError:
        parts = host = port = None
    if (
        parts is None
        or not host
        or port == 0
        or parts.scheme not in schemes
        or re.search(r"\s", parts.geturl())
    ):
        raise wrong(f"{quoted(value)} is not a URL of this kind", remedy)
    if parts.password is not None:
        raise wrong("a URL may not hold a password", "name the secret in its own key")
    if parts.query or parts.fragment:
        raise wrong("a URL may not hold '?' or '#' here", f"{remedy} and nothing after the path")
    return parts


def _http_url(value: object) -> str:
    parts = _split(value, ("http", "https"), "https://host/v1")
    if parts.username is not None:
        raise wrong("a URL may not hold a user name", "name the secret in its own key")
    return parts.geturl().rstrip("/")


def _clickhouse_url(value: object) -> str:
    example = "clickhouse://user@host:8123/database"
    parts = _split(value, ("clickhouse", "clickhouses"), example)
    if not re.fullmatch(r"/?[A-Za-z0-9_]*", parts.path):
        raise wrong("the database name is not usable", f"write {example}")
    return parts.geturl()


def _label_map(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise wrong(
            f"must be a section of keys, not {quoted(value)}", "write {region: eu, tier: gold}"
        )
    for key in value:
        if not _LABEL_KEY.fullmatch(key) or key in RESERVED_LABELS:
            problem = f"the label {quoted(key)} is not usable"
            raise wrong(problem, "use lower-case words that are not labels of our own metrics")
    if len(value) > MAX_LABELS:
        raise wrong(f"more than {MAX_LABELS} labels", "keep those you group by")
    return {key: _label(item) for key, item in value.items()}


def _header_map(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise wrong(
            f"must be a section of keys, not {quoted(value)}", "write {X-Team: TEAM_VARIABLE}"
        )
    for key in value:
        if key.lower() in FORBIDDEN_HEADERS:
            raise wrong(
                f"the header {quoted(key)} is set by us",
                "give keys with api_key_env or api_key_file",
            )
        if not _HEADER.fullmatch(key):
            raise wrong(f"{quoted(key)} is not a header name", "use letters, digits and '-'")
    return {key: _env_name(item) for key, item in value.items()}


def _header_name(value: object) -> str:
    if not isinstance(value, str) or not _HEADER.fullmatch(value):
        raise wrong(f"{quoted(value)} is not a header name", "use letters, digits and '-'")
    if value.lower() in FORBIDDEN_HEADERS:
        raise wrong(f"the header {quoted(value)} is set by us", "choose another name")
    return value


def _schema(title: str, kind: str = "string", **more: object) -> WithJsonSchema:
    return WithJsonSchema({"type": kind, "title": title, **more})


Duration = Annotated[
    float,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, return_type=str),
    _schema("duration", pattern="^[0-9]{1,9}[smhd]$"),
]
Ratio = Annotated[
    float, BeforeValidator(_ratio), _schema("ratio 0..1", "number", minimum=0, maximum=1)
]
Percent = Annotated[
    float,
    BeforeValidator(_percent),
    _schema("percent", "number", exclusiveMinimum=1, exclusiveMaximum=100),
]
Label = Annotated[str, BeforeValidator(_label), _schema("name", pattern=f"^{_LABEL.pattern}$")]
EnvName = Annotated[
    str, BeforeValidator(_env_name), _schema("variable name", pattern=f"^{_ENV_NAME.pattern}$")
]
FileName = Annotated[str, BeforeValidator(_file_name), _schema("file", minLength=1)]
Text = Annotated[str, BeforeValidator(_text), _schema("text", minLength=1, maxLength=512)]
IsoDate = Annotated[date, BeforeValidator(_iso_date), _schema("date", format="date")]
Instant = Annotated[
    datetime, BeforeValidator(_instant), _schema("time with zone", format="date-time")
]
HttpUrl = Annotated[str, BeforeValidator(_http_url), _schema("URL", pattern="^https?://")]
ClickHouseUrl = Annotated[
    str, BeforeValidator(_clickhouse_url), _schema("URL", pattern="^clickhouses?://")
]
Labels = Annotated[
    dict[str, str],
    BeforeValidator(_label_map),
    _schema("names", "object", additionalProperties={"type": "string"}, maxProperties=8),
]
HeaderName = Annotated[
    str, BeforeValidator(_header_name), _schema("header", pattern=f"^{_HEADER.pattern}$")
]
HeadersFromEnv = Annotated[
    dict[str, str],
    BeforeValidator(_header_map),
    _schema("header: variable name", "object", additionalProperties={"type": "string"}),
]
Tokens = Annotated[int, Field(strict=True, ge=1, le=100_000_000_000)]
Usd = Annotated[float, Field(strict=True, ge=0, le=1_000_000_000)]
Flag = Annotated[bool, Field(strict=True)]
