"""Measure the table of faults: what status codes and latency saw, and what Davylamp said.

Run: ``make faults-table``. Every fault and null is a lab of its own, checked once by the real
command with a fresh store; the table goes to stdout and into ``docs/faults.md``.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitor.detect.binomial import exceeds
from tests.integration.faults import FAULTS, NULLS, Case
from tests.integration.processes import (
    COMMAND,
    ROOT,
    Installation,
    Run,
    fault,
    free_port,
    install,
    lab,
    process,
    resident_bytes,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitor.reports.check import ExchangeReport, TargetReport

PAGE = ROOT / "docs" / "faults.md"
HEALTHY = Case(fault="healthy")
SHOWN_WORDS = 2
SETTLED_SECONDS = 20.0
HEAD = (
    "| {kind} | asked | status codes | p95 | wrong | Davylamp said | exit | first seen after |",
    "|---|---|---|---|---|---|---|---|",
)
TITLE = """# Faults of the lab: what was seen, and what was said

Measured by `make faults-table`, not written by hand. Each row is one `davylamp check` with a fresh
store against a lab with one thing switched on (`davylamp lab --list-faults`). *Asked* is the
profile, or the probes where they were asked alone. *Status codes* and *p95* are what ordinary
monitoring sees: 400 is the refusal of a prompt over the limit, which is right; what we broke off
ourselves has none. *First seen after* counts exchanges and tokens, input and output, up to the
first proof, or for ordinary mistakes up to where the tolerance of 10 % no longer explains them.
Times and random prompts differ from run to run; classes do not. What only the nodes show
([lab.md](lab.md#faults)) is not asked here.
"""

NOT_REACHED = """
- **Truncation in the middle of the range.** Only sizes around declared and discovered limits are
  asked. A cut far below every known limit shows where a probe happens to be longer than it, and to
  `davylamp context verify`, which asks for it.
- **Faults that need load.** Bursts have 2 to 32 members, and a target that asks for gentleness gets
  none of 16 or more. A fault that needs a fuller batch or pool, or preemption, is not provoked.
- **Rare faults.** A pass of the quick profile sends few exchanges: what strikes one in a hundred is
  missed by most passes. The line UNSEEN of each summary bounds what could be missed.
- **One tenant.** With a single key, foreign text is CROSSED at most, never LEAK.
"""
EXIT_3 = """
Exit 3 is right where the service turned requests away: what was not answered is not called good.
"""
RARE_TITLE = """
## Rare or out of the way

One pass of the quick profile each, whatever comes of it: a row that says nothing is a miss.
"""
RARE = (
    Case(fault="batch_crossed", parameters={"rate": 0.1}),
    Case(fault="empty_answer", parameters={"rate": 0.01}),
    Case(fault="special_tokens_leak", parameters={"rate": 0.01}),
    Case(fault="mixed_tokens", parameters={"rate": 0.05}),
    Case(fault="loops", parameters={"rate": 0.05}),
    Case(fault="front_dropped", parameters={"num_ctx": 1000}),
    Case(fault="replica_small"),
    Case(fault="batch_rows_shifted"),
    Case(fault="stream_chunk_lost"),
    Case(fault="tool_schema_broken"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class First:
    """When a fault was first seen: exchanges and tokens sent up to then."""

    exchanges: int
    tokens: int


@dataclass(slots=True)
class Tally:
    """Valid exchanges, and those among them that are wrong."""

    valid: int = 0
    wrong: int = 0

    def count(self, exchange: ExchangeReport) -> None:
        """Count one exchange."""
        self.valid += exchange.outcome in ("good", "bad")
        self.wrong += exchange.outcome == "bad"

    def exceeds(self, tolerance: float) -> bool:
        """Return true if the tolerance no longer explains them."""
        return exceeds(self.wrong, self.valid, tolerance)


def run_case(case: Case, folder: Path) -> Run:
    """Check a lab with one fault or null, once."""
    arguments = [] if case is HEALTHY else [*fault(case.fault, **case.parameters), *case.pace]
    with lab(*arguments) as endpoint:
        installation = install(folder, endpoint, probes=case.chosen(), **_accepted(case))
        return installation.check()


def _accepted(case: Case) -> dict[str, Any]:
    if case.fault != "truncate":
        return {}
    expires = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    reason = {"owner": "serving", "reason": "documented", "expires": expires}
    return {"overflow": {"truncate": reason}}


def exchanges_of(target: TargetReport) -> Iterator[tuple[str, ExchangeReport]]:
    """Yield probe and exchange, in the order of sending."""
    for trial in target.trials:
        for exchange in trial.exchanges:
            yield trial.probe, exchange


def first_seen(target: TargetReport) -> First | None:
    """Return when the first proof came, or without any, when the tolerance was exceeded."""
    tokens = 0
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for sent, (probe, exchange) in enumerate(exchanges_of(target), start=1):
        tokens += (exchange.input_tokens or 0) + (exchange.output_tokens or 0)
        for tally in (tallies[""], tallies[probe]):
            tally.count(exchange)
        proven = exchange.outcome == "bad" and exchange.verdict_class != "WRONG"
        too_many = not target.answers.proven and target.answers.exceeded
        too_many = too_many and any(
            tally.exceeds(target.answers.tolerance) for tally in tallies.values()
        )
        if proven or too_many:
            return First(exchanges=sent, tokens=tokens)
    return None


def said(target: TargetReport) -> str:
    """Return the worst class and its words, and where."""
    if not target.found:
        return "nothing"
    worst = target.found[0].verdict_class
    of_class = [found for found in target.found if found.verdict_class == worst]
    words = dict.fromkeys(part for found in of_class for part in found.words.split("; "))
    probes = dict.fromkeys(found.probe for found in of_class)
    bits = max((found.evidence_bits or 0.0 for found in of_class), default=0.0)
    proof = f", {bits:.0f} bits" if bits else ""
    more = len(words) - SHOWN_WORDS
    shown = "; ".join(list(words)[:SHOWN_WORDS]) + (f" (and {more} more)" if more > 0 else "")
    return f"{worst}: {shown} ({', '.join(probes)}{proof})"


def row(case: Case, run: Run) -> str:
    """Return one line of the table."""
    target = run.target
    codes = ", ".join(f"{count} x {code}" for code, count in target.http.codes.items())
    p95 = target.http.p95_seconds
    first = first_seen(target)
    cells = [
        f"`{case.label}`",
        case.asked,
        codes,
        "-" if p95 is None else f"{p95 * 1000:.0f} ms",
        f"{target.answers.wrong} of {target.answers.valid}",
        said(target),
        str(run.exit_code),
        f"{first.exchanges} exchanges, {first.tokens} tokens" if first else "-",
    ]
    return f"| {' | '.join(cells)} |"


def table(kind: str, cases: tuple[Case, ...], folder: Path) -> list[str]:
    """Run the cases and return their table, printing each line as it comes."""
    lines = [HEAD[0].format(kind=kind), HEAD[1]]
    for line in lines:
        _print(line)
    for number, case in enumerate(cases):
        lines.append(row(case, run_case(case, folder / f"{kind}-{number}")))
        _print(lines[-1])
    return lines


def missed(cases: tuple[Case, ...], lines: list[str]) -> list[str]:
    """Return the cases whose row says that Davylamp did not exit 1."""
    rows = zip(cases, lines[2:], strict=True)
    return [case.label for case, line in rows if line.split(" | ")[-2] != "1"]


def sizes_of(folder: Path) -> str:
    """Measure the daemon's resident memory at rest, and how long ``check`` takes."""
    with lab() as endpoint:
        installation = install(folder, endpoint)
        run = installation.check("--profile", "quick")
        installation.settings["defaults"] = {"interval": "9d"}
        installation.settings["listen"] = {"port": free_port()}
        resident = _resident(installation.write())
    seconds, target, peak = run.seconds, run.target, run.peak_bytes / 1e6
    return f"""
- `check --profile quick` against a healthy lab of 4096 tokens: {seconds:.1f} s from start to exit,
  {target.tokens.input} input tokens, {peak:.0f} MB at its peak.
- The daemon at rest, with the embedded store: {resident / 1e6:.0f} MB resident.
"""


def _resident(installation: Installation) -> int:
    command = [COMMAND, "run", "--config", str(installation.config)]
    log = installation.folder / "daemon.log"
    with process(command, stderr=log) as running:
        wait_until(lambda: "serving" in log.read_text("utf-8"), SETTLED_SECONDS, "serving")
        time.sleep(SETTLED_SECONDS)  # a bench may wait: what counts is the memory at rest
        return resident_bytes(running.pid)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure everything and write the page."""
    with tempfile.TemporaryDirectory(prefix="davylamp-faults-") as name:
        folder = Path(name)
        faults = table("fault", FAULTS, folder)
        nulls = table("null", (HEALTHY, *NULLS), folder)
        rare = table("rare", RARE, folder)
        sizes = sizes_of(folder / "idle")
    silent = missed(FAULTS, faults)
    verdict = "Every fault was seen." if not silent else f"Not seen: {', '.join(silent)}."
    parts = [
        TITLE,
        "## Faults\n",
        *faults,
        f"\n{verdict}\n",
        "## Nulls: peculiar, but not wrong\n",
        *nulls,
        EXIT_3,
        RARE_TITLE,
        *rare,
        "\n## Size and speed",
        sizes,
        "## What these probes do not reach",
        NOT_REACHED,
    ]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"
    PAGE.write_text(text, encoding="utf-8")
    _print(f"\n{verdict} Written to {PAGE.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
