"""The generated pages of docs/. ``python -m tests.architecture.pages`` writes them all."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.architecture.pages import cli, node_rules, probes, schema, signals

DOCS = Path(__file__).parents[3] / "docs"
COMMAND = "python -m tests.architecture.pages"

PAGES: Mapping[str, Callable[[], str]] = {
    "signals.md": signals.page,
    "cli.md": cli.page,
    "probes.md": probes.page,
    "node-rules.md": node_rules.page,
    "check-report.schema.json": schema.page,
}
