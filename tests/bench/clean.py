"""``make bench-clean``: what all checks say of thousands of clean answers.

Healthy labs, plain and with every null fault (quirks that are no fault), are asked by whole passes
with every check switched on; with ``--real`` also a small real model behind llama.cpp. Whatever
fails there is a false alarm. LEAK and CROSSED must have none; the others are printed with their
Wilson interval.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from monitor.detect.binomial import wilson
from monitor.reports.check import TargetReport
from monitor.verdicts import CONSEQUENCES
from tests.integration import processes
from tests.integration.faults import NULLS
from tests.integration.processes import Endpoint, Installation, fault, install, lab

_EXTRAS = {"pii": "presidio_analyzer", "topic": "sentence_transformers", "language": "lingua"}
# Nulls are quirks of the wire: a standard pass meets each of them often enough.
_HEALTHY_PROFILE, _NULL_PROFILE = "deep", "standard"
_BUDGETS = {
    "daily_budget": {"tokens": 2_000_000_000},
    "boundary_budget": {"tokens": 2_000_000_000},
}


class Tally:
    """Exchanges that were judged, and what failed on them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.exchanges = 0
        self.failed: Counter[tuple[str, str]] = Counter()
        self.judged: Counter[str] = Counter()

    def add(self, target: TargetReport) -> None:
        """Count every signal of a pass over one target."""
        for trial in target.trials:
            for exchange in trial.exchanges:
                self.exchanges += exchange.http_status == 200
                for signal in exchange.signals:
                    self.judged[signal.code] += signal.status in ("pass", "fail")
                    if signal.status == "fail":
                        self.failed[signal.code, signal.variant] += 1

    def lines(self) -> Iterator[str]:
        """Yield a line for each kind of false alarm."""
        yield f"{self.name}: {self.exchanges:,} answers"
        for (code, variant), count in sorted(self.failed.items()):
            row = CONSEQUENCES[code, variant]
            whole = max(count, self.judged[code])
            low, high = wilson(count, whole)
            yield (
                f"  {row.verdict_class.label:<12} {code} {variant}: {count:,} of {whole:,} judged "
                f"({low:.3%} to {high:.3%})"
            )
        proven = sum(
            count
            for key, count in self.failed.items()
            if CONSEQUENCES[key].verdict_class.label in ("LEAK", "CROSSED")
        )
        _, high = wilson(proven, max(1, self.exchanges))
        yield f"  LEAK or CROSSED: {proven} (at most {high:.3%})"


def main() -> None:
    """Ask until there are enough answers, and print what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=5000)
    parser.add_argument("--real", type=int, default=0, metavar="N", help="answers of a real model")
    asked = parser.parse_args()
    processes.COMMAND_SECONDS = 3600.0  # a deep pass takes minutes
    with tempfile.TemporaryDirectory() as folder:
        healthy, nulls = Tally("healthy lab"), Tally("labs with nulls")
        number = 0
        while healthy.exchanges < asked.answers // 2:
            _ask(healthy, Path(folder) / f"h{number}", [], seed=number)
            number += 1
        for case in NULLS:
            _ask(nulls, Path(folder) / case.fault, fault(case.fault), seed=number)
        say(healthy)
        say(nulls)
        if asked.real:
            say(_real(Path(folder), asked.real))


def _ask(tally: Tally, folder: Path, arguments: list[str], *, seed: int) -> None:
    with lab(*arguments, seed=seed) as endpoint:
        installation = _installation(folder, endpoint)
        run = installation.check("--profile", _NULL_PROFILE if arguments else _HEALTHY_PROFILE)
        tally.add(run.target)


def _real(folder: Path, answers: int) -> Tally:
    tally = Tally("SmolLM2-135M behind llama.cpp")
    number = 0
    while tally.exchanges < answers:
        with _model() as endpoint:
            installation = _installation(folder / f"real{number}", endpoint, tolerance=0.95)
            installation.settings["targets"][0]["probes"] = _REAL_PROBES
            tally.add(installation.write().check().target)
        number += 1
    return tally


_REAL_PROBES = [
    {"name": "golden", "params": {"count": 0}},
    {"name": "canary", "params": {"count": 24}},
    {"name": "tenant", "params": {"rounds": 6}},
    {"name": "burst", "params": {"bursts": 4}},
]


@contextmanager
def _model() -> Iterator[Endpoint]:
    from tests.real_model.llama import llama_server

    with llama_server() as url:
        keys = {"tenant-a": "a", "tenant-b": "b"}
        yield Endpoint(url=f"{url}/v1", model="smollm2", keys=keys)


def _installation(folder: Path, endpoint: Endpoint, **target: object) -> Installation:
    installation = install(folder, endpoint, **(_BUDGETS | target))
    checks = {key: {} for key, module in _EXTRAS.items() if importlib.util.find_spec(module)}
    installation.settings.update({"checks": checks, "defaults": {"timeout": "5m"}})
    return installation.write()


def say(tally: Tally) -> None:
    """Print a tally."""
    sys.stdout.write("\n".join(tally.lines()) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
