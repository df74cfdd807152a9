"""What every mechanism has in common: whom it strikes, what is drawn, and the record of it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys

import httpx
import pytest

import monitor.lab
from monitor.lab.mechanisms.catalogue import MECHANISMS, assemble
from monitor.lab.settings import LabSettings
from monitor.lab.trigger import Trigger
from tests.unit.lab.helpers import FILLER, ask, finish, lab, repeat, send, text_of

MARKER = "bafot-gitiz-lusab-dunor"
OTHER = "kemup-dosin-rafil-zutab"
SUM = "What is 17 + 25?"


def _record(service, place: int = 0):
    return service.report()["mechanisms"][place]


def test_a_fault_begins_after_its_onset() -> None:
    service = lab("empty_answer", values={"empty_answer": {"onset": 3}})
    assert [text_of(service, SUM) for _ in range(5)] == ["42", "42", "42", "", ""]
    assert (_record(service)["exposed"], _record(service)["struck"]) == (2, 2)
    assert service.report()["requests"] == 5


def test_a_fault_strikes_only_its_tenant() -> None:
    service = lab("empty_answer", values={"empty_answer": {"tenant": "tenant-b"}})
    asked = ("tenant-a", "tenant-b", "tenant-a", "tenant-b")
    assert [text_of(service, SUM, tenant=tenant) for tenant in asked] == ["42", "", "42", ""]
    assert _record(service)["exposed"] == 2


def test_the_struck_share_is_of_those_that_meet_the_condition() -> None:
    service = lab("role_dropped", values={"role_dropped": {"rate": 0.5}})
    for number in range(60):
        ask(service, SUM, system="Be brief." if number % 2 else "")
    assert _record(service)["exposed"] == 30
    assert 8 < _record(service)["struck"] < 22


def test_a_condition_that_is_never_met_exposes_nobody() -> None:
    for name in ("batch_crossed", "page_reused_early", "overlength_placeholder", "stale_answer"):
        service = lab(name)
        assert text_of(service, repeat(MARKER)) == MARKER
        assert text_of(service, "Compute 3 + 4.") == "7"
        assert (_record(service)["exposed"], _record(service)["struck"]) == (0, 0), name


def test_asking_a_trigger_again_counts_once() -> None:
    trigger = Trigger(seed=1, name="x", params={"rate": 0.5})
    service = lab()
    jobs = [send(service, SUM).job for _ in range(20)]
    first = [trigger.strikes(job) for job in jobs]
    assert first == [trigger.strikes(job) for job in jobs]
    assert (trigger.exposed, trigger.struck) == (20, sum(first))
    assert [trigger.would_strike(job) for job in jobs] == first


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_the_same_seed_draws_the_same(name: str) -> None:
    draws = [
        (assemble(LabSettings(seed=seed), [name], draw=True)) for seed in (*range(12), *range(12))
    ]
    drawn = [(dict(steps.triggers[0].params), settings.page_size) for settings, steps in draws]
    assert drawn[:12] == drawn[12:]
    for params, page_size in drawn:
        assert params.keys() == MECHANISMS[name].params.keys()
        assert 0.0 < float(params["rate"]) <= 1.0
        assert page_size in {8, 16, 32}
        for param, choices in MECHANISMS[name].choices.items():
            assert params[param] in choices
    if MECHANISMS[name].deterministic:
        assert {(p["rate"], p["onset"], p["tenant"]) for p, _ in drawn} == {(1.0, 0, "")}
    else:
        assert len({p["onset"] for p, _ in drawn}) > 3


def test_what_is_set_is_not_drawn() -> None:
    values = {"loops": {"rate": 0.25}, "lab": {"page_size": 4}}
    settings, steps = assemble(LabSettings(seed=5), ["loops"], values, draw=True)
    _, free = assemble(LabSettings(seed=5), ["loops"], draw=True)
    assert (steps.triggers[0].rate, settings.page_size) == (0.25, 4)
    assert steps.triggers[0].params["ngram"] == free.triggers[0].params["ngram"]


def test_foreign_words_are_named_by_their_tenants() -> None:
    service = lab("batch_crossed")
    first = send(service, repeat(MARKER), tenant="tenant-a")
    second = send(service, repeat(OTHER), tenant="tenant-b")
    finish(service, first, second)
    assert first.parser.content == OTHER
    assert service.report()["foreign"] == {
        first.job.rid: ["tenant-b"],
        second.job.rid: ["tenant-a"],
    }


def test_another_request_of_the_same_tenant_is_foreign_too() -> None:
    service = lab("stale_answer")
    long = "The reference code of this ticket is written at the very end of this text. "
    ask(service, f"{long}{FILLER} {repeat(MARKER)}", tenant="tenant-c")
    again = ask(service, f"{long}{repeat(OTHER)}", tenant="tenant-c")
    assert again.parser.content == MARKER
    assert service.report()["foreign"] == {again.job.rid: ["tenant-c"]}


def test_a_cached_beginning_in_common_is_nobodys() -> None:
    service = lab()
    for tenant in ("tenant-a", "tenant-b"):
        answer = ask(service, f"{FILLER} {FILLER} {repeat(MARKER)}", tenant=tenant)
        assert answer.parser.content == MARKER
    assert answer.usage.cached_tokens > 0
    assert {output.source.writer for output in answer.job.output} != {answer.job.rid}
    assert service.report()["foreign"] == {}


def test_the_list_can_be_read_by_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert monitor.lab.main(["--list-faults", "--json"]) == 0
    listed = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert list(listed) == list(MECHANISMS)
    more = {"shown_by", "deterministic", "drawn"}
    for name, each in listed.items():
        assert {"name", "null", "sentence", "params", *more} == set(each)
        assert each["drawn"].keys() <= each["params"].keys(), name
    assert listed["usage_half"]["deterministic"] is True
    assert listed["batch_crossed"]["deterministic"] is False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_lab_says_what_happened(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "monitor.lab", "--fault", "usage_half", "--fault", "slow"]
    command += ["--set", "slow.seconds=0.01", "--set", "slow.tenant=tenant-a"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as lab_:
        assert lab_.stdout
        said = json.loads(lab_.stdout.readline())
        headers = {"Authorization": f"Bearer {said['keys']['tenant-b']}"}
        body = {"model": said["model"], "messages": [{"role": "user", "content": SUM}]}
        url = f"{said['url']}/chat/completions"
        reply = httpx.post(url, headers=headers, json=body, timeout=20)
        lab_.send_signal(number)
        report = json.loads(lab_.stdout.readline())
        assert lab_.wait(20) == 0
    assert reply.json()["choices"][0]["message"]["content"] == "42"
    assert [(m["name"], m["exposed"], m["struck"]) for m in report["mechanisms"]] == [
        ("usage_half", 1, 1),
        ("slow", 0, 0),
    ]
    assert [m["null"] for m in report["mechanisms"]] == [False, True]
    assert (report["requests"], report["foreign"]) == (1, {})


def test_a_lab_stopped_as_soon_as_it_speaks_still_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    class Out(io.StringIO):
        def write(self, text: str) -> int:
            said.append(text)
            if len(said) == 1:
                signal.raise_signal(signal.SIGTERM)
            return len(text)

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    monkeypatch.setattr(sys, "stdout", Out())
    try:
        assert monitor.lab.main(["--port", "0"]) == 0
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    report = [sorted(json.loads(line)) for line in said][1]
    assert report == ["asked", "foreign", "mechanisms", "requests"]
