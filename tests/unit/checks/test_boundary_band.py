"""At the very limit a prompt may be refused or read whole, but never shortened or replaced."""

from __future__ import annotations

import pytest

from monitor.model import Failure, FailureKind, Needle, Outcome
from tests.builders import Bench, an_exchange, failures

PROOFS = {("NEEDLE", "front_lost"), ("BOUNDARY", "truncated"), ("BOUNDARY", "replaced")}
REFUSED = Failure(kind=FailureKind.REFUSED, detail="too long", code=400)


@pytest.mark.parametrize(
    ("kept", "variant"),
    [(("head", "middle", "tail"), None), (("tail",), "truncated"), ((), "replaced")],
)
def test_an_answer_in_the_band(kept: tuple[str, ...], variant: str | None) -> None:
    bench = Bench()
    needles = tuple(Needle(place=p, text=bench.mint()) for p in ("head", "middle", "tail"))
    nonce = bench.mint()
    said = [needle.text for needle in needles if needle.place in kept]
    answer = "\n".join([nonce, *said]) if kept else "The harbour opens at nine in the morning."
    exchange = an_exchange(
        "word " * 3000,
        answer,
        boundary="band",
        nonce=nonce,
        needles=needles,
        limit_tokens=4096,
        limit_source="config",
        size_tokens=4032,
        size_error_tokens=30,
    )
    found = {v for code, v in failures(bench.judge(exchange)) if code == "BOUNDARY"}
    assert found == ({variant} if variant else set())


@pytest.mark.parametrize("whole", [("tail",), ()], ids=["head copied badly", "all copied badly"])
def test_a_code_copied_badly_was_read(whole: tuple[str, ...]) -> None:
    bench = Bench()
    needles = tuple(Needle(place=p, text=bench.mint()) for p in ("head", "middle", "tail"))
    nonce = bench.mint()
    said = [n.text if n.place in whole else n.text.rpartition("-")[0] for n in needles]
    exchange = an_exchange(
        "word " * 3000,
        "\n".join([nonce if whole else nonce[:11], *said]),
        boundary="band",
        nonce=nonce,
        needles=needles,
        limit_tokens=4096,
        limit_source="config",
        size_tokens=4032,
        size_error_tokens=30,
    )
    found = failures(bench.judge(exchange))
    assert ("NEEDLE", "lost") in found
    assert not found & {
        ("NEEDLE", "front_lost"),
        ("BOUNDARY", "truncated"),
        ("BOUNDARY", "replaced"),
    }


def test_a_refusal_in_the_band_is_good() -> None:
    exchange = an_exchange(
        "word " * 3000,
        None,
        failure=REFUSED,
        http_status=400,
        boundary="band",
        limit_tokens=4096,
        size_tokens=4032,
        size_error_tokens=30,
    )
    assert Bench().judge(exchange).outcome is Outcome.GOOD
