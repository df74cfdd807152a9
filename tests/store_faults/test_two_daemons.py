"""Two daemons on one folder: the second says who has it, and the first goes on."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.integration.processes import (
    COMMAND,
    free_port,
    install,
    lab,
    process,
    wait_until,
)

START_SECONDS = 60


def test_the_second_daemon_names_the_first_and_where_it_answers(tmp_path: Path) -> None:
    with lab() as endpoint:
        installation = install(tmp_path, endpoint)
        installation.settings["defaults"] = {"interval": "9d"}
        installation.settings["storage"]["sql"] = {"enabled": False}
        port = free_port()
        installation.settings["listen"] = {"port": port}
        installation.write()
        log = tmp_path / "daemon.log"
        with process([COMMAND, "run", "--config", str(installation.config)], stderr=log) as first:
            url = f"http://127.0.0.1:{port}"
            wait_until(lambda: is_ready(url), START_SECONDS, "the first daemon is ready")
            installation.settings["listen"] = {"port": free_port()}
            installation.write()
            second = installation.davylamp("run")
            assert second.exit_code == 2, second.output
            expected = f"process {first.pid} owns this store; its daemon answers at {url}"
            assert expected in second.stderr
            assert str(installation.store) in second.stderr
            assert "Traceback" not in second.stderr
            assert is_ready(url)


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False, timeout=5.0).status_code == 200
    except httpx.HTTPError:
        return False
