"""A process that is killed has forgotten nothing of what it reserved before sending."""

from __future__ import annotations

import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from monitor.store import open_store
from tests.integration.processes import process

CAP = 1_000_000
SPENDER = f"""
import sys
from pathlib import Path
from monitor.budget import Budget, Cap, StoredLedger
from monitor.clock import SystemClock
from monitor.store import open_store

store = open_store(Path(sys.argv[1]))
caps = {{("glm", "ordinary"): Cap(tokens={CAP})}}
budget = Budget(caps, StoredLedger(store.writer, store.reader), SystemClock())
while reservation := budget.reserve("glm", "ordinary", 777):
    print(budget.spent_tokens("glm", "ordinary"), flush=True)
"""


def test_kill_9_while_spending_loses_no_reservation(tmp_path: Path) -> None:
    day = datetime.now(UTC).date()
    with process([sys.executable, "-c", SPENDER, str(tmp_path / "store")]) as spender:
        assert spender.stdout
        told = [int(spender.stdout.readline()) for _ in range(60)]
        spender.send_signal(signal.SIGKILL)
        told += [int(line) for line in spender.stdout]
        spender.wait(timeout=10)
    with open_store(tmp_path / "store") as store:
        kept = store.reader.spent_tokens("glm", day)
    last = told[-1]
    assert last <= kept <= last + 777
