"""Print everything in force as YAML: each default marked, each secret only named."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date

from monitor.config.effective import INHERITED, Config
from monitor.config.section import Section
from monitor.config.target import Overflow, Target
from monitor.config.values import DURATION_KEYS, format_duration

_PLAIN = re.compile(r"[A-Za-z/.][A-Za-z0-9 _./$-]*[A-Za-z0-9_/]|[A-Za-z]", re.ASCII)
_LONG_NUMBER = 10_000
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def render_effective(config: Config) -> str:
    """Return the configuration in force; loading it again gives the same one, hash included."""
    head = f"# in force: {config.file.name}, hash {config.hash}"
    lines = [
        head,
        "# '# default' marks what was not written",
        *_section(config.settings, config, 0),
    ]
    for key, raw in config.sections.items():
        lines.append(f"{key}: {_value('', raw)}")
    return "\n".join(lines) + "\n"


def _section(section: Section, config: Config, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for name, field in type(section).model_fields.items():
        key, value = field.alias or name, getattr(section, name)
        mark = "" if name in section.model_fields_set else "  # default"
        if isinstance(section, Target) and key in INHERITED:
            value, mark = _inherited(section, key, value, mark, config)
        if value is None:
            continue
        if isinstance(value, Overflow):
            value = value if value.truncate is not None else "refuse"
        if isinstance(value, Section):
            below = list(_section(value, config, depth + 1))
            yield f"{indent}{key}:{mark}" if below else f"{indent}{key}: {{}}{mark}"
            yield from below
        elif isinstance(value, tuple) and value and isinstance(value[0], Section):
            yield f"{indent}{key}:{mark}"
            for item in value:
                yield from _item(item, config, depth + 1)
        else:
            yield f"{indent}{key}: {_value(key, value)}{mark}"


def _item(section: Section, config: Config, depth: int) -> Iterator[str]:
    lines = list(_section(section, config, depth + 1))
    indent = "  " * depth
    yield f"{indent}- {lines[0].lstrip()}"
    yield from lines[1:]


def _inherited(
    target: Target, key: str, own: object, mark: str, config: Config
) -> tuple[object, str]:
    """Return what holds for the target, and where it comes from."""
    settings = config.for_target(target)
    if key in ("daily_budget", "boundary_budget"):
        caps = settings.daily if key == "daily_budget" else settings.boundary
        held = {"tokens": caps.tokens} | ({} if caps.usd is None else {"usd": caps.usd})
        whole = isinstance(own, Section) and own.model_fields_set >= set(held)
        return held, "" if whole else "  # caps left out: from defaults"
    if own is not None:
        return own, mark
    held_by = {
        "interval": "interval_seconds",
        "timeout": "timeout_seconds",
        "objective": "objective_percent",
    }
    return getattr(settings, held_by.get(key, key)), "  # from defaults"


def _value(key: str, value: object) -> str:
    if key in DURATION_KEYS and isinstance(value, float):
        return format_duration(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_value('', k)}: {_value('', v)}" for k, v in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value('', item) for item in value)}]"
    return _scalar(key, value)


def _scalar(key: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}" if value >= _LONG_NUMBER and key != "port" else str(value)
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if plain else _quoted(value)
    return str(value) if isinstance(value, date) else json.dumps(value)


def _quoted(text: str) -> str:
    """Return ``text`` as YAML reads it back, whatever characters it has."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)
