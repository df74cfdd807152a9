"""Configurations with a fresh lab as the only target, with the default daily caps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from monitor.config import Config
from monitor.configured import read_config
from monitor.drill.job import Job
from monitor.drill.lab import Announcement

_ACCEPTED_DAYS = 30
# Nulls that a service does on purpose and says so: its owner would have accepted them.
ACCEPTED_TRUNCATION = frozenset({"truncate"})


def run_config(folder: Path, store: Path, job: Job, lab: Announcement) -> Config:
    """Write a run's configuration with its keys in files beside it, and read it as usual."""
    more = [f"probes: {job.profile}", "gentle: false", *_overflow(job)]
    file = write_config(folder, lab, environment="drill", target=job.target, store=store, more=more)
    return read_config(str(file))


def write_config(
    folder: Path,
    lab: Announcement,
    *,
    environment: str,
    target: str,
    store: Path,
    more: Sequence[str],
) -> Path:
    """Write a configuration with a lab as its only target, ``more`` being further keys of it.

    The keys of the lab's tenants go into files beside it.
    """
    tenants = []
    for name, key in lab.keys.items():
        file = folder / f"{name}.key"
        file.touch(mode=0o600)
        file.write_text(key, encoding="ascii")
        tenants.append(f"      - {{name: {name}, api_key_file: {file}}}")
    lines = [
        "version: 1",
        f"environment: {environment}",
        f"storage: {{path: {store}}}",
        "targets:",
        f"  - name: {target}",
        "    engine: openai",
        f"    base_url: {lab.url}",
        f"    model: {lab.model}",
        f"    context_tokens: {lab.context_tokens}",
        *(f"    {line}" for line in more),
        "    tenants:",
        *tenants,
    ]
    config = folder / "davylamp.yaml"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return config


def _overflow(job: Job) -> list[str]:
    if job.fault not in ACCEPTED_TRUNCATION:
        return []
    expires = (datetime.now(UTC) + timedelta(days=_ACCEPTED_DAYS)).date().isoformat()
    accepted = f"owner: drill, reason: documented, expires: {expires}"
    return [f"overflow: {{truncate: {{{accepted}}}}}"]
