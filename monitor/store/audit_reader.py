"""Questions to the audit chain, and how rows of any table are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from monitor.store.client import Client
from monitor.store.rows import TABLES, AnyRow, AuditRow, columns

R = TypeVar("R", bound=AnyRow)


class AuditReader:
    """Typed questions to the audit chain. Values are always bound by the server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def audit_head(self) -> tuple[int, str] | None:
        """Return number and hash of the last link of the audit chain."""
        rows = self._rows(AuditRow, "1 ORDER BY seq DESC, hash LIMIT 1", {}, final=False)
        return (rows[0].seq, rows[0].hash) if rows else None

    def audit_number_from(self, number: int) -> int | None:
        """Return the lowest number of a link from ``number`` on."""
        sql = (
            f"SELECT seq FROM {TABLES[AuditRow]} WHERE seq >= {{number:UInt64}} "  # noqa: S608
            "ORDER BY seq LIMIT 1"
        )
        found = self._client.query(sql, {"number": number})
        return int(found[0][0]) if found else None

    def audit_links(self, number: int, below: int, most: int) -> tuple[AuditRow, ...]:
        """Return the links of these numbers as they stand, doubles too, in order."""
        where = "seq >= {number:UInt64} AND seq < {below:UInt64} ORDER BY seq, hash"
        parameters = {"number": number, "below": below, "most": most}
        limited = f"{where} LIMIT {{most:UInt64}}"
        return tuple(self._rows(AuditRow, limited, parameters, final=False))

    def audit_links_at(self, numbers: Sequence[int]) -> tuple[AuditRow, ...]:
        """Return the links of these numbers, in order."""
        if not numbers:
            return ()
        where = "seq IN {numbers:Array(UInt64)} ORDER BY seq, hash"
        return tuple(self._rows(AuditRow, where, {"numbers": list(numbers)}))

    def audit_link_of(self, hashed: str) -> AuditRow | None:
        """Return the link that has this hash."""
        rows = self._rows(AuditRow, "hash = {hash:String} LIMIT 1", {"hash": hashed})
        return next(iter(rows), None)

    def audit_links_with(
        self, action: str, since: datetime, texts: Sequence[str]
    ) -> tuple[AuditRow, ...]:
        """Return the links of an action since then whose details hold any of these, in order."""
        where = (
            "action = {action:String} AND at >= {since:DateTime64(3, 'UTC')} "
            "AND multiSearchAny(details, {texts:Array(String)}) ORDER BY seq, hash"
        )
        bound = {"action": action, "since": since.astimezone(UTC), "texts": list(texts)}
        return tuple(self._rows(AuditRow, where, bound))

    def audit_links_of(self, actions: Sequence[str]) -> tuple[AuditRow, ...]:
        """Return every link of these actions, in order."""
        where = "action IN {actions:Array(String)} ORDER BY seq, hash"
        return tuple(self._rows(AuditRow, where, {"actions": list(actions)}))

    def last_audit_links(self, most: int, leaving_out: Sequence[str] = ()) -> tuple[AuditRow, ...]:
        """Return the newest links but those of some actions, oldest of them first."""
        where = (
            "NOT has({leaving_out:Array(String)}, action) "
            "ORDER BY seq DESC, hash LIMIT {most:UInt64}"
        )
        bound = {"most": most, "leaving_out": list(leaving_out)}
        return tuple(reversed(self._rows(AuditRow, where, bound)))

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _rows(
        self, kind: type[R], where: str, parameters: Mapping[str, Any], *, final: bool = True
    ) -> list[R]:
        """Return rows; ``where`` is our own text, everything else is a parameter.

        Rows that were replaced are left out if ``final``.
        """
        table = cast("type[AnyRow]", kind)
        names, which = ", ".join(columns(table)), "FINAL" if final else ""
        sql = f"SELECT {names} FROM {TABLES[table]} {which} WHERE {where}"  # noqa: S608
        return [
            kind(**dict(zip(kind.__dataclass_fields__, map(_plain, row), strict=True)))
            for row in self._client.query(sql, parameters)
        ]


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
