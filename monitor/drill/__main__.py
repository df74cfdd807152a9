"""``python -m monitor.drill FOLDER``: a worker. Jobs come as JSON lines, results go as such.

It keeps one store open for all its runs, since a process can open an embedded store only once.
It ends with its input. A run that raises ends it: whoever started it says what could not be told.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from monitor.clock import SystemClock
from monitor.drill.job import Job
from monitor.drill.run import run_job
from monitor.logs import set_up_logs
from monitor.store import open_store


def main(folder: Path) -> None:
    """Do one job after another until there are no more."""
    set_up_logs("error", "text")
    path = folder / "store"
    with open_store(path) as store:
        for line in sys.stdin:
            job = Job.model_validate_json(line)
            report = asyncio.run(run_job(job, store, path, SystemClock()))
            sys.stdout.write(report.model_dump_json(by_alias=True) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
