"""USAGE_IN: tools, schemas and cached tokens may be counted or left out; neither is a fault."""

from dataclasses import replace

from monitor.model import Exchange, Tool
from tests.builders import Bench, an_exchange, failures

BENCH = Bench()
QUESTION = "Please call the tool book_order_1234."


def offered_tools(tokens: int, *, index: int = 0, question: str = QUESTION) -> Exchange:
    """Return a short question with two kilobytes of tools, and the tokens reported for it."""
    exchange = an_exchange(question, index=index, usage={"input_tokens": tokens})
    tools = (Tool(name="book_order_1234", description="x" * 2000, parameters="{}"),)
    return replace(exchange, request=replace(exchange.request, tools=tools))


def test_tools_that_are_not_counted_are_no_fault() -> None:
    assert failures(BENCH.judge(offered_tools(12))) == set()


def test_one_token_is_a_placeholder_with_tools_too() -> None:
    assert failures(BENCH.judge(offered_tools(1))) == {("USAGE_IN", "placeholder")}


def test_a_question_with_tools_takes_what_a_longer_one_without_takes() -> None:
    plain = an_exchange("word " * 400, index=1, usage={"input_tokens": 500})
    assert failures(BENCH.judge(offered_tools(500), plain)) == set()


def test_equal_counts_of_unequal_messages_are_a_plateau() -> None:
    long = offered_tools(1500, index=1, question="word " * 4000)
    assert failures(BENCH.judge(offered_tools(1500), long)) == {("USAGE_IN", "plateau")}


def test_cached_tokens_that_are_left_out_are_no_plateau() -> None:
    short = an_exchange("word " * 20, usage={"input_tokens": 30})
    long = an_exchange("word " * 90, index=1, usage={"input_tokens": 30, "cached_tokens": 80})
    assert failures(BENCH.judge(short, long)) == set()


def test_few_cached_tokens_do_not_explain_a_plateau() -> None:
    short = an_exchange("word " * 20, usage={"input_tokens": 30})
    long = an_exchange("word " * 90, index=1, usage={"input_tokens": 30, "cached_tokens": 10})
    assert failures(BENCH.judge(short, long)) == {("USAGE_IN", "plateau")}
