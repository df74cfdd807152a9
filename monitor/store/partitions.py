"""Which parts of a table a change touches: all others are left as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from monitor.errors import StoreError
from monitor.store.client import Client

_BY_DAY = re.compile(r"[0-9]{8}")


def partitions_of(
    client: Client, table: str, number: str, where: str, bound: Mapping[str, Any]
) -> dict[str, int]:
    """Return the partitions that hold rows of ``where``, each with a ``number`` of them.

    Both are our own text; values are in ``bound``. The names may stand in a statement. Raises
    ``StoreError`` for a table that is not cut by day.
    """
    found = client.query(
        f"SELECT _partition_id, {number} FROM {table} WHERE {where} GROUP BY _partition_id",  # noqa: S608
        bound,
    )
    if not all(_BY_DAY.fullmatch(str(partition)) for partition, _ in found):
        msg = f"{table}: a partition of an unknown name"
        raise StoreError(msg)
    return {str(partition): int(count) for partition, count in found}
