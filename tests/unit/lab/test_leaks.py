"""Every fault that brings foreign text: the text is in the pages, and its writer is the donor."""

# ruff: noqa: E501 (prompts read best whole; Chinese signs are meant)
from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tests.unit.lab.helpers import (
    FILLER,
    ask,
    code,
    finish,
    lab,
    long_prompt,
    repeat,
    send,
    written_by,
)

if TYPE_CHECKING:
    from monitor.lab.service import Answer, Service


def _codes(seed: int, count: int = 4) -> list[str]:
    rng = Random(seed)
    return [code(rng) for _ in range(count)]


def _lookup(codes: list[str]) -> str:
    rows = f"crate 17: {codes[1]}\ncrate 22: {codes[2]}\ncrate 38: {codes[3]}"
    question = f"Here is a list of crates and their shelf codes:\n{rows}\nWhich shelf code belongs to crate 22?"
    return repeat(codes[0], question)


def _burst(service: Service, *prompts: str) -> list[Answer]:
    answers = [send(service, prompt) for prompt in prompts]
    finish(service, *answers)
    return answers


def test_a_placeholder_lets_the_donor_speak() -> None:
    service = lab("overlength_placeholder")
    donor_codes, victim_codes = _codes(1), _codes(2)
    donor = ask(service, long_prompt(donor_codes, 5))
    victim = ask(service, long_prompt(victim_codes, 36))
    leaked = [marker for marker in donor_codes if marker in victim.parser.content]
    assert leaked
    for marker in leaked:
        assert written_by(service, victim, marker) == {donor.job.rid}
    assert not any(marker in victim.parser.content for marker in victim_codes)
    assert victim.finish_reason == "stop"
    assert victim.usage.prompt_tokens == len(victim.job.prompt.tokens)


def test_every_leaked_token_stands_in_the_page_it_names() -> None:
    service = lab("overlength_placeholder")
    ask(service, long_prompt(_codes(1), 5))
    victim = send(service, long_prompt(_codes(2), 36))
    service.engine.step()
    pool = service.engine.decode_pool
    for output in victim.job.plan:
        if output.source.kind == "pages":
            slots = pool.read([output.source.page], pool.page_size)
            there = service.tokenizer.piece(slots.tokens[output.source.slot])
            # A copied word may have lost the space before it.
            assert service.tokenizer.piece(output.token) in there
            assert slots.writers[output.source.slot] == output.source.writer


def test_only_the_first_page_is_the_victims() -> None:
    service = lab("overlength_placeholder")
    victim = send(service, long_prompt(_codes(2), 36))
    service.engine.step()
    job = victim.job
    slots = service.engine.decode_pool.read(job.table, job.length)
    assert job.loaded == [0]
    assert slots.writers[0] == job.rid
    assert set(slots.writers[1:]) == {""}


def test_the_placeholder_may_show_in_the_usage() -> None:
    service = lab("overlength_placeholder", values={"overlength_placeholder": {"usage": "prefill"}})
    assert ask(service, long_prompt(_codes(2), 36)).usage.prompt_tokens == 1


def test_shorter_prompts_are_answered_right_under_the_fault() -> None:
    service = lab("overlength_placeholder")
    ask(service, long_prompt(_codes(1), 5))
    codes = _codes(2)
    assert ask(service, long_prompt(codes, 20)).parser.content == "\n".join(codes)


def test_an_untrimmed_entry_answers_with_the_old_request() -> None:
    service = lab("prefix_tail_kept")
    first = ask(service, _lookup(_codes(1)), system=FILLER)
    second = ask(service, _lookup(_codes(2)), system=FILLER)
    assert _codes(1)[0] in second.parser.content
    assert written_by(service, second, _codes(1)[0]) == {first.job.rid}
    assert _codes(2)[0] not in second.parser.content


def test_an_untrimmed_entry_needs_a_common_page() -> None:
    service = lab("prefix_tail_kept")
    ask(service, _lookup(_codes(1)), system="One. " + FILLER)
    assert ask(service, _lookup(_codes(2)), system="Two. " + FILLER).parser.content.startswith(
        _codes(2)[0]
    )


def test_members_of_a_batch_answer_each_other() -> None:
    service = lab("batch_crossed")
    answers = _burst(service, _lookup(_codes(1)), _lookup(_codes(2)), _lookup(_codes(3)))
    contents = [answer.parser.content for answer in answers]
    assert [_codes(seed)[0] for seed in (3, 1, 2)] == [c.split("\n")[0] for c in contents]
    assert written_by(service, answers[1], _codes(1)[0]) == {answers[0].job.rid}


def test_one_after_the_other_is_clean() -> None:
    service = lab("batch_crossed")
    for seed in (1, 2):
        codes = _codes(seed)
        assert ask(service, _lookup(codes)).parser.content == f"{codes[0]}\n{codes[2]}"


def test_a_page_given_away_early_is_overwritten_by_the_next() -> None:
    service = lab("page_reused_early")
    answers = _burst(service, _lookup(_codes(1)), _lookup(_codes(2)))
    assert _codes(2)[0] in answers[0].parser.content
    assert written_by(service, answers[0], _codes(2)[0]) == {answers[1].job.rid}


def test_a_page_overwritten_while_decoding_changes_the_running_answer() -> None:
    service = lab("page_reused_early")
    first = send(service, _lookup(_codes(1)))
    service.engine.step()
    second = send(service, _lookup(_codes(2)))
    finish(service, first, second)
    assert first.parser.content[:4] == _codes(1)[0][:4]
    assert _codes(1)[2] not in first.parser.content
    assert second.parser.content.split("\n")[0] == _codes(2)[0]


def test_a_short_page_key_takes_foreign_pages_for_hits() -> None:
    service = lab("prefix_key_short")
    first = ask(service, _lookup(_codes(1)), system="You are the assistant of a shop.")
    second = ask(service, _lookup(_codes(2)), system="You are the assistant of a bank.")
    assert first.job.rid in {output.source.writer for output in second.job.output} or (
        second.parser.content.split("\n")[0] != _codes(2)[0]
    )


def test_a_stored_answer_comes_again() -> None:
    service = lab("stale_answer")
    first = ask(service, _lookup(_codes(1)))
    second = ask(service, _lookup(_codes(2)))
    assert second.parser.content == first.parser.content
    assert written_by(service, second, _codes(1)[0]) == {first.job.rid}


def test_a_healthy_burst_keeps_everyone_apart() -> None:
    service = lab()
    answers = _burst(service, *(_lookup(_codes(seed)) for seed in range(12)))
    for seed, answer in enumerate(answers):
        assert answer.parser.content == f"{_codes(seed)[0]}\n{_codes(seed)[2]}"
        assert {o.source.writer for o in answer.job.output} == {answer.job.rid}
