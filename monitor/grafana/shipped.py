"""Where the dashboards are, in a wheel or in a checkout, and reading them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monitor.errors import UsageError

SCHEMA = "grafana.schema.json"
_LARGEST = 4_000_000
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """A dashboard as Grafana keeps it, and the file it was read from."""

    file: Path
    data: Mapping[str, Any]

    @property
    def uid(self) -> str:
        """What Grafana and the links of alerts call it."""
        return str(self.data.get("uid", ""))

    @property
    def title(self) -> str:
        """What people call it."""
        return str(self.data.get("title", self.file.stem))


def dashboards_folder() -> Path:
    """Return the folder of the shipped dashboards."""
    inside = _PACKAGE / "shipped" / "dashboards"
    return inside if inside.is_dir() else _PACKAGE.parent / "dashboards" / "generated"


def schema_of() -> Mapping[str, Any]:
    """Return the shapes of Grafana's types by name, as JSON Schemas."""
    inside = _PACKAGE / "shipped" / "schema" / SCHEMA
    file = inside if inside.is_file() else _PACKAGE.parent / "dashboards" / "schema" / SCHEMA
    shapes: Mapping[str, Any] = _read(file)["definitions"]
    return shapes


def dashboards_in(folder: Path) -> tuple[Dashboard, ...]:
    """Return every dashboard of a folder, by name. Raises ``UsageError`` if there is none."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    files = sorted(folder.glob("*.json"))
    if not files:
        msg = f"{folder}: no dashboards, *.json (write some with davylamp dashboards build)"
        raise UsageError(msg)
    return tuple(Dashboard(file=file, data=_read(file)) for file in files)


def _read(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _LARGEST:
            raise UsageError(f"{file}: larger than {_LARGEST:,} bytes, which no dashboard is")
        read = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise UsageError(f"{file}: cannot be read: {reason}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{file}: no JSON") from None
    if not isinstance(read, dict):
        raise UsageError(f"{file}: no dashboard: not an object")
    return read
