"""What a new store is made of, asked of the engine after all migrations.

``python -m tests.unit.store.latest`` writes it anew; run it when a migration was added.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from monitor.config.storage import Retention
from monitor.store.client import Client
from monitor.store.migrate import mark_of, migrate, shipped
from monitor.store.retention import apply_terms
from tests.unit.store.breaking import database

FILE = Path(__file__).parents[3] / "monitor" / "store" / "schema" / "latest.sql"
_HEAD = """\
-- What a new store is made of: the same as all migrations come to, in one go. Written by
-- `python -m tests.unit.store.latest`; change a migration, never this.
"""


def latest_sql() -> str:
    """Return the whole file."""
    with tempfile.TemporaryDirectory() as folder, database(Path(folder)) as client:
        migrate(client, shipped())
        apply_terms(client, Retention())
        statements = [f"{statement};" for statement in _statements(client)]
    return "\n\n".join([_HEAD + mark_of(shipped()), *statements]) + "\n"


def _statements(client: Client) -> list[str]:
    found = client.query(
        "SELECT engine = 'MaterializedView' AS is_view, name, database, create_table_query "
        "FROM system.tables WHERE database = currentDatabase() AND name != 'schema_migrations' "
        "ORDER BY is_view, name"
    )
    return [_statement(str(name), str(of), str(said)) for _, name, of, said in found]


def _statement(name: str, of: str, said: str) -> str:
    for kind in ("TABLE", "MATERIALIZED VIEW"):
        said = said.replace(
            f"CREATE {kind} {of}.{name} ", f"CREATE {kind} IF NOT EXISTS {name} ", 1
        )
    return said.replace(f" TO {of}.", " TO ").replace(f" FROM {of}.", " FROM ")


if __name__ == "__main__":
    FILE.write_text(latest_sql(), encoding="utf-8")
