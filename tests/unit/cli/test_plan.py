"""``plan`` prints what the daemon would do, sends no prompt, and adds up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.cli.estimate import day_estimate
from monitor.cli.main import main
from monitor.cli.plan_words import ASSUMPTIONS
from monitor.configured import choices_of, golden_prompts, read_config, target_view
from monitor.dayplan.plan import day_plan
from tests.unit.cli.small_server import Answer, serving

TARGET: dict[str, Any] = {
    "name": "glm",
    "engine": "openai",
    "base_url": "http://127.0.0.1:9/v1",
    "model": "glm-5.3",
    "context_tokens": 131_072,
    "tenants": [{"name": "tenant-a"}, {"name": "tenant-b"}],
    "price": {"input_usd_per_million": 1.0, "output_usd_per_million": 2.0},
}


def written(folder: Path, **target: Any) -> Path:
    file = folder / "davylamp.yaml"
    settings = {"version": 1, "storage": {"path": str(folder / "store")}}
    given = {key: value for key, value in (TARGET | target).items() if value is not None}
    text = yaml.safe_dump(settings | {"targets": [given]}, sort_keys=False)
    file.write_text(text, encoding="utf-8")
    return file


def planned(folder: Path, *arguments: str, **target: Any) -> dict[str, Any]:
    file, out = written(folder, **target), folder / "plan.json"
    assert main(["plan", "--config", str(file), "--json", str(out), *arguments]) == 0
    data: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return data


def test_the_json_says_what_the_schedule_would_follow(tmp_path: Path) -> None:
    data = planned(tmp_path, "--offline")
    config = read_config(str(tmp_path / "davylamp.yaml"))
    (target,) = config.targets
    day = day_plan(
        config, target, target_view(target, golden_prompts()), choices_of(config, target)
    )
    (told,) = data["targets"]
    assert {(s["probe"], s["stratum"]): s["trials"] for s in told["strata"]} == {
        (s.probe, s.stratum): round(s.trials, 3) for s in day.strata
    }
    assert data["configuration_hash"] == config.hash
    assert data["assumptions"] == list(ASSUMPTIONS)
    assert not (tmp_path / "store").exists()


def test_strata_add_up_to_budgets_and_budgets_to_the_estimate(tmp_path: Path) -> None:
    (told,) = planned(tmp_path, "--offline")["targets"]
    for budget, total in told["budgets"].items():
        own = [s for s in told["strata"] if s["budget"] == budget]
        assert sum(s["answered_tokens"] for s in own) == pytest.approx(
            total["answered_tokens"], abs=len(own)
        )
        assert total["answered_tokens"] <= total["cap_tokens"]
    config = read_config(str(tmp_path / "davylamp.yaml"))
    estimate = day_estimate(config, config.targets[0])
    assert estimate is not None
    both = told["budgets"].values()
    assert sum(t["answered_tokens"] for t in both) == pytest.approx(estimate.answered_tokens, abs=2)
    assert told["usd"] == pytest.approx(estimate.answered_tokens * 1.15 / 1e6, rel=1e-3)
    assert told["seconds"] > 0


def test_what_cannot_be_paid_is_printed_with_its_price(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, boundary_budget={"tokens": 1000})
    assert main(["plan", "--config", str(file), "--offline"]) == 0
    lines = capsys.readouterr().out.splitlines()
    dear = [line for line in lines if "NOT PROBED boundary over-131072" in line]
    assert len(dear) == 2
    assert all("the boundary budget of 1,000 cannot pay" in line for line in dear)
    assert all("tokens a trial" in line for line in dear)


def test_without_a_price_there_is_no_money(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (told,) = planned(tmp_path, "--offline", price=None)["targets"]
    assert told["usd"] is None
    assert "$" not in capsys.readouterr().out


def test_a_profile_and_a_target_may_be_chosen_and_unknown_ones_are_errors(tmp_path: Path) -> None:
    data = planned(tmp_path, "glm", "--offline", "--profile", "quick")
    assert data["profile"] == "quick"
    file = str(tmp_path / "davylamp.yaml")
    assert main(["plan", "other", "--config", file, "--offline"]) == 2
    assert main(["plan", "--config", file, "--offline", "--profile", "huge"]) == 2


def test_limits_are_asked_for_with_get_alone(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(path: str, headers: Mapping[str, str]) -> Answer:
        asked.append(path)
        if path == "/v1/models":
            return Answer(body='{"data": [{"id": "glm-5.3", "max_model_len": 8192}]}')
        return Answer(status=404, body="{}")

    async def run() -> dict[str, Any]:
        async with serving(answer) as port:
            url = f"http://127.0.0.1:{port}/v1"
            return await asyncio.to_thread(planned, tmp_path, base_url=url)

    (told,) = asyncio.run(run())["targets"]
    lengths = {s["stratum"].split("/")[0] for s in told["strata"] if s["probe"] == "boundary"}
    assert {"over-8192", "under-8192", "over-131072"} <= lengths
    assert asked
    assert not [path for path in asked if path.endswith("completions")]
