"""The engine when something breaks in it, and the mechanisms inside it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from monitor.lab.server import application
from monitor.lab.service import Service
from monitor.lab.settings import LabSettings
from monitor.lab.steps import Steps
from tests.unit.lab.helpers import KEYS, ask, code, lab, long_prompt, repeat, send, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitor.lab.jobs import Job, OutputToken
    from monitor.lab.pages import PagePool

AUTH = {"Authorization": f"Bearer {KEYS['tenant-a']}"}
MARKER = "bafot-gitiz-lusab-dunor"
BROKEN = "zzz"


def _broken(**steps: Callable[..., Any]) -> Service:
    settings = LabSettings(keys=KEYS)
    return Service(settings, replace(Steps(), **steps))


def _breaks_in_decode(service_of: list[Service]) -> Callable[[Job], OutputToken]:
    def sample(job: Job) -> OutputToken:
        if BROKEN in service_of[0].tokenizer.decode(job.prompt.tokens):
            raise ZeroDivisionError
        return Steps().sample(job)

    return sample


def _breaks_in_prefill(service_of: list[Service]) -> Callable[[Job, PagePool], None]:
    def after_prefill(job: Job, pool: PagePool) -> None:
        if BROKEN in service_of[0].tokenizer.decode(job.prompt.tokens):
            raise ZeroDivisionError

    return after_prefill


def _body(content: str, **options: Any) -> dict[str, Any]:
    return {"model": "lamp-lab-1", "messages": [{"role": "user", "content": content}], **options}


def _together(service: Service, *bodies: dict[str, Any]) -> list[httpx.Response]:
    return _in_rounds(service, list(bodies))[0]


def _in_rounds(service: Service, *rounds: list[dict[str, Any]]) -> list[list[httpx.Response]]:
    async def one_after_the_other() -> list[list[httpx.Response]]:
        loop = asyncio.create_task(service.run())
        transport = httpx.ASGITransport(app=application(service))
        answers = []
        async with httpx.AsyncClient(transport=transport, base_url="http://lab") as http:
            for bodies in rounds:
                sent = [http.post("/v1/chat/completions", json=b, headers=AUTH) for b in bodies]
                answers.append(await asyncio.wait_for(asyncio.gather(*sent), 20))
        loop.cancel()
        return answers

    return asyncio.run(one_after_the_other())


def _content(response: httpx.Response) -> str:
    return response.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize("where", ["sample", "after_prefill"])
def test_a_breakdown_fails_its_request_and_no_other(
    where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    holder: list[Service] = []
    breaks = _breaks_in_decode if where == "sample" else _breaks_in_prefill
    holder.append(_broken(**{where: breaks(holder)}))
    service = holder[0]
    free = service.engine.prefill_pool.free_pages
    replies = _together(
        service, _body(repeat(MARKER)), _body(f"{BROKEN}?"), _body("What is 17 + 25?")
    )
    assert [reply.status_code for reply in replies] == [200, 500, 200]
    assert (_content(replies[0]), _content(replies[2])) == (MARKER, "42")
    assert replies[1].json()["type"] == "InternalServerError"
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert not service.engine.is_busy
    kept = service.engine.cache.evictable_pages
    assert service.engine.prefill_pool.free_pages + kept == free


def test_a_breakdown_in_a_stream_is_an_error_event_and_an_end() -> None:
    holder: list[Service] = []
    holder.append(_broken(sample=_breaks_in_decode(holder)))
    broken, good = _together(
        holder[0], _body(f"{BROKEN}?", stream=True), _body(repeat(MARKER), stream=True)
    )
    events = [line.removeprefix("data: ") for line in broken.text.split("\n\n") if line]
    assert events[-1] == "[DONE]"
    assert json.loads(events[-2])["code"] == 500
    assert good.text.rstrip().endswith("[DONE]")
    assert "InternalServerError" not in good.text


def test_a_breakdown_of_the_whole_turn_fails_whoever_was_in_it() -> None:
    def assign(joined: list[Job], running: list[Job]) -> None:
        if len(joined) > 1:
            raise ZeroDivisionError
        Steps().assign_tables(joined, running)

    service = _broken(assign_tables=assign)
    two = [_body("What is 1 + 1?"), _body("What is 2 + 2?")]
    replies, (reply,) = _in_rounds(service, two, [_body("What is 2 + 3?")])
    assert {reply.status_code for reply in replies} == {500}
    assert _content(reply) == "5"


def test_what_there_will_never_be_room_for_fails() -> None:
    service = lab(values={"lab": {"decode_share": 0.05, "prefill_share": 1.0}}, mode="pd")
    assert service.engine.disaggregated
    long, short = _together(service, _body(" cat" * 1000), _body("What is 2 + 3?"))
    assert long.status_code == 500
    assert _content(short) == "5"


def test_an_aborted_request_gives_its_pages_back() -> None:
    for mode in ("unified", "pd"):
        service = lab(mode=mode, values={"lab": {"transfer_turns": 3}})
        engine = service.engine
        free = (engine.prefill_pool.free_pages, engine.decode_pool.free_pages)
        for turns in (1, 2, 6):
            answer = send(service, f"Count from 1 up to 60. {turns}")
            for _ in range(turns):
                engine.step()
            assert not answer.job.is_finished()
            answer.job.cancelled = True
            engine.drain()
        kept = engine.cache.evictable_pages
        assert engine.prefill_pool.free_pages + kept == free[0]
        assert engine.decode_pool.free_pages + (kept if mode == "unified" else 0) == free[1]
        assert text_of(service, repeat(MARKER)) == MARKER


def test_pages_that_take_turns_to_arrive_hold_the_same() -> None:
    service = lab(mode="pd", values={"lab": {"transfer_turns": 3}})
    answer = send(service, repeat(MARKER))
    for _ in range(3):
        service.engine.step()
        assert not answer.job.output
    service.engine.drain()
    assert MARKER in service.tokenizer.decode([each.token for each in answer.job.output])
    assert ask(service, repeat(MARKER)).parser.content == MARKER


def _accuracy(service: Service, rounds: int) -> list[float]:
    """Return the share of right answers in each round of 25, to prompts that are all new."""
    rng, shares = Random(5), []
    for _ in range(rounds):
        markers = [code(rng) for _ in range(25)]
        shares.append(sum(text_of(service, repeat(each)) == each for each in markers) / 25)
    return shares


def test_state_decays_as_requests_are_served_and_a_restart_mends_it() -> None:
    values = {"decay": {"pace": 0.5, "positions": 256}}
    shares = _accuracy(lab("decay", values=values), 7)
    assert shares[0] > 0.7
    assert max(shares[5:]) < 0.5
    assert _accuracy(lab("decay", values=values), 1) == shares[:1]
    assert set(_accuracy(lab(), 2)) == {1.0}


def test_decay_begins_after_its_onset_and_only_who_reads_damage_is_exposed() -> None:
    service = lab("decay", values={"decay": {"onset": 25, "pace": 1.0}})
    first, second = _accuracy(service, 2)
    assert first == 1.0
    assert second < 1.0
    assert 0 < service.report()["mechanisms"][0]["exposed"] <= 25


def test_from_some_request_on_one_token_is_printed_for_ever() -> None:
    service = lab("nan_after", values={"nan_after": {"onset": 2}})
    answers = [ask(service, "What is 17 + 25?", max_new_tokens=40) for _ in range(4)]
    assert [answer.parser.content for answer in answers] == ["42", "42", "!" * 40, "!" * 40]
    assert answers[-1].finish_reason == "length"


def test_some_beginnings_go_to_a_replica_that_holds_less() -> None:
    values = {"replica_small": {"context": 512, "rate": 0.5}}
    service = lab("replica_small", values=values)
    rng = Random(11)
    sizes, kept = [], []
    for _ in range(20):
        codes = [code(rng) for _ in range(4)]
        for _ in range(2):
            prompt = f"Ticket {codes[0]}. " + long_prompt(codes, 12)
            answer = ask(service, prompt)
            sizes.append(answer.usage.prompt_tokens)
            kept.append(all(each in answer.parser.content for each in codes))
            assert answer.usage.prompt_tokens == (512 if not kept[-1] else len(answer.job.loaded))
    # The same beginning goes the same way.
    assert kept[::2] == kept[1::2]
    assert 4 < sum(kept[::2]) < 16
    assert text_of(service, repeat(MARKER)) == MARKER
    record = service.report()["mechanisms"][0]
    assert (record["exposed"], record["struck"]) == (40, kept.count(False))
