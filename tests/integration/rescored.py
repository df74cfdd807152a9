"""An installation that keeps bodies, and what judging them again gave beside the first time."""

from __future__ import annotations

from contextlib import closing
from itertools import zip_longest
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from monitor.model import Verdict
from monitor.store import Reader
from monitor.store.client import Location, connect
from monitor.store.store import DATA_DIRECTORY
from tests.integration.processes import Installation
from tests.unit.store.body_keys import pem_of, public_pem_of

# What is another verdict's own, by which two of one trial differ.
OWN = ("id", "source", "decided_at", "scheduled", "finding", "rescores")


def keeping_bodies(installation: Installation, **bodies: object) -> Path:
    """Make an installation keep bodies; return the file of the private key."""
    private = X25519PrivateKey.generate()
    public, file = installation.folder / "public.pem", installation.folder / "private.pem"
    public.write_bytes(public_pem_of(private))
    file.touch(mode=0o600)
    file.write_bytes(pem_of(private))
    installation.settings["storage"]["bodies"] = {"public_key_file": str(public)} | bodies
    installation.write()
    return file


def pairs(store: Path) -> list[tuple[Verdict, Verdict]]:
    """Return each first verdict with the last one its trial was given again."""
    client = connect(Location(path=store / DATA_DIRECTORY), read_only=True)
    with closing(Reader(client)) as reader:
        ids = client.query("SELECT DISTINCT trial FROM verdicts WHERE source = 'rescore'")
        known = [reader.trial(str(row[0])) for row in ids]
    verdicts = [each.verdicts for each in known if each]
    return [(each[0], each[-1]) for each in verdicts]


def difference(old: Verdict, new: Verdict) -> list[object]:
    """Return what two verdicts of one trial say otherwise, signal by signal."""
    names = [n for n in Verdict.__dataclass_fields__ if n not in (*OWN, "signals")]
    both = [(name, getattr(old, name), getattr(new, name)) for name in names]
    found: list[object] = [each for each in both if each[1] != each[2]]
    pairs_of = zip_longest(old.signals, new.signals)
    return found + [each for each in pairs_of if each[0] != each[1]]
