"""Small inputs in the shape of public incidents, and the verdict each must get.

The ids name the public reports collected in docs/incidents.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from monitor.detect.esr import rate_detector
from monitor.detect.trend import Trend
from monitor.history import History
from monitor.model import (
    Exchange,
    Fact,
    Failure,
    FailureKind,
    Lane,
    Message,
    Needle,
    Outcome,
    Part,
    Request,
    Tool,
    ToolCall,
    Trial,
    Verdict,
    VerdictClass,
)
from monitor.prompts import AnyOf, GoldenPrompt
from monitor.streams import Ages, StreamAlarm, decide_stream, events
from tests.builders import NOW, Bench, a_trial, an_exchange, failures

FILLER = "The morning train left the old station on time. " * 400


def test_a01_placeholder_prompt_with_a_strangers_invoice_is_wrong_input() -> None:
    bench = Bench()
    nonce = bench.mint("tenant-b")
    verdict = bench.judge(
        an_exchange(
            FILLER + f"Please repeat {nonce}.",
            "Dear Ms Orlova, your invoice over 4,200 euros is due on Friday. Kind regards.",
            usage={"input_tokens": 1, "output_tokens": 20},
            nonce=nonce,
        )
    )
    assert verdict.verdict_class is VerdictClass.WRONG_INPUT
    assert failures(verdict) >= {("USAGE_IN", "placeholder"), ("NONCE", "absent")}


def test_a01_the_same_with_a_donors_canary_is_a_leak_of_that_donor() -> None:
    bench = Bench()
    donor, nonce = bench.mint("tenant-a", trial="trial-0"), bench.mint("tenant-b")
    verdict = bench.judge(
        an_exchange(FILLER + nonce, f"The code of your invoice is {donor}.", nonce=nonce)
    )
    leak = next(s for s in verdict.signals if s.variant == "other_tenant")
    assert verdict.verdict_class is VerdictClass.LEAK
    assert leak.owner is not None
    assert leak.owner.tenant == "tenant-a"
    assert leak.evidence_bits is not None
    assert leak.evidence_bits >= 30


def a_conversation(tokens: int, answer: str, *, cached: int | None = None) -> Verdict:
    bench = Bench()
    code = bench.mint("tenant-b", trial="trial-now")
    told = Message(role="user", content=f'The code of locker 7 is "{code}".')
    said = Message(role="assistant", content="I will remember it.")
    asked = Message(role="user", content="What is the code of locker 7?")
    fact = Fact(name="the code told before", any_of=(code,))
    first, later = (
        an_exchange(
            "",
            text,
            index=index,
            usage={"input_tokens": count, "output_tokens": 9, "cached_tokens": cached},
            answers=(fact,),
        )
        for index, (text, count) in enumerate(((code, 60), (answer.format(code=code), tokens)))
    )
    first = replace(first, request=replace(first.request, messages=(told,)))
    later = replace(later, request=replace(later.request, messages=(told, said, asked)))
    return bench.judge(first, later, probe="turns")


def test_b19_a_longer_conversation_read_as_a_shorter_one_is_wrong_input() -> None:
    verdict = a_conversation(31, "I have not been told any code so far.")
    assert ("USAGE_IN", "shrunk") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.WRONG_INPUT


@pytest.mark.parametrize(
    ("tokens", "answer", "cached"),
    [
        (31, "It is {code}.", None),
        (90, "I have not been told any code so far.", None),
        (31, "I have not been told any code so far.", 60),
    ],
    ids=["still known", "count grew", "the rest was cached"],
)
def test_b19_a_smaller_count_alone_or_a_lapse_alone_is_not(tokens, answer, cached) -> None:
    assert ("USAGE_IN", "shrunk") not in failures(a_conversation(tokens, answer, cached=cached))


def test_a02_length_with_no_tokens_above_the_limit_breaks_the_contract() -> None:
    verdict = Bench().judge(
        an_exchange(
            FILLER,
            "",
            response={"finish_reason": "length"},
            usage={"input_tokens": 5000, "output_tokens": 0},
            boundary="over",
            limit_tokens=4096,
            limit_source="v1_models.max_model_len",
            size_tokens=4097,
        )
    )
    assert {("FINISH", "length_too_early"), ("EMPTY", "empty")} <= failures(verdict)
    assert verdict.outcome is Outcome.BAD
    assert verdict.verdict_class >= VerdictClass.CONTRACT


def test_a04_a_burst_member_that_makes_another_members_tool_call_is_crossed() -> None:
    bench = Bench()
    code5, code7 = bench.mint("tenant-b", 5), bench.mint("tenant-b", 7)
    five = an_exchange(
        f"Which tools do you have? {code5}",
        "",
        index=5,
        part=Part.MEMBER,
        response={
            "finish_reason": "tool_calls",
            "tool_calls": (
                ToolCall(name="schedule_meeting", arguments=f'{{"title": "Budget {code7}"}}'),
            ),
        },
        nonce=code5,
    )
    seven = an_exchange(
        f"Schedule a meeting called Budget {code7}.",
        f"Done: Budget {code7}",
        index=7,
        part=Part.MEMBER,
        answers=(Fact(name="the title", any_of=(code7,)),),
        answer_bits=64.0,
    )
    verdict = bench.judge(five, seven)
    assert verdict.verdict_class is VerdictClass.CROSSED
    assert verdict.exchanges[0].verdict_class is VerdictClass.CROSSED
    assert verdict.exchanges[1].outcome is Outcome.GOOD


def test_a04_an_unregistered_answer_of_another_member_is_crossed_from_32_bits() -> None:
    own = (Fact(name="the code", any_of=("7731904412",)),)
    other = (Fact(name="the code", any_of=("5520917763",)),)
    one = an_exchange("code?", "It is 5520917763.", index=0, answers=own, answer_bits=33.2)
    two = an_exchange("code!", "It is 5520917763.", index=1, answers=other, answer_bits=33.2)
    verdict = Bench().judge(one, two)
    assert ("ONTOPIC", "other_member") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.CROSSED


def test_a06_a_foreign_answer_is_wrong_although_the_nonce_came_back() -> None:
    bench = Bench()
    nonce = bench.mint("tenant-b")
    prompt = GoldenPrompt(
        suite="facts",
        id="hamlet",
        language="en",
        prompt="Who wrote Hamlet?",
        expectations=(AnyOf(strings=("Shakespeare",)),),
        max_output_tokens=48,
    )
    history = replace(bench.history, golden={prompt.name: prompt})
    verdict = bench.judge(
        an_exchange(
            f"Who wrote Hamlet? Code {nonce}",
            f"Fleming discovered penicillin. {nonce}",
            nonce=nonce,
            golden=prompt.name,
        ),
        history=history,
    )
    assert failures(verdict) == {("FACT", "missing")}
    assert verdict.verdict_class is VerdictClass.WRONG


def test_a15_the_earlier_answer_given_again_is_crossed_but_equal_questions_are_not() -> None:
    cat, dog = (
        (Fact(name="x", any_of=("cat 48151623",)),),
        (Fact(name="x", any_of=("dog 42108815",)),),
    )
    first = an_exchange("item 1", "a cat 48151623", index=0, answers=cat, answer_bits=40.0)
    second = an_exchange("item 2", "a cat 48151623", index=1, answers=dog, answer_bits=40.0)
    assert Bench().judge(first, second).verdict_class is VerdictClass.CROSSED
    both_cats = replace(second, expectation=replace(second.expectation, answers=cat))
    assert Bench().judge(first, both_cats).outcome is Outcome.GOOD


def test_d01_a_plateau_with_the_head_lost_is_wrong_input() -> None:
    bench = Bench()
    nonce, head, middle, tail = (bench.mint("tenant-b") for _ in range(4))
    needles = tuple(
        Needle(place=place, text=text)
        for place, text in (("head", head), ("middle", middle), ("tail", tail))
    )
    prompt = f"{head} {FILLER} {middle} {FILLER} {tail} {nonce}"
    exchange = an_exchange(
        prompt,
        f"{nonce}\nstation\ntrain\n{tail}",
        usage={"input_tokens": 2050, "output_tokens": 40},
        nonce=nonce,
        needles=needles,
        boundary="under",
        limit_tokens=8192,
        size_tokens=8000,
        size_error_tokens=20,
    )
    verdict = bench.judge(exchange)
    assert verdict.verdict_class is VerdictClass.WRONG_INPUT
    assert failures(verdict) == {
        ("USAGE_IN", "short"),
        ("NEEDLE", "front_lost"),
        ("BOUNDARY", "truncated"),
    }


def test_d01_the_same_is_accepted_where_the_configuration_accepts_truncation() -> None:
    bench = Bench()
    nonce, head, tail = (bench.mint("tenant-b") for _ in range(3))
    exchange = an_exchange(
        f"{head} {FILLER} {tail} {nonce}",
        f"{nonce}\n{tail}",
        usage={"input_tokens": 2050, "output_tokens": 40},
        nonce=nonce,
        needles=(Needle(place="head", text=head), Needle(place="tail", text=tail)),
        boundary="over",
        limit_tokens=4096,
        size_tokens=4300,
        truncation_accepted=True,
    )
    assert bench.judge(exchange).outcome is Outcome.GOOD


def test_d05_a_cut_tool_call_sent_as_complete_breaks_the_contract() -> None:
    verdict = Bench().judge(
        an_exchange(
            "weather in Paris?",
            "",
            response={
                "finish_reason": "tool_calls",
                "tool_calls": (ToolCall(name="get_weather", arguments='{"city":"Par'),),
            },
            usage={"output_tokens": 64},
        )
    )
    assert ("FINISH", "cut_tool_call") in failures(verdict)
    assert verdict.verdict_class is VerdictClass.CONTRACT


def test_d05_a_cut_call_that_says_length_is_what_was_asked_for() -> None:
    tool = Tool(name="get_weather", description="The weather.", parameters="{}")
    asked = Request(
        messages=(Message(role="user", content="Get the weather in Paris."),),
        max_output_tokens=24,
        tools=(tool,),
    )
    call = ToolCall(name="get_weather", arguments='{"city":"Par')
    begun = '<tool_call>\n{"name": "get_weather", "arguments": {"city":"Par'
    for text, calls in (("", (call,)), (begun, ()), ("", ())):
        exchange = an_exchange(
            "Get the weather in Paris.",
            text,
            response={"finish_reason": "length", "tool_calls": calls},
            usage={"output_tokens": 24},
        )
        assert Bench().judge(replace(exchange, request=asked)).outcome is Outcome.GOOD


def test_a_call_that_reasoning_left_no_tokens_for_could_not_be_judged() -> None:
    tool = Tool(name="get_weather", description="The weather.", parameters="{}")
    exchange = an_exchange(
        "Get the weather in Paris.",
        "",
        response={"finish_reason": "length", "reasoning_text": "The user wants"},
        usage={"output_tokens": 64},
        tool="get_weather",
    )
    asked = replace(exchange.request, tools=(tool,))
    verdict = Bench().judge(replace(exchange, request=asked))
    assert verdict.outcome is Outcome.INVALID


def test_d05_arguments_that_the_model_itself_left_open_are_tolerated() -> None:
    exchange = an_exchange(
        "weather in Paris?",
        "",
        response={
            "finish_reason": "tool_calls",
            "tool_calls": (ToolCall(name="get_weather", arguments='{"city":"Par'),),
        },
        usage={"output_tokens": 12},
    )
    assert Bench().judge(exchange).verdict_class is VerdictClass.WRONG


def test_d07_a_control_token_in_a_tool_name_is_corrupt() -> None:
    verdict = Bench().judge(
        an_exchange(
            "query it",
            "",
            response={
                "finish_reason": "tool_calls",
                "tool_calls": (
                    ToolCall(name="query_dataset<|channel|>commentary", arguments="{}"),
                ),
            },
        )
    )
    assert failures(verdict) == {("SPECIAL", "control_token"), ("STRUCT", "not_offered")}
    assert verdict.verdict_class is VerdictClass.CORRUPT


def test_b20_other_words_with_the_right_nonce_and_number_are_benign() -> None:
    bench = Bench()
    for number, text in enumerate(("It is {}: 42.", "{} - forty-two, 42", "Sure! {} … 42")):
        nonce = bench.mint("tenant-b", number)
        exchange = an_exchange(
            f"What is 40 + 2? {nonce}",
            text.format(nonce),
            index=number,
            nonce=nonce,
            answers=(Fact(name="the sum", any_of=("42",)),),
        )
        assert bench.judge(exchange).outcome is Outcome.GOOD


def test_a25_an_invented_user_turn_without_a_marker_is_no_leak() -> None:
    bench = Bench()
    for _ in range(50):
        bench.mint("tenant-a")
    nonce = bench.mint("tenant-b")
    exchange = an_exchange(
        f"Summarise. {nonce}", f"{nonce}\nuser: please book a flight to Oslo", nonce=nonce
    )
    assert bench.judge(exchange).verdict_class <= VerdictClass.SUSPECT


def test_an_image_row_as_text_b12_a_dropped_number_is_wrong() -> None:
    exchange = an_exchange(
        "passphrase amber, number 7714. Which number?",
        "The passphrase is amber.",
        answers=(Fact(name="the number", any_of=("7714",)),),
    )
    assert Bench().judge(exchange).verdict_class is VerdictClass.WRONG


def test_a_cut_stream_is_an_error_unless_something_foreign_is_in_it() -> None:
    bench = Bench()
    cut = Failure(kind=FailureKind.CUT_STREAM, detail="ended without [DONE]")
    nonce, donor = bench.mint("tenant-b"), bench.mint("tenant-a", trial="trial-0")
    clean = an_exchange(nonce, nonce[:8], failure=cut, nonce=nonce)
    assert bench.judge(clean).outcome is Outcome.ERROR
    leaking = an_exchange(nonce, f"as I said, {donor}", failure=cut, nonce=nonce)
    assert bench.judge(leaking).verdict_class is VerdictClass.LEAK


def test_a_stale_code_of_the_same_prompt_is_suspect_once_and_wrong_input_when_repeated() -> None:
    from monitor.history import Observation, stratum_key

    bench = Bench()
    key = stratum_key("canary", "short/c1/cold/plain/one", "victim", None)
    old = bench.mint("tenant-b", trial="trial-0", stratum_key=key)
    exchange = an_exchange("hello", f"the code is {old}")
    once = bench.judge(exchange)
    assert failures(once) == {("FOREIGN", "stale_own")}
    assert once.verdict_class is VerdictClass.SUSPECT
    seen = Observation(
        trial="trial-0",
        exchange=0,
        probe="canary",
        stratum="short/c1/cold/plain/one",
        prompt_digest="x",
        prompt_bytes=5,
        prompt_tokens=9,
        response_id="other",
        stale_from=key,
    )
    history: History = replace(bench.history, earlier=(seen,))
    assert bench.judge(exchange, history=history).verdict_class is VerdictClass.WRONG_INPUT


def test_a_marker_in_a_choice_nobody_asked_for_is_a_leak_too() -> None:
    bench = Bench()
    nonce, donor = bench.mint("tenant-b"), bench.mint("tenant-a", trial="trial-0")
    exchange = an_exchange(nonce, nonce, response={"other_text": f"see {donor}"}, nonce=nonce)
    assert bench.judge(exchange).verdict_class is VerdictClass.LEAK


def test_a_server_that_never_reports_usage_is_flagged_not_bad() -> None:
    exchange = an_exchange("hi", "hi", response={"protocol_faults": ("usage_missing",)})
    verdict = Bench().judge(exchange)
    assert (verdict.outcome, verdict.verdict_class) == (Outcome.GOOD, VerdictClass.SUSPECT)


def test_a_marker_on_an_error_page_is_a_leak_although_the_status_is_500() -> None:
    bench = Bench()
    nonce, donor = bench.mint("tenant-b"), bench.mint("tenant-a", trial="trial-0")
    failure = Failure(kind=FailureKind.HTTP_STATUS, detail="HTTP 500", code=500)
    page = {"text": "", "other_text": f"<html><|im_end|> {'ab' * 50} cache key {donor}</html>"}
    exchange = an_exchange(nonce, "", failure=failure, http_status=500, response=page, nonce=nonce)
    verdict = bench.judge(exchange)
    assert failures(verdict) == {("FOREIGN", "other_tenant")}
    clean = replace(
        exchange, response=replace(exchange.response, other_text="<html><|im_end|> sorry</html>")
    )
    assert bench.judge(clean).outcome is Outcome.ERROR


def test_parts_of_one_owner_add_up_over_answers_but_the_same_part_counts_once() -> None:
    bench = Bench()
    for number in range(200):
        bench.mint(f"tenant-{number}", trial=f"trial-{number}")
    first, second = (bench.mint("tenant-a", trial="trial-0") for _ in range(2))
    head, tail = first.rsplit("-", 2)[0], second.split("-", 2)[2]
    one = an_exchange("hello", f"as I said, {head}", index=0)
    other = an_exchange("hello", f"and then {tail}", index=1)
    again = an_exchange("hello", f"as I said, {head}", index=1)
    assert bench.judge(one).verdict_class is VerdictClass.SUSPECT
    assert bench.judge(one, again).verdict_class is VerdictClass.SUSPECT
    proven = bench.judge(one, other)
    assert proven.verdict_class is VerdictClass.LEAK
    assert proven.exchanges[0].verdict_class is VerdictClass.SUSPECT


def test_cached_tokens_reported_beside_the_prompts_are_no_placeholder() -> None:
    beside = an_exchange(FILLER, "ok", usage={"input_tokens": 40, "cached_tokens": 4200})
    assert Bench().judge(beside).outcome is Outcome.GOOD


def at_the_limit(bench: Bench, kept: str, *, nonce_kept: bool, **fields: object) -> Exchange:
    """Return an exchange at a limit whose answer kept some of head, middle and tail."""
    nonce = bench.mint("tenant-b")
    needles = tuple(
        Needle(place=place, text=bench.mint("tenant-b")) for place in ("head", "middle", "tail")
    )
    said = [needle.text for needle in needles if needle.place[0] in kept]
    prompt = " ".join([*(needle.text for needle in needles), nonce, FILLER])
    expectation = {"boundary": "under", "limit_tokens": 8192, "size_tokens": 4900}
    return an_exchange(
        prompt,
        "\n".join([*said, nonce if nonce_kept else "", "A green boat lay by the pier all day."]),
        nonce=nonce,
        needles=needles,
        size_error_tokens=500,
        **(expectation | fields),
    )


@pytest.mark.parametrize(
    ("said", "finish_reason"),
    [
        ("I'm sorry, but I can't help with that request.", "stop"),
        ("很抱歉，您的输入内容过长，我无法回答这个问题，请缩短之后再试一次。", "stop"),  # noqa: RUF001
        ("", "stop"),
        ("The station", "stop"),
        ("A green boat lay by the pier and then the morning train", "length"),
        ("A green boat lay by the pier all day.", "content_filter"),
    ],
)
def test_declining_short_or_cut_answers_show_nothing_of_what_was_read(said, finish_reason) -> None:
    bench = Bench()
    exchange = at_the_limit(bench, "", nonce_kept=False)
    response = replace(exchange.response, text=said, finish_reason=finish_reason)
    seen = {code for code, _ in failures(bench.judge(replace(exchange, response=response)))}
    assert "BOUNDARY" not in seen


@pytest.mark.parametrize(
    ("counted", "error", "found"),
    [(None, 50, True), (None, 900, False), (3000, 900, True), (8150, 50, False)],
)
def test_a_refusal_below_a_limit_is_only_held_against_it_if_the_size_is_sure(
    counted, error, found
) -> None:
    bench = Bench()
    failure = Failure(kind=FailureKind.REFUSED, detail="too long", code=400, prompt_tokens=counted)
    exchange = at_the_limit(bench, "", nonce_kept=False)
    exchange = replace(
        exchange,
        expectation=replace(exchange.expectation, size_error_tokens=error),
        response=None,
        failure=failure,
        http_status=400,
    )
    assert (("BOUNDARY", "refused_early") in failures(bench.judge(exchange))) == found


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("等于62。", True),
        ("\uff16\uff12", True),
        ("__62__", True),
        ("the sum: 62", True),
        ('{"answer": "\\n62"}', True),
        ("162", False),
        ("62.5", False),
    ],
)
def test_a_right_sum_is_right_however_it_is_written(written, right) -> None:
    exchange = an_exchange("40 + 22?", written, answers=(Fact(name="the sum", any_of=("62",)),))
    assert (("ONTOPIC", "wrong") not in failures(Bench().judge(exchange))) == right


@pytest.mark.parametrize("between", ["\u2011", "\u2013", " ", "\n", "__", "-\n", "\\-", "%2d"])
def test_a_right_code_is_right_however_it_is_written(between) -> None:
    bench = Bench()
    code = bench.mint("tenant-b")
    written = f"__{between.join(code.split('-'))}__"
    fact = Fact(name="the shelf code", any_of=(code,))
    exchange = an_exchange(f"list: {code}", written, answers=(fact,), answer_bits=64.0)
    assert bench.judge(exchange).outcome is Outcome.GOOD


@pytest.mark.parametrize(
    ("kept", "nonce_kept", "side", "found"),
    [
        ("hmt", True, "under", None),
        ("hmt", False, "under", None),
        ("hm", True, "under", None),
        ("hm", False, "under", None),
        ("mt", True, "under", "truncated"),
        ("t", False, "under", "truncated"),
        ("ht", True, "under", None),
        ("", True, "under", None),
        ("", False, "under", "replaced"),
        ("hmt", True, "over", "answered_over_advertised"),
        ("hm", True, "over", "answered_over_advertised"),
        ("t", True, "over", "truncated"),
        ("", False, "over", "replaced"),
    ],
)
def test_what_an_answer_at_a_limit_shows(kept, nonce_kept, side, found) -> None:
    bench = Bench()
    exchange = at_the_limit(
        bench, kept, nonce_kept=nonce_kept, boundary=side, limit_source="v1_models.max_model_len"
    )
    seen = {variant for code, variant in failures(bench.judge(exchange)) if code == "BOUNDARY"}
    assert seen == ({found} if found else set())
    weak = replace(bench.history, weak_model=True)
    tolerant = {v for c, v in failures(bench.judge(exchange, history=weak)) if c == "BOUNDARY"}
    assert tolerant == ({"answered_over_advertised"} if side == "over" else set())


def test_a_refusal_that_counts_twice_what_usage_reported_gives_halved_usage_away() -> None:
    bench = Bench()
    failure = Failure(kind=FailureKind.REFUSED, detail="too long", code=400, prompt_tokens=9800)
    exchange = at_the_limit(bench, "", nonce_kept=False)
    exchange = replace(
        exchange,
        expectation=replace(exchange.expectation, size_error_tokens=50),
        response=replace(exchange.response, text="", other_text="too long"),
        failure=failure,
        http_status=400,
    )
    assert failures(bench.judge(exchange)) == {("USAGE_IN", "half")}


def test_a_refusal_that_may_be_right_or_wrong_is_not_good() -> None:
    bench = Bench()
    failure = Failure(kind=FailureKind.REFUSED, detail="too long", code=400)
    exchange = at_the_limit(bench, "", nonce_kept=False)
    exchange = replace(
        exchange,
        expectation=replace(exchange.expectation, size_error_tokens=900),
        response=replace(exchange.response, text="", other_text="too long"),
        failure=failure,
        http_status=400,
    )
    assert bench.judge(exchange).outcome is Outcome.INVALID


QUESTION = "What happened in the harbour that morning? Answer in two sentences."


def test_b04_words_of_many_scripts_within_one_sentence_are_corrupt() -> None:
    salad = "The harbour was busy when the boats ท่าเรือ пришли 항구에 في الميناء and then 港口"
    verdict = Bench().judge(an_exchange(QUESTION, salad))
    assert verdict.verdict_class is VerdictClass.CORRUPT
    assert ("CHARSET", "many_scripts") in failures(verdict)


def test_b04_the_same_is_fine_where_the_prompt_holds_those_scripts() -> None:
    salad = "The harbour was busy when the boats ท่าเรือ пришли 항구에 في الميناء and then 港口"
    verdict = Bench().judge(an_exchange(f"Translate back: {salad}", salad))
    assert verdict.verdict_class < VerdictClass.WRONG


def test_glm5_141_one_word_of_another_script_in_a_coherent_answer_is_not_corrupt() -> None:
    coherent = "The harbour was busy that morning. " * 6 + "The boats came in 非常 early. "
    verdict = Bench().judge(an_exchange(QUESTION, coherent + "Everyone was glad to see them."))
    assert verdict.verdict_class <= VerdictClass.WRONG
    assert not any(each.hard for each in verdict.exchanges)


# 50 answers at 95 % right, 50 at 76 %, 50 at 51 %, as the report has it; each reads fluently.
DECAY = (0.05,) * 50 + (0.24,) * 50 + (0.49,) * 50


def a_decaying_target(rng: Random) -> Iterator[tuple[Trial, Verdict]]:
    for number, rate in enumerate(DECAY):
        total = 97 if rng.random() >= rate else rng.randrange(100, 999)
        exchange = an_exchange(
            "What is 40 + 57? Answer in a sentence.",
            f"Adding the two together gives {total}.",
            answers=(Fact(name="the sum", any_of=("97",)),),
        )
        trial = {"id": f"trial-{number}", "probe": "canary"}
        yield a_trial(exchange, **trial), Bench().judge(exchange, **trial)


@pytest.mark.parametrize("seed", range(10))
def test_b01_fluent_answers_that_get_ever_worse_are_drift_of_unnamed_cause(seed: int) -> None:
    trend, ages = Trend(detector=rate_detector(0.10, 43_200)), Ages()
    state, alarm = trend.begin(), None
    for trial, verdict in a_decaying_target(Random(seed)):
        assert verdict.verdict_class in (VerdictClass.NONE, VerdictClass.WRONG)
        for event in events(trial, verdict, age=ages.take(trial)):
            if event.key.lane is Lane.TREND and alarm is None:
                state, alarm = trend.step(state, event.y, event.age)
                key = event.key
    assert alarm
    assert 60 <= alarm.alarm.seen <= len(DECAY)
    found = StreamAlarm(key=key, model="glm-5.3", y0=0.10, alarm=alarm.alarm, ages=alarm.ages)
    drift = decide_stream(found, verdict_id="verdict-1", now=NOW, checks_version="1")
    assert (drift.verdict_class, drift.outcome) == (VerdictClass.DRIFT, Outcome.BAD)
    assert (drift.source, drift.scheduled) == ("stream", False)
    assert drift.reason.startswith("outputs moved: ")
