"""Run llama-server on a free port of this machine, for tests and by hand.

`python3 -m tests.real_model.llama build` makes what is missing, once, and starts it for
a moment; `serve` runs it until Ctrl-C, and `serve --ignore-messages` the faulty one.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .artifacts import ArtifactError, build, locate

IGNORING_TEMPLATE = r"{{ '<|im_start|>assistant\n' }}"
"""A chat template that drops every message: four tokens, whatever was asked."""

START_DEADLINE_S = 60.0
STOP_DEADLINE_S = 10.0


class ServerError(RuntimeError):
    """llama-server ended or stayed silent; the text ends with its log."""


@contextmanager
def llama_server(
    *, chat_template: str | None = None, slots: int = 2, context: int = 4096
) -> Iterator[str]:
    """Yield the base URL of a server that answers; it is gone afterwards.

    `context` is shared by the slots: each gets `context / slots` tokens.
    """
    artifacts = locate()
    if not artifacts.complete:
        message = "no llama-server yet: python3 -m tests.real_model.llama build"
        raise ArtifactError(message)
    port = _free_port()
    command = [str(artifacts.server), "-m", str(artifacts.model), "--alias", "smollm2-135m"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    # A prompt is read by two; over a single token, two wait for each other longer than they work.
    command += ["--threads-batch", "2"]
    command += ["-np", str(slots), "-c", str(context), "--metrics", "--slots", "--jinja"]
    if chat_template is not None:
        command += ["--chat-template", chat_template]
    with tempfile.TemporaryDirectory(prefix="llama-server-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as sink, _running(command, sink.fileno()) as process:
            url = f"http://127.0.0.1:{port}"
            _wait_until_healthy(url, process, log)
            yield url


@contextmanager
def _running(command: list[str], log: int) -> Iterator[subprocess.Popen[bytes]]:
    # Threads that sleep while they wait: spinning ones halve the speed of a busy machine.
    process = subprocess.Popen(
        command,
        env=os.environ | {"OMP_WAIT_POLICY": "passive"},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5) as reply:
                if json.load(reply) == {"status": "ok"}:
                    return
        except OSError:  # refused, or 503 while it loads
            time.sleep(0.05)
    tail = log.read_text(errors="replace")[-2000:]
    message = f"llama-server did not start (exit code {process.poll()}):\n{tail}"
    raise ServerError(message)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> int:
    """Build or serve, as the first word says."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.real_model.llama")
    parser.add_argument("verb", choices=("build", "serve"))
    parser.add_argument("--ignore-messages", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a killed `serve` cleans up too
    template = IGNORING_TEMPLATE if options.ignore_messages else None
    try:
        artifacts = build()
        print(f"{artifacts.server}\n{artifacts.model}")
        with llama_server(chat_template=template) as url:
            if options.verb == "serve":
                print(f"{url}/v1 (Ctrl-C ends it)", flush=True)
                signal.pause()
    except KeyboardInterrupt:
        return 0
    except (ArtifactError, ServerError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
