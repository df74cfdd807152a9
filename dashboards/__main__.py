"""``python -m dashboards [--out DIR]``: write every dashboard, and Grafana's form of the alerts."""

from __future__ import annotations

import argparse
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from dashboards.panels import dashboard
from dashboards.rules import alert_file

FOLDER = Path(__file__).resolve().parent
GENERATED = FOLDER / "generated"
RULES = "davylamp-alerts.yaml"
_END = ".dashboard.py"


def built() -> dict[str, dict[str, Any]]:
    """Return every dashboard by the name of its file."""
    sources = sorted(FOLDER.glob(f"*{_END}"))
    return {
        source.name.removesuffix(_END): dashboard(runpy.run_path(str(source))["page"])
        for source in sources
    }


def files() -> dict[str, str]:
    """Return what is generated, by name: a JSON file for each dashboard, and the alerts."""
    made = built()
    texts = {
        f"{name}.json": json.dumps(each, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        for name, each in made.items()
    }
    return texts | {RULES: alert_file(made)}


def main() -> int:
    """Write the files into the folder, the checkout's own if none is named."""
    parser = argparse.ArgumentParser(prog="python -m dashboards")
    parser.add_argument("--out", type=Path, default=GENERATED)
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{folder}: {', '.join(files())}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
