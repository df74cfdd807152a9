"""The whole ladder against models that read, cut, replace, refuse, forget or keep silent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.clock import SystemClock
from monitor.context import Asked, LadderStep, verify_context
from monitor.context.sizes import nominal_ruler
from monitor.detect.ladder import COLD_EVERY, Read
from monitor.engines.base import Discovery, Reply
from monitor.engines.scripted import SCRIPTED_TIMING, ScriptedEngine
from monitor.errors import UnsureError, UsageError
from monitor.model import Failure, FailureKind, Request, Response, Usage
from monitor.probes.base import TokenLimit
from monitor.probes.ladder import cut_to, middle_gate, planted_at
from monitor.reports.ladder import LadderReport, render_ladder
from monitor.store.rows import LadderRow, RungRow
from tests.unit.test_passes import runner

TEMPLATE_TOKENS = 7
REFUSED = Failure(kind=FailureKind.REFUSED, detail="too long", code=400)
SILENT = Failure(kind=FailureKind.TIMEOUT, detail="no answer")
_PHRASE = re.compile(r"the pass phrase of the (\w+) gate is ([a-z-]+)\.")
_CODE = re.compile(r"The reference code of this ticket is ([a-z-]+)\.")
Seen = Callable[[str], "str | Failure | None"]


def tokens(text: str) -> int:
    return len(text) // 4


def recall(text: str) -> str:
    """Answer as a model does that reads ``text`` and nothing else."""
    phrases = dict(_PHRASE.findall(text))
    code = _CODE.search(text)
    asked = re.findall(r"the (\w+) gate", text.rpartition("Then give")[2])
    lines = [code.group(1) if code else "I see no code here, but I am glad to help you."]
    lines += [phrases.get(gate, f"I do not know the {gate} one.") for gate in asked]
    return "\n".join(lines)


def whole(limit: int) -> Seen:
    """Read everything, refuse above ``limit``."""
    return lambda text: text if tokens(text) + TEMPLATE_TOKENS <= limit else REFUSED


def cut_front(window: int) -> Seen:
    """Keep the last tokens and say nothing of it."""
    return lambda text: text[-4 * window :]


def replaced(window: int) -> Seen:
    """Answer from something else above ``window``."""
    return lambda text: text if tokens(text) <= window else None


def engine(seen: Seen, *, caches: bool = False, counts: bool = False) -> ScriptedEngine:
    number = 0

    def answer(request: Request) -> Reply:
        nonlocal number
        number += 1
        text = request.messages[0].content
        read = seen(text)
        if isinstance(read, Failure):
            return Reply(
                response=None,
                failure=read,
                http_status=read.code,
                request_id=None,
                timing=SCRIPTED_TIMING,
            )
        said = (
            "The harbour opens at nine and the boats leave soon." if read is None else recall(read)
        )
        usage = Usage(
            input_tokens=tokens(text) + TEMPLATE_TOKENS,
            output_tokens=tokens(said) + 2,
            cached_tokens=0 if caches else None,
        )
        response = Response(
            text=said, finish_reason="stop", usage=usage, response_id=f"answer-{number}"
        )
        return Reply(
            response=response,
            failure=None,
            http_status=200,
            request_id=None,
            timing=SCRIPTED_TIMING,
        )

    return ScriptedEngine(answer, count=tokens if counts else lambda text: None)


class Climbed:
    """One ladder, and everything it told anybody."""

    def __init__(
        self,
        scripted: ScriptedEngine,
        *,
        limits: tuple[int, ...] = (4096,),
        asked: dict[str, Any] | None = None,
        left: int = 10**9,
        trials: int = 999,
        frozen: dict[str, str] | None = None,
        tolerance: float = 0.1,
        **view: Any,
    ) -> None:
        run, live, told, _, _ = runner(scripted, trials=trials, frozen=frozen)
        stated = tuple(TokenLimit(tokens=n, source="v1_models.max_model_len") for n in limits)
        shown = replace(live.view, limits=stated, **view)
        live = replace(live, view=shown, tolerance=tolerance)
        self.engine, self.told = scripted, told
        self.rows: list[Any] = []
        self.gauge: list[tuple[str, int]] = []
        self.steps: list[LadderStep] = []
        remaining = [SimpleNamespace(target=shown.name, kind="boundary", tokens=left)]
        target = SimpleNamespace(name=shown.name, price=None, model=shown.model)
        self.installation: Any = SimpleNamespace(
            config=SimpleNamespace(targets=(target,), hash="abc", environment="test", file="f"),
            clock=SystemClock(),
            runner=run,
            targets={shown.name: live},
            budget=SimpleNamespace(remaining=lambda: remaining),
            findings=SimpleNamespace(frozen_shapes=lambda name: frozen or {}),
            store=SimpleNamespace(writer=SimpleNamespace(put=self.rows.extend)),
            counters=SimpleNamespace(set_verified=lambda *said: self.gauge.append(said)),
        )
        self.asked = Asked(target=shown.name, **(asked or {}))

    def report(self) -> LadderReport:
        climbing = verify_context(self.installation, self.asked, self.steps.append)
        return asyncio.run(climbing)


def test_a_sound_target_is_verified_up_to_what_the_limit_leaves() -> None:
    climbed = Climbed(engine(whole(4096)))
    report = climbed.report()
    assert (report.exit_code, report.verdict) == (0, "good"), report.reasons
    assert report.goal_tokens - 60 <= report.verified_tokens <= 4096
    assert len(report.rungs) == 2
    assert climbed.gauge == [("glm", report.verified_tokens, report.started_at)]
    assert all(not verdict.scheduled for verdict in climbed.told.verdicts)


def test_the_price_is_said_before_anything_is_sent() -> None:
    climbed = Climbed(engine(whole(4096)))
    sent: list[int] = []
    climbed.steps = SimpleNamespace(  # type: ignore[assignment]
        append=lambda step: sent.append(len(climbed.engine.asked))
    )
    report = climbed.report()
    assert sent[0] == 0
    assert 0 < report.estimate.least_tokens <= report.estimate.most_refused_tokens
    assert report.estimate.most_refused_tokens <= report.estimate.most_tokens
    assert report.spent_tokens <= report.estimate.most_tokens


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("window", [420, 1000, 2048, 2600, 3333])
def test_a_silent_cut_is_found_within_the_resolution(window: int, counts: bool) -> None:
    report = Climbed(engine(cut_front(window), counts=counts)).report()
    assert report.exit_code == 1
    assert report.failed_outcome is Read.TRUNCATED
    assert report.failed_tokens is not None
    # The salt before the head needle may be cut unseen.
    lost_unseen = TEMPLATE_TOKENS + 16
    assert report.verified_tokens - report.verified_error_tokens <= window + lost_unseen
    assert report.failed_tokens + report.rungs[0].size_error_tokens >= window
    assert report.failed_tokens - report.verified_tokens <= 0.1 * report.failed_tokens + 60
    assert "nobody has seen read" in "\n".join(render_ladder(report))
    if counts:
        assert report.exact
        assert {rung.size_error_tokens for rung in report.rungs if rung.reported_tokens} == {0}


def test_a_replaced_prompt_is_bad_and_what_is_below_is_verified() -> None:
    report = Climbed(engine(replaced(2662))).report()
    assert report.exit_code == 1
    assert report.failed_outcome is Read.REPLACED
    assert 2400 <= report.verified_tokens <= 2662 + TEMPLATE_TOKENS + 24
    assert any(rung.verdict_class == "WRONG_INPUT" for rung in report.rungs)


def test_a_refusal_below_the_limit_is_bad() -> None:
    report = Climbed(engine(whole(3000))).report()
    assert report.exit_code == 1
    assert report.failed_outcome is Read.REFUSED
    assert 2800 <= report.verified_tokens <= 3000


def test_the_smaller_limit_is_the_goal_and_the_larger_is_compared_loudly() -> None:
    report = Climbed(engine(whole(2700)), limits=(2700, 16_384)).report()
    assert report.exit_code == 0, report.reasons
    assert (report.enforced_tokens, report.advertised_tokens) == (2700, 16_384)
    assert report.verified_tokens >= report.goal_tokens - 60
    assert "ADVERTISED  advertised 16,384" in "\n".join(render_ladder(report))


def test_no_answer_is_a_gap_never_green() -> None:
    def silent_above(text: str) -> str | Failure:
        return text if tokens(text) < 2000 else SILENT

    climbed = Climbed(engine(silent_above))
    report = climbed.report()
    assert report.exit_code == 3
    assert report.failed_outcome is Read.NO_ANSWER
    assert climbed.gauge == []
    assert any("? " in line or "?" * 3 in line for line in render_ladder(report))


def test_a_target_that_is_down_is_left_alone_at_once() -> None:
    climbed = Climbed(engine(lambda text: SILENT))
    report = climbed.report()
    assert (report.exit_code, report.verified_tokens) == (3, 0)
    assert len(report.rungs) == 1


@pytest.mark.parametrize("said", ["Sorry, I cannot do that.", ""])
def test_a_declining_answer_shows_nothing(said: str) -> None:
    scripted = engine(whole(4096))
    inner = scripted._script

    def declining(request: Request) -> Reply:
        reply = inner(request)
        long = tokens(request.messages[0].content) > 2000
        if not long or reply.response is None:
            return reply
        usage = replace(reply.response.usage, output_tokens=tokens(said) + 1)
        return replace(reply, response=replace(reply.response, text=said, usage=usage))

    report = Climbed(ScriptedEngine(declining)).report()
    assert report.verified_tokens < 2100
    assert report.failed_outcome is Read.UNCLEAR
    assert report.exit_code in (1, 3)  # an empty 200 is bad by itself


def test_a_model_that_forgets_short_prompts_cannot_tell() -> None:
    def forgets(text: str) -> str:
        return text.replace("the head gate is", "the gate is")

    report = Climbed(engine(forgets), tolerance=0.3).report()
    assert (report.exit_code, report.verified_tokens) == (3, 0), report.reasons
    assert "not even the shortest prompts were read whole" in report.reasons


def test_a_shared_beginning_is_used_where_the_target_reports_cached_tokens() -> None:
    report = Climbed(engine(cut_front(9000), caches=True), limits=(32_768,)).report()
    assert report.shared_beginning
    cold = [rung for rung in report.rungs if rung.cold]
    assert len(cold) * COLD_EVERY >= len(report.rungs) > len(cold)
    best = [r for r in report.rungs if r.size_tokens == report.verified_tokens]
    assert any(rung.cold for rung in best)
    assert 8500 <= report.verified_tokens <= 9000 * 1.04
    without = Climbed(engine(cut_front(9000)), limits=(32_768,)).report()
    assert all(rung.cold for rung in without.rungs)
    thorough = {"thorough": True}
    cautious = Climbed(engine(whole(9999), caches=True), limits=(9999,), asked=thorough).report()
    assert all(rung.cold for rung in cautious.rungs)
    assert len(cautious.rungs) > 4


def test_a_ladder_that_ends_early_claims_only_what_was_cold() -> None:
    climbed = Climbed(engine(cut_front(9000), caches=True), limits=(32_768,), trials=4)
    report = climbed.report()
    assert report.unpaid is not None
    whole_cold = [r for r in report.rungs if r.cold and r.outcome is Read.VERIFIED]
    assert report.verified_tokens == max(rung.size_tokens for rung in whole_cold)


def test_prompts_of_one_run_share_their_beginning_and_nothing_else() -> None:
    climbed = Climbed(engine(cut_front(9000), caches=True), limits=(32_768,))
    report = climbed.report()
    prompts = [asked.request.messages[0].content for asked in climbed.engine.asked][1::2]
    shared = [p for p, rung in zip(prompts, report.rungs, strict=True) if not rung.cold]
    shortest = min(shared, key=len)
    beginning = shortest[: int(0.9 * len(shortest))]
    assert all(prompt.startswith(beginning) for prompt in shared)
    assert len({_CODE.search(prompt).group(1) for prompt in shared}) == len(shared)  # type: ignore[union-attr]
    tails = [dict(_PHRASE.findall(prompt))["tail"] for prompt in shared]
    assert len(set(tails)) == len(tails)
    cold = [p for p, rung in zip(prompts, report.rungs, strict=True) if rung.cold]
    assert len({prompt.partition("\n")[0] for prompt in [*cold, shared[0]]}) == len(cold) + 1


def test_the_first_leak_ends_the_ladder() -> None:
    scripted = engine(whole(4096))
    inner = scripted._script
    donated: list[str] = []

    def answer(request: Request) -> Reply:
        reply, text = inner(request), request.messages[0].content
        if tokens(text) < 500:
            donated.append(_CODE.search(text).group(1))  # type: ignore[union-attr]
        if tokens(text) < 2000 or reply.response is None:
            return reply
        stolen = f"{reply.response.text} {donated[-1]}"
        return replace(reply, response=replace(reply.response, text=stolen))

    report = Climbed(ScriptedEngine(answer)).report()
    assert report.exit_code == 1
    assert [rung.verdict_class for rung in report.rungs] == ["none", "LEAK"]
    assert "stopped at the first LEAK" in report.reasons


def test_an_open_leak_holds_the_ladder_back() -> None:
    climbed = Climbed(engine(whole(4096)), frozen={"boundary": "F-1"})
    with pytest.raises(UsageError, match="finding F-1 is open"):
        climbed.report()
    assert climbed.engine.asked == []


@pytest.mark.parametrize(
    ("limits", "words"), [((), "set context_tokens"), ((900, 4096), "leaves no room")]
)
def test_without_a_limit_there_is_nothing_to_climb_to(limits, words) -> None:
    with pytest.raises(UsageError, match=words):
        Climbed(engine(whole(4096)), limits=limits).report()


def test_a_limit_that_could_not_be_asked_for_is_not_called_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def away(_: ScriptedEngine, *, credential: str | None) -> Discovery:
        return Discovery(notes=("/models: no answer in 10 s",))

    monkeypatch.setattr(ScriptedEngine, "discover", away)
    with pytest.raises(UnsureError, match="could not be read: /models: no answer in 10 s"):
        Climbed(engine(whole(4096)), limits=()).report()
    assert Climbed(engine(whole(4096))).report().exit_code == 0


def test_the_cap_of_the_command_line_is_kept_and_the_rest_is_not_probed() -> None:
    report = Climbed(engine(whole(4096)), asked={"max_tokens": 4000}).report()
    assert report.exit_code == 3
    assert report.spent_tokens <= 4000
    assert report.unpaid is not None
    assert report.unpaid.answered_tokens > 0
    assert "NOT PROBED" in "\n".join(render_ladder(report))


def test_where_nothing_could_be_paid_nothing_is_said_of_what_was_read() -> None:
    report = Climbed(engine(whole(4096)), asked={"max_tokens": 100}).report()
    assert report.exit_code == 3
    assert len(report.reasons) == 1
    assert report.reasons[0].startswith("not probed: it could pass the 100 tokens allowed")
    assert report.notes == ["no size was asked"]


def test_more_than_is_left_needs_a_yes_and_ends_where_the_budget_ends() -> None:
    with pytest.raises(UsageError, match="--yes"):
        Climbed(engine(whole(4096)), left=5000).report()
    report = Climbed(engine(whole(4096)), left=5000, trials=1, asked={"yes": True}).report()
    assert report.exit_code == 3
    assert report.unpaid is not None
    assert "budget of the day cannot pay it" in report.unpaid.reason


def test_an_accepted_truncation_is_shown_and_good() -> None:
    report = Climbed(engine(cut_front(2000)), truncation_accepted=True).report()
    assert report.exit_code == 0, report.reasons
    assert report.verified_tokens < 2100
    assert "accepted as configured" in report.reasons[0]


def test_each_size_is_asked_as_often_as_was_wanted() -> None:
    report = Climbed(engine(whole(4096)), asked={"repeats": 3}).report()
    assert [rung.outcome for rung in report.rungs] == [Read.VERIFIED] * 6
    assert any("asked 3 times" in note for note in report.notes)


def test_without_token_counts_sizes_are_assumed_and_say_so() -> None:
    inner = engine(whole(4096))._script

    def uncounted(request: Request) -> Reply:
        reply = inner(request)
        assert reply.response is not None
        return replace(reply, response=replace(reply.response, usage=Usage()))

    report = Climbed(ScriptedEngine(uncounted)).report()
    assert report.verified_error_tokens > 0.2 * report.verified_tokens
    assert any("assumed, not measured" in note for note in report.notes)


def test_the_price_holds_for_cuts_everywhere_and_grows_with_repeats() -> None:
    for window in (500, 1100, 1900, 2600, 3700):
        report = Climbed(engine(cut_front(window))).report()
        # A base that is not even read whole costs a little more than the plan.
        assert report.spent_tokens <= 1.25 * report.estimate.most_tokens
    thrice = Climbed(engine(whole(4096)), asked={"repeats": 3}).report()
    assert thrice.spent_tokens <= thrice.estimate.most_tokens == 3 * report.estimate.most_tokens


def test_a_ladder_and_its_rungs_are_kept() -> None:
    climbed = Climbed(engine(replaced(2662)))
    report = climbed.report()
    ladder, *rungs = climbed.rows
    assert isinstance(ladder, LadderRow)
    assert (ladder.verified_tokens, ladder.exit_code) == (report.verified_tokens, 1)
    assert all(isinstance(rung, RungRow) for rung in rungs)
    assert [rung.outcome for rung in rungs] == [rung.outcome.value for rung in report.rungs]


def test_no_text_of_prompt_or_answer_is_in_the_report() -> None:
    climbed = Climbed(engine(replaced(2662)))
    shown = climbed.report().model_dump_json() + "\n".join(step.words for step in climbed.steps)
    assert "harbour" not in shown
    markers = {m for asked in climbed.engine.asked for m in _CODE.findall(asked.request.text())}
    assert markers
    assert not any(marker in shown for marker in markers)


@pytest.mark.parametrize("sentences", [30, 100, 352, 5000, 95_000])
def test_the_middle_needle_of_a_beginning_is_near_the_middle(sentences: int) -> None:
    place = planted_at(sentences)[middle_gate(sentences)]
    assert 0.38 <= place / sentences <= 0.66


@pytest.mark.parametrize("size", [1000, 4000, 60_000, 1_000_000])
@pytest.mark.parametrize("shared", [True, False])
def test_a_prompt_is_never_cut_longer_than_was_asked(size: int, shared: bool) -> None:
    cut = cut_to(size, nominal_ruler(), shared=shared)
    assert size - 60 <= cut.size <= size
