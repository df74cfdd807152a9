"""KV pools as bytes, beside what the GPUs have allocated."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from monitor.conventions.gpu import GpuState, Quantity, Unattributed, Unread
from monitor.gpu import (
    GpuMemory,
    GpuReading,
    NodeTokens,
    Parallelism,
    PoolModel,
    joined,
    shape_of,
)
from tests.unit.gpu.shapes import KIMI_K2, QWEN3_235B

GIB = 1024**3
AT = datetime(2026, 12, 1, tzinfo=UTC)
NODE = NodeTokens(
    target="glm",
    node="prefill-0",
    read_at=AT,
    used_tokens=183_702,
    capacity_tokens=367_404,
    page_tokens=64,
    kv_dtype="auto",
    spread=Parallelism(tp=4, pp=1, dp=1),
)
MODEL = PoolModel(target="glm", shape=shape_of(QWEN3_235B))


def gpu(name: str, allocated: float = 60, **more: object) -> GpuReading:
    size = int(allocated * GIB)
    told = GpuReading(
        gpu=name,
        state=GpuState.OK,
        memory=GpuMemory(total=80 * GIB, used=70 * GIB, free=10 * GIB),
        processes=1,
        process_bytes={"sglang": size},
    )
    return replace(told, **more)  # type: ignore[arg-type]


FOUR = [gpu(str(number)) for number in range(4)]


def test_tokens_become_bytes_on_each_gpu() -> None:
    pool = joined(NODE, [MODEL], FOUR)
    assert pool.reason is None
    assert pool.reserved == (367_404 + 64) * 48_128
    assert pool.used == 183_702 * 48_128


def test_tokens_of_data_parallel_groups_are_their_mean() -> None:
    grouped = replace(NODE, spread=Parallelism(tp=8, pp=1, dp=2, dp_attention=True))
    assert joined(grouped, [MODEL], FOUR).used == 183_702 / 2 * 48_128


def test_an_engine_that_says_only_how_full_it_is_is_enough_where_there_is_one_pool() -> None:
    told = replace(NODE, used_tokens=None, usage_ratio=0.25)
    assert joined(told, [MODEL], FOUR).used == 0.25 * 367_404 * 48_128


@pytest.mark.parametrize(
    ("dp", "told", "reason"),
    [
        (2, {"used_tokens": None, "usage_ratio": 0.25}, Unattributed.NO_TOKENS),
        (None, {"used_tokens": None, "usage_ratio": 0.25}, Unattributed.UNKNOWN_PARALLELISM),
        (None, {}, Unattributed.UNKNOWN_PARALLELISM),
        (1, {"used_tokens": None}, Unattributed.NO_TOKENS),
    ],
)
@pytest.mark.parametrize("gpus", [[gpu(str(number)) for number in range(8)], []])
def test_where_the_mean_of_several_pools_is_not_known_only_their_size_is_told(
    dp: int | None, told: dict[str, object], reason: Unattributed, gpus: list[GpuReading]
) -> None:
    node = replace(NODE, spread=Parallelism(tp=4, pp=1, dp=dp), **told)  # type: ignore[arg-type]
    pool = joined(node, [MODEL], gpus)
    assert (pool.used, pool.reason) == (None, reason)
    assert pool.reserved == (367_404 + 64) * 48_128
    assert pool.why


@pytest.mark.parametrize(
    ("tokens", "models", "reason"),
    [
        (NODE, [], Unattributed.NO_MODEL_CONFIG),
        (NODE, [PoolModel(target="other", shape=MODEL.shape)], Unattributed.NO_MODEL_CONFIG),
        (NODE, [PoolModel(unknown="no JSON")], Unattributed.UNKNOWN_MODEL),
        (NODE, [PoolModel()], Unattributed.NO_MODEL_CONFIG),
        (
            replace(NODE, used_tokens=None, capacity_tokens=None),
            [MODEL],
            Unattributed.NO_TOKENS,
        ),
        (replace(NODE, spread=Parallelism()), [MODEL], Unattributed.UNKNOWN_PARALLELISM),
        (replace(NODE, kv_dtype=None), [MODEL], Unattributed.UNKNOWN_DTYPE),
    ],
)
def test_what_cannot_be_told_has_no_figure_and_a_reason(
    tokens: NodeTokens, models: list[PoolModel], reason: Unattributed
) -> None:
    pool = joined(tokens, models, FOUR)
    assert (pool.reserved, pool.used, pool.reason) == (None, None, reason)
    assert pool.why


def test_a_pool_larger_than_what_is_allocated_is_not_attributed() -> None:
    pool = joined(NODE, [MODEL], [gpu(str(number), allocated=10) for number in range(4)])
    assert (pool.reserved, pool.used) == (None, None)
    assert pool.reason is Unattributed.EXCEEDS_PROCESS_MEMORY


def test_enough_gpus_must_have_room_where_none_are_named() -> None:
    three = [*FOUR[:3], gpu("3", allocated=1)]
    assert joined(NODE, [MODEL], three).reason is Unattributed.EXCEEDS_PROCESS_MEMORY
    five = [*FOUR, gpu("4", allocated=1)]
    assert joined(NODE, [MODEL], five).reason is None


def test_every_named_gpu_must_have_room_and_be_there() -> None:
    named = replace(MODEL, gpus=("0", "1"))
    assert joined(NODE, [named], FOUR).reason is None
    assert (
        joined(NODE, [named], [gpu("0"), gpu("1", allocated=1)]).reason
        is Unattributed.EXCEEDS_PROCESS_MEMORY
    )
    assert joined(NODE, [named], [gpu("0")]).reason is Unattributed.NO_GPU
    lost = [gpu("0"), gpu("1", state=GpuState.LOST)]
    assert joined(NODE, [named], lost).reason is Unattributed.NO_GPU


def test_without_gpus_the_figures_stand_and_nothing_vouches_for_them() -> None:
    pool = joined(NODE, [MODEL], [])
    assert pool.reason is Unattributed.NO_GPU
    assert pool.used == 183_702 * 48_128


def test_where_processes_are_not_seen_all_that_is_used_is_the_bound() -> None:
    hidden = {"process_bytes": {}, "processes": 0}
    assert joined(NODE, [MODEL], [gpu(str(n), **hidden) for n in range(4)]).reason is None
    partly = {"unread": {Quantity.PROCESSES: Unread.NOT_SUPPORTED}, "process_bytes": {"a": 1}}
    assert joined(NODE, [MODEL], [gpu(str(n), **partly) for n in range(4)]).reason is None
    nothing = [gpu(str(n), **hidden, memory=GpuMemory()) for n in range(4)]
    assert joined(NODE, [MODEL], nothing).reason is Unattributed.NO_PROCESS_MEMORY


def test_a_pool_of_unknown_size_cannot_be_held_against_memory() -> None:
    pool = joined(replace(NODE, capacity_tokens=None), [MODEL], FOUR)
    assert pool.reason is Unattributed.NO_TOKENS
    assert (pool.reserved, pool.used) == (None, 183_702 * 48_128)


def test_ones_own_figure_holds_and_what_names_the_node_comes_first() -> None:
    models = [MODEL, PoolModel(node="prefill-0", bytes_per_token=1000.0)]
    assert joined(NODE, models, FOUR).used == 183_702_000
    other = replace(NODE, node="decode-0")
    assert joined(other, models, FOUR).used == 183_702 * 48_128


def test_what_is_configured_of_the_spread_holds_over_what_the_node_says() -> None:
    silent = replace(NODE, spread=Parallelism(), kv_dtype=None)
    model = PoolModel(shape=shape_of(KIMI_K2), spread=Parallelism(tp=4, pp=1, dp=1), kv_dtype="fp8")
    assert joined(silent, [model], FOUR).used == 183_702 * 61 * 576
