"""The command, watched from within: ``python -m tests.integration.watched OUT ARGUMENT…``.

At its end it writes to OUT which processes it started and which heavy libraries it loaded.
"""

from __future__ import annotations

import atexit
import json
import sys
from pathlib import Path

from monitor.cli.main import run

STARTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"})
HEAVY = frozenset(
    {"torch", "sentence_transformers", "onnxruntime", "tokenizers", "presidio_analyzer", "spacy"}
    | {"lingua", "onnx", "safetensors", "transformers"}
)


def watch(out: Path) -> None:
    """Write the report when the interpreter ends."""
    started: list[str] = []

    def see(event: str, arguments: tuple[object, ...]) -> None:
        if event in STARTS:
            started.append(f"{event} {arguments[1:2]!r}")

    sys.addaudithook(see)
    atexit.register(
        lambda: out.write_text(
            json.dumps({"started": started, "loaded": sorted(HEAVY & sys.modules.keys())}), "utf-8"
        )
    )


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
    del sys.argv[1]
    run()
