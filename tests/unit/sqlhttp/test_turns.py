"""Turns at connections: in time, whatever the engine does. The engine here does as it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

import pytest

from monitor.leaving import Leavable
from monitor.sqlhttp.failures import Code, SqlError
from monitor.sqlhttp.turns import Turn, Turns

SOON = 0.05
LATE = 60.0


class Closing:
    """What an answer and a connection have in common; many may wait for its end."""

    def __init__(self) -> None:
        self.closed = threading.Event()
        self.times = 0

    def close(self) -> None:
        self.times += 1
        self.closed.set()


class Stuck:
    """A call of a function that ends when it is told, and not before."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.end = threading.Event()
        self.answer = Closing()

    def __call__(self, turn: Turn) -> Closing:
        self.begun.set()
        assert self.end.wait(LATE)
        return self.answer


class Pausing(threading.Condition):
    """A lock after which a reader's thread stands still until it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()
        self.go_on = threading.Event()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, raised, trace)
        if isinstance(threading.current_thread(), Leavable):
            self.reached.set()
            assert self.go_on.wait(LATE)


def answer(turn: Turn) -> Closing:
    return Closing()


def turns(connections: int) -> Turns:
    made = Turns()
    for _ in range(connections):
        made.add(Closing())
    return made


def code(run: Callable[[], object]) -> int:
    with pytest.raises(SqlError) as caught:
        run()
    return caught.value.code


def readers() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if isinstance(each, Leavable)]


def until_gone() -> None:
    for each in readers():
        each.join(LATE)
        assert not each.is_alive()


def test_an_answer_in_time_is_the_answer() -> None:
    few = turns(1)
    for _ in range(3):
        assert not few.run(answer, patience=0, seconds=LATE).closed.is_set()
    assert few.stop(lambda: None)


def test_what_does_not_end_is_answered_in_time_and_left() -> None:
    few, stuck = turns(2), Stuck()
    assert code(lambda: few.run(stuck, patience=0, seconds=SOON)) == Code.TIMEOUT_EXCEEDED
    # The other connection serves meanwhile.
    few.run(answer, patience=0, seconds=LATE)
    assert not stuck.answer.closed.is_set()
    stuck.end.set()
    assert stuck.answer.closed.wait(LATE)  # what nobody takes is closed
    until_gone()
    # And its connection serves again.
    with ThreadPoolExecutor(2) as both:
        waiting = [Stuck(), Stuck()]
        asked = [both.submit(few.run, each, patience=0, seconds=LATE) for each in waiting]
        for each in waiting:
            assert each.begun.wait(LATE)
            each.end.set()
        assert [each.result() for each in asked] == [each.answer for each in waiting]


def test_with_all_left_others_are_refused_at_once() -> None:
    few, stuck = turns(2), (Stuck(), Stuck())
    for each in stuck:
        assert code(lambda each=each: few.run(each, patience=0, seconds=SOON)) == 159
    assert code(lambda: few.run(answer, patience=LATE, seconds=LATE)) == 202
    stuck[0].end.set()
    assert stuck[0].answer.closed.wait(LATE)
    few.run(answer, patience=LATE, seconds=LATE)
    stuck[1].end.set()
    until_gone()


def test_who_waits_too_long_is_told_so() -> None:
    few, busy = turns(1), Stuck()
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(few.run, busy, patience=0, seconds=LATE)
        assert busy.begun.wait(LATE)
        assert code(lambda: few.run(answer, patience=SOON, seconds=LATE)) == 202
        busy.end.set()
        assert asked.result() is busy.answer


def test_who_waits_is_next() -> None:
    few, busy = turns(1), Stuck()
    with ThreadPoolExecutor(2) as others:
        first = others.submit(few.run, busy, patience=0, seconds=LATE)
        assert busy.begun.wait(LATE)
        second = others.submit(few.run, answer, patience=LATE, seconds=LATE)
        busy.end.set()
        assert isinstance(second.result(), Closing)
        assert first.result() is busy.answer


def test_a_stop_depends_on_no_statement() -> None:
    few, stuck, ended = turns(2), Stuck(), []
    idle, busy = few._idle
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(few.run, stuck, patience=0, seconds=LATE)
        assert stuck.begun.wait(LATE)
        assert not few.stop(lambda: ended.append(1))
        assert ended
        assert asked.exception() is not None
        assert code(asked.result) == Code.QUERY_WAS_CANCELLED
    assert idle.closed.is_set()
    assert not busy.closed.is_set()
    assert code(lambda: few.run(answer, patience=LATE, seconds=LATE)) == 394
    assert not few.stop(lambda: None)
    stuck.end.set()
    assert busy.closed.wait(LATE)  # by the thread that had it
    until_gone()
    assert few.stop(lambda: None)


def test_a_stop_ends_what_can_be_ended() -> None:
    few, running = turns(1), Stuck()
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(few.run, running, patience=0, seconds=LATE)
        assert running.begun.wait(LATE)
        assert few.stop(running.end.set)
        assert code(asked.result) == 394
    assert running.answer.closed.is_set()


def test_who_waits_while_it_stops_is_told_so() -> None:
    few, busy = turns(1), Stuck()
    with ThreadPoolExecutor(2) as others:
        others.submit(few.run, busy, patience=0, seconds=LATE)
        assert busy.begun.wait(LATE)
        waits = others.submit(few.run, answer, patience=LATE, seconds=LATE)
        few.stop(busy.end.set)
        assert code(waits.result) == 394


def test_a_connection_given_back_as_it_stops_is_closed_once() -> None:
    few, pausing = turns(1), Pausing()
    (only,) = few._idle
    few._changed = pausing
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(few.run, answer, patience=0, seconds=LATE)
        assert pausing.reached.wait(LATE)
        assert few.stop(lambda: None)
        pausing.go_on.set()
        asked.exception()
    until_gone()
    assert only.times == 1


def test_without_a_thread_the_connection_is_free_again(monkeypatch: pytest.MonkeyPatch) -> None:
    few = turns(1)

    def no_thread(self: threading.Thread) -> None:
        msg = "can't start new thread"
        raise RuntimeError(msg)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_thread)
        assert code(lambda: few.run(answer, patience=0, seconds=LATE)) == 202
    few.run(answer, patience=0, seconds=LATE)
    assert few.stop(lambda: None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_ours_is_an_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda said: seen.append(said.exc_type))
    few = turns(1)

    def broken(turn: Turn) -> Closing:
        raise ZeroDivisionError

    assert code(lambda: few.run(broken, patience=0, seconds=LATE)) == Code.UNKNOWN_EXCEPTION
    few.run(answer, patience=LATE, seconds=LATE)
    until_gone()
    assert seen == [ZeroDivisionError]
