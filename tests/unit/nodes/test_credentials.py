"""A credential is known again in whatever dress a server repeats it."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.nodes.credentials import SHORTEST_SECRET, Credentials

TOKEN = "tok-NODE-secret-7781"  # noqa: S105 - a made-up one
KNOWN = Credentials([TOKEN, "another-one-of-many"])
LETTERS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=9, max_size=60)


@pytest.mark.parametrize(
    "text",
    [
        *(TOKEN, f"m-{TOKEN}-x", TOKEN.upper(), TOKEN.replace("-", "_"), TOKEN.replace("-", "")),
        *(TOKEN[::-1], TOKEN[:-1], TOKEN[1:], TOKEN[: len(TOKEN) // 2 + 2]),
        *(TOKEN.encode().hex(), TOKEN.encode().hex().upper(), "-".join(TOKEN)),
        base64.b64encode(TOKEN.encode()).decode(),
        base64.urlsafe_b64encode(f"Bearer {TOKEN}!".encode()).decode().rstrip("="),
        base64.b64encode(f"x{TOKEN}".encode()).decode(),
    ],
)
def test_a_credential_in_any_dress_is_repeated(text: str) -> None:
    assert KNOWN.repeated_in(text)


@pytest.mark.parametrize(
    "text", ["", "glm-5.3", "0.5.23", "zai-org/GLM-5.3-FP8", "secret", "flashinfer", "tok-NODE"]
)
def test_what_is_said_of_a_healthy_node_repeats_none(text: str) -> None:
    assert not KNOWN.repeated_in(text)


def test_a_placeholder_is_no_credential() -> None:
    assert not Credentials(["EMPTY", "none"]).repeated_in("none/EMPTY")


def test_no_credential_is_shown() -> None:
    assert TOKEN not in repr(KNOWN)


@given(LETTERS, LETTERS, LETTERS)
def test_wherever_it_stands_it_is_seen(before: str, secret: str, after: str) -> None:
    known = Credentials([secret])
    text = f"{before}{secret}{after}"
    assert known.repeated_in(text.swapcase())
    assert known.repeated_in(text[::-1])
    if len(secret) > 2 * SHORTEST_SECRET:
        assert known.repeated_in(base64.b64encode(text.encode()).decode())
