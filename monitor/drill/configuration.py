"""The configuration of one run: a fresh lab as the only target, with the default daily caps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from monitor.app import read_config
from monitor.config import Config
from monitor.drill.job import Job
from monitor.drill.lab import Announcement

_ACCEPTED_DAYS = 30
# Nulls that a service does on purpose and says so: its owner would have accepted them.
ACCEPTED_TRUNCATION = frozenset({"truncate"})


def run_config(folder: Path, store: Path, job: Job, lab: Announcement) -> Config:
    """Write a run's configuration with its keys in files beside it, and read it as usual."""
    tenants = []
    for name, key in lab.keys.items():
        file = folder / f"{name}.key"
        file.touch(mode=0o600)
        file.write_text(key, encoding="ascii")
        tenants.append(f"      - {{name: {name}, api_key_file: {file}}}")
    lines = [
        "version: 1",
        "environment: drill",
        f"storage: {{path: {store}}}",
        "targets:",
        f"  - name: {job.target}",
        "    engine: openai",
        f"    base_url: {lab.url}",
        f"    model: {lab.model}",
        f"    context_tokens: {lab.context_tokens}",
        f"    probes: {job.profile}",
        "    gentle: false",
        *_overflow(job),
        "    tenants:",
        *tenants,
    ]
    file = folder / "davylamp.yaml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_config(str(file))


def _overflow(job: Job) -> list[str]:
    if job.fault not in ACCEPTED_TRUNCATION:
        return []
    expires = (datetime.now(UTC) + timedelta(days=_ACCEPTED_DAYS)).date().isoformat()
    accepted = f"owner: drill, reason: documented, expires: {expires}"
    return [f"    overflow: {{truncate: {{{accepted}}}}}"]
