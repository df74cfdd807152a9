"""From the section ``gpus``, and from what a node says of itself, to what bytes are made of."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from monitor.config import Positions, validate_section
from monitor.config.gpu import Gpus
from monitor.config.secrets import Place
from monitor.conventions.gpu import Unattributed
from monitor.errors import ConfigError
from monitor.exporter import gpu_watch, tokens_of
from monitor.gpu import NodeTokens, Parallelism
from monitor.nodes.record import KvUse, Live, NodeFacts, NodeSnapshot, Role, Setting
from tests.unit.gpu.clocks import MovedClock
from tests.unit.gpu.shapes import DEEPSEEK_V3

AT = datetime(2026, 12, 1, tzinfo=UTC)


def snapshot(**settings: Setting) -> NodeSnapshot:
    return NodeSnapshot(
        node="a",
        target="glm",
        read_at=AT,
        role=Role.PREFILL,
        reached=True,
        facts=NodeFacts(pool_tokens=40_960, settings=settings),
        live=Live(kv=KvUse(used_tokens=1_000, usage_ratio=0.25)),
    )


def test_what_sglang_says_of_itself_is_taken() -> None:
    told = snapshot(
        tp_size=8,
        pp_size=1,
        dp_size=2,
        enable_dp_attention=True,
        kv_cache_dtype="fp8_e4m3",
        page_size=64,
    )
    assert tokens_of(told) == NodeTokens(
        target="glm",
        node="a",
        read_at=AT,
        used_tokens=1_000,
        capacity_tokens=40_960,
        usage_ratio=0.25,
        page_tokens=64,
        kv_dtype="fp8_e4m3",
        spread=Parallelism(tp=8, pp=1, dp=2, dp_attention=True),
    )


def test_what_a_node_does_not_say_or_says_wrongly_is_not_known() -> None:
    assert tokens_of(snapshot(cache_dtype="auto")).kv_dtype == "auto"
    odd = tokens_of(
        snapshot(tp_size="8", pp_size=True, dp_size=-1, kv_cache_dtype=8, enable_dp_attention=1)
    )
    assert (odd.spread, odd.kv_dtype) == (Parallelism(), None)


def opened(folder: Path, raw: dict[str, Any], tokens: tuple[NodeTokens, ...] = ()) -> Any:
    positions = Positions()
    gpus = validate_section(Gpus, raw, "gpus", positions, folder / "davylamp.yaml")
    gpus.stand_at(Place(file=folder / "davylamp.yaml", line=None, path="gpus"), positions)
    return gpu_watch(gpus, folder, MovedClock(), lambda: tokens)


def test_nobody_is_asked_where_the_section_is_off(tmp_path: Path) -> None:
    assert opened(tmp_path, {}) is None


def test_a_secret_that_is_missing_is_said(tmp_path: Path) -> None:
    raw = {"source": "dcgm", "dcgm_url": "http://127.0.0.1:1", "token_file": "nowhere"}
    with pytest.raises(ConfigError, match="nowhere"):
        opened(tmp_path, raw)


@pytest.mark.parametrize(
    ("text", "reason", "used"),
    [
        (json.dumps(DEEPSEEK_V3), Unattributed.NO_GPU, 1_000 * 61 * 576.0),
        ("{}", Unattributed.UNKNOWN_MODEL, None),
        (None, Unattributed.UNKNOWN_MODEL, None),
    ],
)
def test_a_model_is_read_beside_the_file_and_one_that_is_not_understood_is_said(
    tmp_path: Path, text: str | None, reason: Unattributed, used: float | None
) -> None:
    if text is not None:
        (tmp_path / "config.json").write_text(text, "utf-8")
    pools = [{"target": "glm", "model_config": "config.json", "kv_cache_dtype": "fp8"}]
    raw = {"source": "dcgm", "dcgm_url": "http://127.0.0.1:1", "pools": pools}
    told = tokens_of(snapshot(tp_size=8, pp_size=1, dp_size=1))
    [pool] = opened(tmp_path, raw, (told,)).page().pools
    assert (pool.reason, pool.used) == (reason, used)
