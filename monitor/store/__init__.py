"""The store: what was asked, answered in numbers, judged and found, in ClickHouse."""

from monitor.store.audit import AuditLog
from monitor.store.links import Action
from monitor.store.lock import StoreOwner, owner_of
from monitor.store.private import EvidenceHasher, redact
from monitor.store.reader import Reader, Spent, StoredTrial
from monitor.store.spool import WriterLimits
from monitor.store.store import Store, open_store
from monitor.store.writer import Writer, WriterStats

__all__ = [
    "Action",
    "AuditLog",
    "EvidenceHasher",
    "Reader",
    "Spent",
    "Store",
    "StoreOwner",
    "StoredTrial",
    "Writer",
    "WriterLimits",
    "WriterStats",
    "open_store",
    "owner_of",
    "redact",
]
