"""Print every row of every table of a store as JSON: ``python -m tests.integration.dump STORE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from monitor.store.client import Location, connect
from monitor.store.rows import TABLES
from monitor.store.store import DATA_DIRECTORY


def main() -> None:
    """Read the store named on the command line; no other process may have it open."""
    client = connect(Location(path=Path(sys.argv[1]) / DATA_DIRECTORY), read_only=True)
    rows = {
        table: client.query(f"SELECT * FROM {table} FINAL")  # noqa: S608
        for table in TABLES.values()
    }
    client.close()
    sys.stdout.write(json.dumps(rows, default=str))


if __name__ == "__main__":
    main()
