"""The cascade: what is measured of which answer, and what is said where nothing is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from monitor.measuring import measure
from monitor.model import (
    Exchange,
    Failure,
    FailureKind,
    Measurement,
    Signal,
    Status,
    ToolCall,
)
from monitor.prompts import AnyOf, GoldenPrompt
from monitor.scoring import Asked, NoScorer
from tests.builders import Bench, a_signal, a_trial, an_exchange

BENCH = Bench()
LONG = "The capital of France is Paris, which has stood on the river Seine for two thousand years."
LONG += " Every road of the country is said to lead there."
ALL = frozenset({"ENTITY", "TOPIC", "LANGUAGE"})
GOLDEN = GoldenPrompt(
    suite="facts",
    id="capital",
    language="en",
    prompt="What is the capital of France?",
    expectations=(AnyOf(strings=("Paris",)),),
    max_output_tokens=48,
    references=("Paris.", "It is Paris.", "Paris is the capital."),
)


@dataclass
class Recorder:
    """Measures nothing much, and remembers what it was asked."""

    codes: frozenset[str] = ALL
    batches: list[list[Asked]] = field(default_factory=list)

    async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
        self.batches.append(list(asked))
        return [Measurement(skipped={"SEEN": str(n)}) for n, _ in enumerate(asked)]

    def close(self) -> None:
        """Nothing runs."""

    @property
    def asked(self) -> list[Asked]:
        return [each for batch in self.batches for each in batch]


def measured(
    *exchanges: Exchange,
    signals: Sequence[Signal] = (),
    scorer: Recorder | None = None,
    golden: GoldenPrompt = GOLDEN,
) -> tuple[dict[int, Measurement], Recorder]:
    scorer = scorer or Recorder()
    history = replace(BENCH.history, golden={GOLDEN.name: golden})
    return asyncio.run(measure(a_trial(*exchanges), signals, history, scorer)), scorer


def wants(*exchanges: Exchange, **fields) -> list[set[str]]:
    _, scorer = measured(*exchanges, **fields)
    return [set(each.wants) for each in scorer.asked]


def a_golden(answer: str | None = LONG, **fields) -> Exchange:
    return an_exchange(GOLDEN.prompt, answer, golden=GOLDEN.name, **fields)


def test_a_golden_answer_is_measured_by_everything_and_with_all_that_it_takes() -> None:
    nonce = BENCH.mint()
    _, scorer = measured(a_golden(nonce=nonce, response={"reasoning_text": "hm"}))
    [asked] = scorer.asked
    assert asked == Asked(
        written=f"{LONG}\nhm",
        answer=LONG,
        request=GOLDEN.prompt,
        wants=ALL,
        references=GOLDEN.references,
        language="en",
        nonce=nonce,
    )


def test_another_answer_is_searched_for_entities_only() -> None:
    found, scorer = measured(an_exchange("hello", LONG))
    assert [set(each.wants) for each in scorer.asked] == [{"ENTITY"}]
    assert found[0].skipped == {
        "SEEN": "0",
        "TOPIC": "not a golden prompt",
        "LANGUAGE": "not a golden prompt",
    }


@pytest.mark.parametrize(
    ("code", "variant", "spared"),
    [
        ("FACT", "missing", True),  # WRONG
        ("FOREIGN", "other_tenant", True),  # LEAK
        ("FINGER", "facts_moved", False),  # SUSPECT
    ],
)
def test_where_the_answer_is_bad_already_nothing_more_is_measured_that_could_say_so(
    code: str, variant: str, spared: bool
) -> None:
    signals = [a_signal(code, Status.FAIL, variant), a_signal("NONCE", Status.PASS)]
    found, scorer = measured(a_golden(), signals=signals)
    assert [set(each.wants) for each in scorer.asked] == [{"ENTITY"} if spared else ALL]
    if spared:
        assert found[0].skipped["TOPIC"] == "the answer is bad already"


def test_a_bad_answer_spares_no_other_one() -> None:
    signals = [a_signal("FACT", Status.FAIL, "missing", exchange=0)]
    assert wants(a_golden(index=0), a_golden(index=1), signals=signals) == [{"ENTITY"}, ALL]


def test_too_few_references_and_letters_are_said_and_not_sent() -> None:
    few = replace(GOLDEN, references=GOLDEN.references[:2])
    found, scorer = measured(a_golden("Paris."), golden=few)
    assert [set(each.wants) for each in scorer.asked] == [{"ENTITY"}]
    assert found[0].skipped["TOPIC"] == "2 of 3 reference answers"
    assert found[0].skipped["LANGUAGE"] == "fewer than 100 letters do not tell a language"


def test_code_is_in_no_language() -> None:
    code = replace(GOLDEN, structure="code", code_language="python")
    found, scorer = measured(a_golden(), golden=code)
    assert [set(each.wants) for each in scorer.asked] == [{"ENTITY", "TOPIC"}]
    assert found[0].skipped["LANGUAGE"] == "code and JSON are in no language"


def test_a_prompt_that_was_edited_since_is_no_measure() -> None:
    found, scorer = measured(a_golden(golden_version="000000000000"))
    assert [(set(each.wants), each.references) for each in scorer.asked] == [({"ENTITY"}, ())]
    assert found[0].skipped["TOPIC"] == "not a golden prompt"


def test_a_cut_answer_is_searched_and_not_compared() -> None:
    cut = Failure(kind=FailureKind.CUT_STREAM, detail="cut")
    assert wants(a_golden(failure=cut)) == [{"ENTITY"}]


def test_calls_of_tools_are_searched() -> None:
    call = ToolCall(name="send", arguments='{"to": "x@example.net"}')
    _, scorer = measured(an_exchange("hello", "", response={"tool_calls": (call,)}))
    assert "x@example.net" in scorer.asked[0].written


def test_an_empty_answer_asks_for_nothing_and_says_why() -> None:
    found, scorer = measured(an_exchange("hello", " \n"))
    assert not scorer.batches
    assert found[0].skipped["ENTITY"] == "nothing was written"


def test_no_answer_no_measurement() -> None:
    found, scorer = measured(an_exchange("hello", None))
    assert (found, scorer.batches) == ({}, [])


def test_a_trial_is_one_batch_and_readings_find_their_exchanges() -> None:
    exchanges = [an_exchange("hello", text, index=n) for n, text in enumerate(["a", "", "b", "c"])]
    found, scorer = measured(*exchanges)
    assert [len(batch) for batch in scorer.batches] == [3]
    seen = {index: each.skipped.get("SEEN") for index, each in found.items()}
    assert seen == {0: "0", 1: None, 2: "1", 3: "2"}


@pytest.mark.parametrize("code", sorted(ALL))
def test_only_what_is_configured_is_measured_and_spoken_of(code: str) -> None:
    scorer = Recorder(codes=frozenset({code}))
    found, _ = measured(a_golden(), an_exchange("hello", "hi", index=1), scorer=scorer)
    assert set().union(*(each.wants for each in scorer.asked)) == {code}
    assert set().union(*(each.skipped for each in found.values())) <= {code, "SEEN"}


def test_without_instruments_nothing_is_measured() -> None:
    found = asyncio.run(measure(a_trial(a_golden()), (), BENCH.history, NoScorer()))
    assert found == {}


def test_a_reason_of_the_instrument_stands() -> None:
    class Skipping(Recorder):
        async def measure(self, asked: Sequence[Asked]) -> list[Measurement]:
            return [Measurement(skipped={"TOPIC": "too short"}) for _ in asked]

    found, _ = measured(a_golden(), scorer=Skipping())
    assert found[0].skipped == {"TOPIC": "too short"}
