"""The configuration's documentation, made of the schema: a page to read and a JSON Schema.

``python -m monitor.config.reference docs`` writes both; a test keeps them fresh.
"""

from __future__ import annotations

import json
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from monitor.config.schema import Settings
from monitor.config.section import Section
from monitor.config.target import Overflow
from monitor.config.values import DURATION_KEYS, format_duration

PAGE = "configuration.md"
SCHEMA = "davylamp.schema.json"

_HEAD = """# Configuration

<!-- Made from the schema by `python -m monitor.config.reference docs`; do not edit. -->

Davylamp reads one YAML file, `davylamp.yaml`. `davylamp init` writes a commented one,
`davylamp config check` reads it and says everything that is wrong at once, and
`davylamp config show` prints what is in force, defaults included. Editors can use
[`davylamp.schema.json`](davylamp.schema.json).

## Rules

- `version: 1` is the first key. An unknown key is an error. A key without a value is an error:
  leave the key out, or write `{}` or `[]` for empty.
- Nothing is merged and nothing is expanded: no includes, no `${VARIABLE}`, no anchors, aliases,
  tags or merge keys. A key written twice is an error. `yes` and `no` are text.
- A secret is never written in the file. Give the name of an environment variable (`api_key_env`)
  or of a file (`api_key_file`), not both. A file is relative to the folder of `davylamp.yaml`. A
  value that looks like a key is an error, and the message does not repeat it.
- A duration is a whole number and a unit: `30s`, `5m`, `1h`, `2d`. A number of tokens may have
  underscores: `2_000_000`. A ratio is 0 to 1, an objective is in percent.
- Three levels: what a probe's entry says holds over what its target says, and that over
  `defaults`. Budgets are taken over cap by cap.
- Paths are relative to the folder of the file. The file may have at most 256 KiB.
"""


def page() -> str:
    """Return ``docs/configuration.md``."""
    return "\n".join([_HEAD, *_sections(Settings, "", set())])


def schema() -> str:
    """Return ``docs/davylamp.schema.json``: what an editor can check while one types."""
    made = Settings.model_json_schema(by_alias=True)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    cleaned = _clean(made)
    cleaned["title"] = "davylamp.yaml"
    target = cleaned["$defs"]["Target"]["properties"]
    target["overflow"] = {
        **target["overflow"],
        "anyOf": [{"const": "refuse"}, {"$ref": "#/$defs/Overflow"}],
    }
    target["overflow"].pop("$ref", None)
    return json.dumps(cleaned, indent=2, ensure_ascii=False) + "\n"


def _clean(node: Any) -> Any:
    """Drop what our reader forbids (null) and what says nothing (titles made of names)."""
    if isinstance(node, list):
        return [_clean(item) for item in node if item != {"type": "null"}]
    if not isinstance(node, dict):
        return node
    kept = {k: _clean(v) for k, v in node.items() if not (k == "default" and v is None)}
    if isinstance(kept.get("title"), str) and kept["title"].istitle():
        del kept["title"]
    if kept.get("title") == "duration" and "default" in kept:
        kept["default"] = format_duration(kept["default"])
    options = kept.get("anyOf")
    if isinstance(options, list) and len(options) == 1:
        del kept["anyOf"]
        kept = {**kept, **options[0]}
    return kept


def _sections(model: type[Section], path: str, seen: set[type]) -> Iterator[str]:
    yield f"## {f'`{path}`' if path else 'The file'}\n"
    yield f"{_first_line(model)}\n"
    yield "| key | kind | default | meaning |"
    yield "|---|---|---|---|"
    for name, field in model.model_fields.items():
        kind = kind_of_key(model, name).replace("|", "\\|")
        meaning = (field.description or "").replace("|", "\\|")
        yield f"| `{field.alias or name}` | {kind} | {default_of_key(field)} | {meaning} |"
    yield ""
    for name, field in model.model_fields.items():
        for below in _models(field.annotation):
            if below not in seen:
                seen.add(below)
                many = "[]" if "tuple" in str(field.annotation) else ""
                yield from _sections(below, f"{path}.{field.alias or name}{many}".lstrip("."), seen)


def _models(annotation: object) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _models(part)


def _first_line(model: type[Section]) -> str:
    return (model.__doc__ or "").strip().splitlines()[0].replace("``", "`")


def kind_of_key(model: type[Section], name: str) -> str:
    """Return in words what one key of a section takes."""
    made = _clean(model.model_json_schema(by_alias=True))
    key = model.model_fields[name].alias or name
    return _kind_of(made["properties"][key])


def _kind_of(node: dict[str, Any]) -> str:
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return " or ".join(f"`{value}`" for value in node["enum"])
    options = node.get("oneOf") or node.get("anyOf")
    if options:
        return " or ".join(_kind_of(option) for option in options)
    if node.get("type") == "array":
        return f"list of {_kind_of(node['items'])}"
    if "$ref" in node:
        return "section"
    names = {"integer": "whole number", "boolean": "true or false", "object": "section"}
    kind = str(node.get("type", "text"))
    return str(node.get("title", names.get(kind, kind)))


def default_of_key(field: FieldInfo) -> str:
    """Return in words what a key is if it is left out; nothing where that is nothing."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    words = _section_default(value) if isinstance(value, Section) else _plain_default(field, value)
    return f"`{words}`" if words else ""


def _section_default(section: Section) -> str:
    if isinstance(section, Overflow):
        return "refuse"
    given = [f"{key}: {getattr(section, key):_}" for key in sorted(section.model_fields_set)]
    return f"{{{', '.join(given)}}}" if given else ""


def _plain_default(field: FieldInfo, value: object) -> str:
    if value is None or value in ((), {}):
        return ""
    if isinstance(value, float) and field.alias in DURATION_KEYS:
        return format_duration(value)
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return json.dumps(value) if isinstance(value, bool) else str(value)


def write(folder: Path) -> None:
    """Write both files into ``folder``."""
    (folder / PAGE).write_text(page(), encoding="utf-8")
    (folder / SCHEMA).write_text(schema(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
