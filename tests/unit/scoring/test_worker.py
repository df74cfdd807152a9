"""The scoring worker, a real process, with instruments that hang, crash and cannot be loaded."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model import Measurement
from monitor.scoring import Asked, NoScorer, ScoringSettings, WorkerScorer
from monitor.scoring.child import NICENESS
from monitor.scoring.process import SETTLED_AFTER
from monitor.scoring.worker import (
    BATCH_ANSWERS,
    LONGEST_REST_SECONDS,
    MOST_RESIDENT_BYTES,
    PATIENCE,
)
from tests.fakes.instruments import a_kind

ROOT = Path(__file__).parents[3]
ENDING_SECONDS = 30


@contextmanager
def a_worker(
    build: str = "obedient",
    count: Path | None = None,
    *,
    deadline_seconds: float = 30.0,
    most_resident_bytes: int = MOST_RESIDENT_BYTES,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[WorkerScorer]:
    scorer = WorkerScorer(
        ScoringSettings(instruments={"TOPIC": {"count": str(count)}}),
        kinds={"TOPIC": a_kind(build)},
        deadline_seconds=deadline_seconds,
        most_resident_bytes=most_resident_bytes,
        now=now,
    )
    try:
        yield scorer
    finally:
        scorer.close()


def asked(answer: str, *, wants: Sequence[str] = ("TOPIC",)) -> Asked:
    return Asked(written=answer, answer=answer, request="", wants=frozenset(wants))


def measured(scorer: WorkerScorer, *answers: str) -> list[Measurement]:
    return asyncio.run(scorer.measure([asked(each) for each in answers]))


def pid_of(scorer: WorkerScorer) -> int:
    [one] = measured(scorer, "pid")
    assert one.similarity is not None, one
    return int(one.similarity)


def ends(pid: int) -> bool:
    """Tell whether a process ends soon, whoever's child it is."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        waiting = select.poll()
        waiting.register(process, select.POLLIN)
        return bool(waiting.poll(ENDING_SECONDS * 1000))
    finally:
        os.close(process)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_answers_are_measured_in_order_by_one_process_that_is_not_ours() -> None:
    with a_worker() as scorer:
        first, skip, last = measured(scorer, "length abc", "skip", "length abcdef")
        assert (first.similarity, last.similarity) == (3.0, 6.0)
        assert skip == Measurement(skipped={"TOPIC": "does not apply"})
        pid = pid_of(scorer)
        assert pid == pid_of(scorer)
        assert pid != os.getpid()


def test_nothing_starts_without_an_answer_that_wants_something() -> None:
    with a_worker() as scorer:
        [one] = asyncio.run(scorer.measure([asked("pid", wants=("ENTITY",))]))
        assert one == Measurement()
        assert asyncio.run(scorer.measure([])) == []
        assert scorer._process is None
    assert asyncio.run(NoScorer().measure([asked("pid")])) == [Measurement()]


def test_the_worker_is_nice_keeps_no_credentials_and_loads_nothing_from_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DONOR_A_KEY", "planted")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with a_worker() as scorer:
        nice, key, path, offline = measured(
            scorer,
            *("nice", "environment DONOR_A_KEY", "environment PATH", "environment HF_HUB_OFFLINE"),
        )
    assert nice.similarity == os.nice(0) + NICENESS
    assert (key.similarity, path.similarity, offline.similarity) == (0.0, 1.0, 1.0)
    assert "HF_HUB_OFFLINE" not in os.environ


def test_a_hung_worker_is_killed_and_the_next_batch_gets_a_new_one() -> None:
    with a_worker(deadline_seconds=0.3) as scorer:
        before = pid_of(scorer)
        [hung] = measured(scorer, "hang")
        assert hung.broken == {"TOPIC": "the scoring worker did not answer within 0.3 s"}
        assert not is_alive(before)
        assert pid_of(scorer) != before


def test_a_killed_worker_breaks_one_batch_and_is_named() -> None:
    with a_worker() as scorer:
        before = pid_of(scorer)
        dead, with_it = measured(scorer, "die", "length a")
        assert dead.broken == with_it.broken == {"TOPIC": "the scoring worker died (SIGKILL)"}
        after = pid_of(scorer)
        os.kill(after, signal.SIGKILL)
        assert ends(after)
        measured(scorer, "length a")
        assert len({before, after, pid_of(scorer)}) == 3


def test_what_an_instrument_raises_breaks_its_reading_and_is_not_quoted() -> None:
    with a_worker() as scorer:
        before = pid_of(scorer)
        [raised] = measured(scorer, "raise sk-planted-secret")
        assert raised == Measurement(broken={"TOPIC": "ValueError"})
        assert pid_of(scorer) == before
        [odd] = measured(scorer, "raise_odd sk-planted-secret")
        assert odd == Measurement(broken={"TOPIC": "the scoring worker died (OddError)"})
        assert pid_of(scorer) != before


def test_an_instrument_that_cannot_be_loaded_says_why_and_is_not_loaded_at_full_speed(
    tmp_path: Path,
) -> None:
    count = tmp_path / "loads"
    with a_worker("missing", count) as scorer:
        for _ in range(5):
            [one] = measured(scorer, "length a")
            assert one.broken == {"TOPIC": "/models/none is missing (put it there)"}
    assert count.read_text("utf-8") == "x"


def test_workers_that_die_one_after_the_other_are_given_a_rest(tmp_path: Path) -> None:
    count, clock = tmp_path / "loads", [0.0]
    with a_worker("deadly", count, now=lambda: clock[0]) as scorer:
        for _ in range(PATIENCE + 2):
            [one] = measured(scorer, "length a")
            assert "TOPIC" in one.broken
        assert "3 times in a row" in one.broken["TOPIC"]
        assert count.read_text("utf-8") == "x" * PATIENCE
        clock[0] += LONGEST_REST_SECONDS
        measured(scorer, "length a")
        assert count.read_text("utf-8") == "x" * (PATIENCE + 1)


def test_a_worker_that_keeps_growing_is_replaced_and_one_that_is_large_is_not() -> None:
    much = 200 << 20
    with a_worker(most_resident_bytes=1) as scorer:
        pid = pid_of(scorer)
        for _ in range(SETTLED_AFTER):
            measured(scorer, "length a")
        assert pid_of(scorer) == pid
        [one] = measured(scorer, f"grow {much}")
        assert not one.broken
        assert pid_of(scorer) != pid
        assert not is_alive(pid)
    with a_worker(most_resident_bytes=4 * much) as scorer:
        pid = pid_of(scorer)
        for _ in range(SETTLED_AFTER):
            measured(scorer, "length a")
        measured(scorer, f"grow {much}")
        assert pid_of(scorer) == pid


def test_orders_that_wait_together_are_measured_together(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    async def several() -> list[list[Measurement]]:
        with a_worker() as scorer:
            first = asyncio.create_task(scorer.measure([asked(f"wait {pipe}")]))
            # Opens only once the worker reads: the worker is busy from here on.
            writer = await asyncio.to_thread(pipe.open, "w", encoding="utf-8")
            others = [
                asyncio.create_task(scorer.measure([asked("together")] * number))
                for number in (1, 2, 3)
            ]
            await asyncio.sleep(0)
            writer.close()
            await first
            return await asyncio.gather(*others)

    found = asyncio.run(several())
    assert [[one.similarity for one in each] for each in found] == [[6.0] * n for n in (1, 2, 3)]


def test_an_answer_that_kills_the_worker_costs_no_other_trial_its_measurement(
    tmp_path: Path,
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    async def several() -> list[list[Measurement]]:
        with a_worker() as scorer:
            first = asyncio.create_task(scorer.measure([asked(f"wait {pipe}")]))
            writer = await asyncio.to_thread(pipe.open, "w", encoding="utf-8")
            others = [
                asyncio.create_task(scorer.measure([asked(answer)]))
                for answer in ("length a", "die", "length abc")
            ]
            await asyncio.sleep(0)
            writer.close()
            await first
            return await asyncio.gather(*others)

    [one], [killer], [three] = asyncio.run(several())
    assert (one.similarity, three.similarity) == (1.0, 3.0)
    assert killer.broken == {"TOPIC": "the scoring worker died (SIGKILL)"}


def test_a_large_order_is_cut_into_calls_and_keeps_what_was_measured_before_a_death() -> None:
    with a_worker() as scorer:
        answers = ["together"] * BATCH_ANSWERS + ["together", "die"] + ["x" * 300_000] * 2
        found = measured(scorer, *answers)
    assert [one.similarity for one in found[:BATCH_ANSWERS]] == [BATCH_ANSWERS] * BATCH_ANSWERS
    assert all(one.broken for one in found[BATCH_ANSWERS : BATCH_ANSWERS + 2])
    assert [one.similarity for one in found[-2:]] == [0.0, 0.0]


def test_closing_leaves_no_process_and_nobody_waiting() -> None:
    async def close_under_way() -> tuple[int, list[Measurement]]:
        with a_worker() as scorer:
            [before] = await scorer.measure([asked("pid")])
            under_way = asyncio.create_task(scorer.measure([asked("hang")]))
            await asyncio.sleep(0)
            scorer.close()
            after = await scorer.measure([asked("pid")])
            return int(before.similarity or 0), [*await under_way, *after]

    pid, found = asyncio.run(close_under_way())
    assert all("TOPIC" in one.broken for one in found)
    assert not is_alive(pid)
    assert not children()


@pytest.mark.parametrize("hangs", [False, True])
@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGKILL])
def test_a_parent_that_is_ended_leaves_no_worker(
    tmp_path: Path, hangs: bool, ended_by: int
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    busy_with = f"hang {pipe}" if hangs else "pid"
    code = (
        "import asyncio, sys\n"
        "from tests.unit.scoring.test_worker import a_worker, asked, pid_of\n"
        "async def main(scorer):\n"
        "    [one] = await scorer.measure([asked('pid')])\n"
        "    task = asyncio.create_task(scorer.measure([asked(sys.argv[1])]))\n"
        "    await asyncio.sleep(0)\n"
        "    print(int(one.similarity), flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "with a_worker() as scorer:\n"
        "    asyncio.run(main(scorer))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, busy_with], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        worker = int(parent.stdout.readline())
        assert not hangs or pipe.read_text("utf-8") == "now"
        assert is_alive(worker)
        parent.send_signal(ended_by)
        assert ends(worker)


def test_a_waiter_that_gives_up_leaves_the_worker_in_order() -> None:
    async def give_up(scorer: WorkerScorer) -> None:
        waiting = asyncio.create_task(scorer.measure([asked("length a")]))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    with a_worker() as scorer:
        asyncio.run(give_up(scorer))
        [one] = measured(scorer, "length abc")
    assert one.similarity == 3.0


def test_any_text_crosses_to_the_worker_and_is_counted_there() -> None:
    text = st.text(st.characters(codec=None), max_size=60)
    with a_worker() as scorer:

        @given(answers=st.lists(text, min_size=1, max_size=6))
        @settings(max_examples=40)
        def crosses(answers: list[str]) -> None:
            found = measured(scorer, *(f"length {each}" for each in answers))
            assert [one.similarity for one in found] == [float(len(each)) for each in answers]

        crosses()
        [large] = measured(scorer, "length " + "\ud800" * 200_000)
        assert large.similarity == 200_000


def children() -> list[str]:
    """Return the command lines of this process's children that are workers."""
    lines = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_text("utf-8").rpartition(")")[2].split()[1]
            line = (stat.parent / "cmdline").read_text("utf-8")
        except OSError:  # it ended meanwhile
            continue
        lines += [line] if parent == str(os.getpid()) and "monitor.scoring.child" in line else []
    return lines
