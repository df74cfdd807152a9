"""What rows take on disk, and which columns take it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from monitor.store.client import Client

ROLL_UPS = ("hourly", "daily")
_PARTS = """
SELECT table, sum(rows), sum(bytes_on_disk), count(), uniqExact(partition)
FROM system.parts
WHERE active AND database = currentDatabase() AND rows > 0
GROUP BY table ORDER BY sum(bytes_on_disk) DESC"""
# Columns of compact parts are not known one by one: those of wide parts are what is said.
_COLUMNS = """
SELECT column, sum(column_data_compressed_bytes) / sum(rows)
FROM system.parts_columns
WHERE active AND database = currentDatabase() AND table = {table:String} AND part_type = 'Wide'
GROUP BY column ORDER BY 2 DESC, column LIMIT 4"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What one table takes; ``columns`` are the largest with their bytes a row."""

    table: str
    rows: int
    size: int
    parts: int
    partitions: int
    columns: tuple[tuple[str, float], ...]

    @property
    def is_roll_up(self) -> bool:
        """Whether a view fills it."""
        return self.table.endswith(ROLL_UPS)


def sizes(client: Client) -> Iterator[Size]:
    """Return the tables that hold rows, the largest first."""
    for table, rows, size, parts, partitions in client.query(_PARTS):
        columns = client.query(_COLUMNS, {"table": table})
        yield Size(
            table=str(table),
            rows=int(rows),
            size=int(size),
            parts=int(parts),
            partitions=int(partitions),
            columns=tuple((str(name), float(each)) for name, each in columns if each),
        )
