"""What was said of a node is kept for as long as it matters, and of no node for ever."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from monitor.nodewatch.news import SAID_AGAIN, News
from tests.builders import NOW
from tests.unit.nodewatch.building import at, failing, gone, judged


def test_a_node_of_which_nothing_is_said_any_more_is_forgotten() -> None:
    news = News()
    for number in range(5_000):
        news.note(at(judged(node=f"n{number}"), NOW + timedelta(seconds=30 * number)))
    within = 2 * SAID_AGAIN / timedelta(seconds=30)
    assert len(news._said) <= within


def test_a_node_that_was_away_for_long_is_news_and_one_that_flaps_is_not() -> None:
    news = News()
    news.note(at(failing(), NOW))
    news.note(at(gone(failing()), NOW + SAID_AGAIN / 4))
    assert not news.is_news(at(failing(), NOW + SAID_AGAIN / 2))
    assert not news.is_news(at(gone(failing()), NOW + SAID_AGAIN))
    assert news.is_news(at(failing(), NOW + SAID_AGAIN))


_STEPS = st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 50)), max_size=60)


@given(_STEPS)
def test_a_state_is_news_exactly_if_it_was_not_said_within_the_hour(
    steps: list[tuple[int, bool, int]],
) -> None:
    news, now = News(), NOW
    said: dict[tuple[int, bool], object] = {}
    for node, fails, minutes in steps:
        now += timedelta(minutes=minutes)
        verdict = at((failing if fails else judged)(node=f"n{node}"), now)
        before = said.get((node, fails))
        assert news.is_news(verdict) == (before is None or now >= before + SAID_AGAIN)
        if news.is_news(verdict):
            news.note(verdict)
            said[node, fails] = now
