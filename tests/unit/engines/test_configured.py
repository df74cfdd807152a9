"""What a target's configuration says of its engine reaches the wire, and is checked before."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from monitor.clock import SystemClock
from monitor.config.show import render_effective
from monitor.configured import live_target, read_config, target_view
from monitor.errors import ConfigError
from monitor.probes.base import Feature
from tests.fakes.hostile import HostileServer
from tests.unit.engines.asking import HEALTHY, question

if TYPE_CHECKING:
    from pathlib import Path

    from monitor.config import Config
    from monitor.live import LiveTarget
    from tests.fakes.hostile import Received

GOOD = """\
version: 1
environment: test
targets:
  - name: t
    engine: openai
    base_url: http://h/v1
    model: m
    tenants: [{name: a}]
"""


def configured(folder: Path, more: str = "", *, engine: str = "openai", url: str = "") -> Config:
    """Return the configuration of one target, with ``more`` lines of its own."""
    text = GOOD.replace("engine: openai", f"engine: {engine}")
    text = text.replace("http://h/v1", url or "http://h/v1") + more
    file = folder / "davylamp.yaml"
    file.write_text(text, encoding="utf-8")
    return read_config(str(file))


def received(folder: Path, more: str = "", *, engine: str = "openai") -> Received:
    """Return what a server receives from a target configured so."""

    async def run() -> Received:
        async with HostileServer(HEALTHY) as server:
            config = configured(folder, more, engine=engine, url=server.url)
            target = live(config)
            await target.engine.ask(question(), credential=None, timeout_seconds=5)
            await target.engine.aclose()
            return server.received[0]

    return asyncio.run(run())


def live(config: Config) -> LiveTarget:
    """Return the target of ``config``, ready to be asked."""
    return live_target(config, config.targets[0], {}, SystemClock())


def test_a_target_says_no_more_than_it_must(tmp_path: Path) -> None:
    got = received(tmp_path)
    assert got.json().keys() == {"model", "messages", "max_tokens", "stream", "temperature"}
    assert got.headers["x-davylamp-probe"] == "probe"


def test_options_reach_the_wire(tmp_path: Path) -> None:
    more = """\
    engine_options:
      max_tokens_field: max_completion_tokens
      send_temperature: false
      extra_body: {top_k: 1, metadata: {team: serving}}
    tags: {header: X-Synthetic, metadata: true}
"""
    got = received(tmp_path, more)
    body = got.json()
    assert (body["max_completion_tokens"], body["top_k"]) == (8, 1)
    assert "temperature" not in body
    assert body["metadata"] == {"team": "serving", "davylamp": "probe"}
    assert got.headers["x-synthetic"] == "probe"
    assert "x-davylamp-probe" not in got.headers


@pytest.mark.parametrize(
    ("engine", "options", "effort", "expected"),
    [
        ("openai", "", "low", {"reasoning_effort": "low"}),
        ("openai", "reasoning_dialect: thinking", "none", {"thinking": {"type": "disabled"}}),
        (
            "openai",
            "reasoning_dialect: chat_template",
            "minimal",
            {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}},
        ),
        (
            "openai",
            (
                "reasoning_dialect: chat_template,"
                " extra_body: {chat_template_kwargs: {thinking: true, style: terse}}"
            ),
            "none",
            {
                "chat_template_kwargs": {
                    "enable_thinking": False,
                    "thinking": True,
                    "style": "terse",
                }
            },
        ),
        ("workers_ai", "", "high", {"reasoning_effort": "high"}),
        ("zai", "", "high", {"thinking": {"type": "enabled"}}),
    ],
)
def test_effort_is_said_in_the_engine_s_words(
    tmp_path: Path, engine: str, options: str, effort: str, expected: dict[str, object]
) -> None:
    more = f"    engine_options: {{{options}}}\n    reasoning: {{effort: {effort}}}\n"
    body = received(tmp_path, more, engine=engine).json()
    assert body.items() >= expected.items()
    fields = {"reasoning_effort", "thinking", "chat_template_kwargs"}
    assert fields & body.keys() == expected.keys()


@pytest.mark.parametrize(
    ("engine", "options", "problem"),
    [
        (
            "openai",
            "{max_token_field: x}",
            (
                "davylamp.yaml:9: targets[0].engine_options.max_token_field: unknown key"
                " 'max_token_field' (did you mean 'max_tokens_field'?)"
            ),
        ),
        (
            "openai",
            "{send_temperature: 7}",
            (
                "davylamp.yaml:9: targets[0].engine_options.send_temperature: must be true or"
                " false, not 7"
            ),
        ),
        (
            "openai",
            "{extra_body: {messages: []}}",
            (
                "davylamp.yaml:9: targets[0].engine_options.extra_body: messages cannot be set"
                " here: Davylamp sets it"
            ),
        ),
        (
            "zai",
            "{api: native}",
            "davylamp.yaml:9: targets[0].engine_options.api: unknown key 'api'",
        ),
        (
            "workers_ai",
            "{api: soap}",
            "davylamp.yaml:9: targets[0].engine_options.api: unknown value 'soap'",
        ),
    ],
)
def test_wrong_options_name_file_line_and_path(
    tmp_path: Path, engine: str, options: str, problem: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(tmp_path, f"    engine_options: {options}\n", engine=engine)
    said = str(caught.value).replace(f"{tmp_path}/", "")
    assert said.startswith(problem), said


@pytest.mark.parametrize(
    ("tags", "problem"),
    [
        ("{header: Authorization}", "the header 'Authorization' is set by us"),
        ("{header: 'X Probe'}", "'X Probe' is not a header name"),
        ("{header: X-Team}\n    headers_env: {x-team: TEAM}", "is also one of headers_env"),
        ("{untagged_share: 2}", "untagged_share"),
        ("{metadata: some}", "must be true or false"),
    ],
)
def test_wrong_tags_are_errors(tmp_path: Path, tags: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(tmp_path, f"    tags: {tags}\n")
    assert problem in str(caught.value)


def test_a_share_goes_untagged(tmp_path: Path) -> None:
    assert live(configured(tmp_path)).untagged_share == 0.02
    more = "    tags: {untagged_share: 0}\n"
    assert live(configured(tmp_path, more)).untagged_share == 0.0


def test_what_the_dialect_lacks_is_not_planned(tmp_path: Path) -> None:
    more = "    lacks: [stream]\n"
    views = [
        target_view(configured(tmp_path, more, engine=engine).targets[0], {})
        for engine in ("openai", "zai")
    ]
    assert [view.lacks for view in views] == [
        {Feature.STREAM},
        {Feature.STREAM, Feature.JSON_SCHEMA},
    ]


def test_options_and_tags_survive_being_shown(tmp_path: Path) -> None:
    more = """\
    engine_options: {send_seed: false, extra_body: {top_k: 1, nested: {words: ["a b", "no"]}}}
    tags: {header: X-Synthetic, untagged_share: 0.5}
"""
    config = configured(tmp_path, more)
    shown = tmp_path / "shown.yaml"
    shown.write_text(render_effective(config), encoding="utf-8")
    again = read_config(str(shown))
    assert again.hash == config.hash
    assert again.targets[0].engine_options == config.targets[0].engine_options
