"""A service that speaks a dialect of its own is recognised by its host, and asked in its words."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from monitor.cli.config_commands import Report
from monitor.cli.doctor_line import Health, Surroundings
from monitor.cli.doctor_target import check_key, models_without_key
from monitor.cli.init import init_from
from monitor.clock import SystemClock
from monitor.config import load_config
from monitor.config.known import Known
from monitor.engines import ENGINES, engine_at
from monitor.engines.base import DiscoveredModel, Discovery
from tests.unit.cli.small_server import Answer, serving

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from monitor.cli.doctor_line import Line

CLOUDFLARE = "https://api.cloudflare.com/client/v4/accounts/0123/ai/v1"


@pytest.mark.parametrize(
    ("url", "engine"),
    [
        (CLOUDFLARE, "workers_ai"),
        ("https://gateway.ai.cloudflare.com/v1/acc/gw/workers-ai/v1", "workers_ai"),
        ("https://api.z.ai/api/paas/v4", "zai"),
        ("https://open.bigmodel.cn/api/paas/v4", "zai"),
        ("https://gateway.example.com/v1", "openai"),
        ("https://api.z.ai.example.com/v1", "openai"),
        ("http://127.0.0.1:8000/v1", "openai"),
    ],
)
def test_the_engine_at_a_url(url: str, engine: str) -> None:
    assert engine_at(url) == engine


def test_init_writes_the_engine_down(tmp_path: Path) -> None:
    async def discover(_url: str, _key: str | None) -> Discovery:
        return Discovery(models=(DiscoveredModel(id="@cf/zai-org/glm-5.2"),))

    async def make() -> Report:
        known = Known(engines=ENGINES, probes=("canary",))
        return await init_from(CLOUDFLARE, file, discover=discover, known=known)

    file = tmp_path / "davylamp.yaml"
    asyncio.run(make())
    [target] = load_config(file, engines=ENGINES, probes=("canary",)).targets
    assert (target.engine, target.model) == ("workers_ai", "@cf/zai-org/glm-5.2")
    assert target.base_url == CLOUDFLARE


CONFIG = """\
version: 1
targets:
  - name: cf
    engine: workers_ai
    base_url: http://127.0.0.1:PORT/client/v4/accounts/0123/ai/run
    model: "@cf/zai-org/glm-5.2"
    tenants: [{name: a, api_key_env: CF_TOKEN}]
"""
SEARCH = "/client/v4/accounts/0123/ai/models/search?per_page=100&search=glm-5.2"


def _checked(folder: Path, name: str) -> Line:
    async def run() -> Line:
        def handler(path: str, headers: Mapping[str, str]) -> Answer:
            if path != SEARCH or headers.get("authorization") != "Bearer planted-token":
                return Answer(403)
            return Answer(200, json.dumps({"success": True, "result": [{"name": name}]}))

        async with serving(handler) as port:
            file = folder / "davylamp.yaml"
            file.write_text(CONFIG.replace("PORT", str(port)), encoding="utf-8")
            config = load_config(file, engines=ENGINES, probes=())
            around = Surroundings(config=config, clock=SystemClock(), timeout_seconds=5.0)
            [target] = config.targets
            [tenant] = target.tenants
            open_reply = await models_without_key(around, target)
            return await check_key(around, target, tenant, "planted-token", open_reply)

    return asyncio.run(run())


def test_the_doctor_looks_into_the_catalogue(tmp_path: Path) -> None:
    assert _checked(tmp_path, "@cf/zai-org/glm-5.2").health is Health.OK
    assert _checked(tmp_path, "@cf/other/model").health is Health.WARN
