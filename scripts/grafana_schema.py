"""Make dashboards/schema/grafana.schema.json of Grafana's own types; needs npm and its registry."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "dashboards" / "schema"
MADE = "grafana.schema.json"
PACKAGE = "@grafana/schema"
_SPOKEN = ("description", "deprecated", "$comment")


def main() -> int:
    """Install what is pinned into a folder of its own, make the schema, write it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("package.json", "package-lock.json", "shapes.ts"):
            shutil.copy(FOLDER / file, folder / file)
        _run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], folder)
        settings = {"module": "esnext", "moduleResolution": "bundler", "skipLibCheck": True}
        project = {"compilerOptions": settings, "files": ["shapes.ts"]}
        (folder / "tsconfig.json").write_text(json.dumps(project), encoding="utf-8")
        options = ["--path", "shapes.ts", "--tsconfig", "tsconfig.json", "--type", "Shapes"]
        # One type of Grafana has a namesake, so none is a definition of its own.
        options += ["--expose", "none", "--no-type-check", "--out", "out.json"]
        _run(["node_modules/.bin/ts-json-schema-generator", *options], folder)
        made = json.loads((folder / "out.json").read_text("utf-8"))
        version = json.loads((folder / "package.json").read_text("utf-8"))["dependencies"][PACKAGE]
    text = json.dumps(_schema(made, version), separators=(",", ":"), sort_keys=True)
    (FOLDER / MADE).write_text(f"{text}\n", encoding="utf-8")
    print(f"{FOLDER / MADE}: {PACKAGE} {version}, {len(text):,} bytes")
    return 0


def _schema(made: dict[str, Any], version: str) -> dict[str, Any]:
    """Return the shapes by name; panels of dashboards and rows are held against their own."""
    shapes = made["definitions"]["Shapes"]["properties"]
    for holder in ("dashboard", "row"):
        shapes[holder]["properties"]["panels"]["items"] = {"type": "object"}
    marks = shapes["dashboard"]["properties"]["annotations"]["properties"]["list"]["items"]
    # The type is generic over the query, and the Prometheus plugin keeps its words beside it.
    marks["properties"]["target"] = {"type": "object", "required": ["refId"]}
    marks["properties"] |= {name: {"type": "string"} for name in ("titleFormat", "textFormat")}
    return {
        "$schema": made["$schema"],
        "$comment": f"Made of {PACKAGE} {version} (Apache-2.0, Grafana Labs); see README.md.",
        "definitions": {name: _silent(shape) for name, shape in shapes.items()},
    }


def _silent(value: Any) -> Any:
    """Return a schema without the words in it. Names of properties are not words."""
    if isinstance(value, list):
        return [_silent(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {}
    for key, each in value.items():
        if key == "properties":
            made[key] = {name: _silent(inner) for name, inner in each.items()}
        elif key not in _SPOKEN:
            made[key] = _silent(each)
    return made


def _run(command: list[str], folder: Path) -> None:
    # Names of the lock file, in a folder of its own.
    subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
