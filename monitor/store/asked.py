"""What is known of how trials were asked: enough to ask the like of them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.store.reader import Reader
from monitor.store.rows import TABLES, ExchangeRow, TrialRow, VerdictRow


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTrial:
    """How a trial was asked, and the classes of its verdicts.

    ``golden`` names its golden prompt, if it had one; ``asked_by`` are the parts of its exchanges,
    each with a tenant that played it.
    """

    id: str
    probe: str
    shape: str
    stratum: str
    purpose: str
    golden: str
    asked_by: tuple[tuple[str, str], ...]
    classes: tuple[str, ...]


class AskedReader(Reader):
    """Reads how trials were asked."""

    def asked(self, trials: Sequence[str]) -> tuple[AskedTrial, ...]:
        """Return those of these trials that are still known, oldest first."""
        sql = (
            "SELECT t.id, t.probe, t.shape, t.stratum, t.purpose, "  # noqa: S608
            "arraySort(e.golden), arraySort(e.asked_by), arraySort(v.classes) "
            f"FROM (SELECT * FROM {TABLES[TrialRow]} FINAL "
            "WHERE has({trials:Array(String)}, id)) AS t "
            "INNER JOIN (SELECT trial, groupUniqArray((part, tenant)) AS asked_by, "
            "groupUniqArrayIf(golden, golden != '') AS golden "
            f"FROM {TABLES[ExchangeRow]} FINAL WHERE has({{trials:Array(String)}}, trial) "
            "GROUP BY trial) AS e ON e.trial = t.id "
            "INNER JOIN (SELECT trial, groupUniqArray(class) AS classes "
            f"FROM {TABLES[VerdictRow]} FINAL WHERE has({{trials:Array(String)}}, trial) "
            "GROUP BY trial) AS v ON v.trial = t.id ORDER BY t.started_at, t.id"
        )
        return tuple(
            AskedTrial(
                id=str(trial),
                probe=str(probe),
                shape=str(shape),
                stratum=str(stratum),
                purpose=str(purpose),
                golden=next(iter(golden), ""),
                asked_by=tuple((str(part), str(tenant)) for part, tenant in asked_by),
                classes=tuple(classes),
            )
            for trial, probe, shape, stratum, purpose, golden, asked_by, classes in (
                self._client.query(sql, {"trials": list(trials)})
            )
        )
