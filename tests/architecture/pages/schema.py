"""``docs/check-report.schema.json``: the JSON Schema of ``davylamp check --json``."""

from __future__ import annotations

import json

from monitor.reports.check import SCHEMA_VERSION, CheckReport


def page() -> str:
    """Return the schema as text."""
    made = CheckReport.model_json_schema(by_alias=True)
    for record in (made, *made["$defs"].values()):
        del record["additionalProperties"]  # a minor version adds fields
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = f"davylamp check report {SCHEMA_VERSION}"
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
