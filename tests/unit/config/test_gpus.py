"""What the configuration says about GPUs, read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import ConfigErrors
from monitor.config.show import render_effective
from monitor.errors import ConfigError
from tests.unit.config.known import GOOD, load_text

GPUS = """\
gpus:
  source: dcgm
  interval: 30s
  dcgm_url: "http://127.0.0.1:9400/metrics"
  token_env: DCGM_TOKEN
  pools:
    - {target: glm-prod, model_config: ./glm/config.json, tp_size: 8, gpus: [0, 1]}
    - {node: "prefill-0:30000", bytes_per_token: 70272.5, kv_cache_dtype: fp8_e4m3}
"""


def test_without_the_section_nobody_is_asked(tmp_path: Path) -> None:
    gpus = load_text(tmp_path, GOOD).settings.gpus
    assert (gpus.source, gpus.pools) == ("off", ())


def test_what_is_written_holds_and_is_shown_again(tmp_path: Path) -> None:
    config = load_text(tmp_path, GOOD + GPUS)
    gpus = config.settings.gpus
    assert (gpus.source, gpus.interval_seconds, str(gpus.token)) == ("dcgm", 30.0, "$DCGM_TOKEN")
    first, second = gpus.pools
    assert (first.target, first.model_config_file, first.tp_size, first.gpus) == (
        *("glm-prod", "./glm/config.json", 8),
        (0, 1),
    )
    assert (second.node, second.bytes_per_token) == ("prefill-0:30000", 70272.5)
    again = load_text(tmp_path, render_effective(config))
    assert again.settings.gpus.model_dump() == gpus.model_dump()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{source: dcgm}", "add dcgm_url"),
        ("{source: cuda}", "gpus.source"),
        ("{interval: 30m}", "write 15s"),
        ("{source: nvml, token_env: A}", "a token but no dcgm_url"),
        (
            '{source: dcgm, dcgm_url: "http://node-1:9400/metrics", token_env: A}',
            "send its token in clear",
        ),
        ("{pools: [{target: glm-prod}]}", "says nothing of a model"),
        ("{pools: [{target: nobody, bytes_per_token: 1.0}]}", "no target 'nobody'"),
        ("{pools: [{bytes_per_token: 0.0}]}", "bytes_per_token"),
        ("{pools: [{bytes_per_token: 1.0, gpus: [-1]}]}", "gpus.pools[0].gpus[0]"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises((ConfigError, ConfigErrors)) as raised:
        load_text(tmp_path, f"{GOOD}gpus: {text}\n")
    assert words in str(raised.value)
    assert "gpus" in str(raised.value)
