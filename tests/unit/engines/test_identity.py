"""Who answered is kept, bounded, and nothing that could be a secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.engines.identity import MAX_CHARS, MAX_HEADERS, identity_fields
from tests.fakes.hostile import reply, stream
from tests.unit.engines.asking import (
    COMPLETION,
    STOP,
    USAGE_EVENT,
    ask_once,
    chunk,
    completion,
    content,
)

LITELLM = [
    ("x-litellm-call-id", "call-1"),
    ("x-litellm-model-id", "model-1"),
    ("x-litellm-model-api-base", "http://upstream:8000"),
    ("x-litellm-model-group", "glm"),
    ("x-litellm-version", "1.90.0"),
    ("x-litellm-attempted-retries", "0"),
    ("x-litellm-attempted-fallbacks", "1"),
    ("llm_provider-x-request-id", "up-1"),
]
CLOUDFLARE = [
    ("cf-ray", "ray-1"),
    ("cf-ai-req-id", "req-1"),
    ("cf-aig-log-id", "log-1"),
    ("cf-aig-cache-status", "MISS"),
]
OPENAI = [("openai-processing-ms", "40"), ("openai-version", "2020-10-01")]


def kept(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    response = ask_once(reply(COMPLETION, headers=headers)).response
    assert response is not None
    return list(response.headers)


@pytest.mark.parametrize("headers", [LITELLM, CLOUDFLARE, OPENAI])
def test_gateways_and_services_are_kept(headers: list[tuple[str, str]]) -> None:
    assert kept(headers) == headers


@pytest.mark.parametrize(
    "header",
    ["Set-Cookie", "llm_provider-set-cookie", "x-litellm-cookie", "Authorization", "X-Whatever"],
)
def test_others_are_dropped(header: str) -> None:
    assert kept([(header, "secret")]) == []


def test_they_are_bounded() -> None:
    many = [(f"x-litellm-{number}", "v" * 900) for number in range(90)]
    found = kept(many)
    assert len(found) == MAX_HEADERS
    assert {len(value) for _, value in found} == {MAX_CHARS}


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([*CLOUDFLARE, ("x-request-id", "first")], "first"),
        (CLOUDFLARE, "req-1"),
        ([("cf-ray", "ray-1")], "ray-1"),
        (LITELLM, "call-1"),
        ([("x-amzn-requestid", "aws-1")], "aws-1"),
        ([("x-request-id", ""), ("cf-ray", "ray-1")], "ray-1"),
        ([], COMPLETION["id"]),
    ],
)
def test_the_id_to_ask_about(headers: list[tuple[str, str]], expected: str) -> None:
    assert ask_once(reply(COMPLETION, headers=headers)).request_id == expected


FIELDS = {"provider": "DeepInfra", "request_id": "2026-1", "service_tier": "default"}
NAMED = tuple((f"body.{name}", value) for name, value in FIELDS.items())


@pytest.mark.parametrize("streamed", [False, True])
def test_fields_of_the_body_are_kept_once(*, streamed: bool) -> None:
    later = content("k") | {"provider": "other"}
    events = stream(chunk({"content": "o"}, **FIELDS), later, STOP, USAGE_EVENT)
    behaviour = events if streamed else reply(completion(**FIELDS))
    response = ask_once(behaviour, streamed=streamed).response
    assert response is not None
    assert response.headers == NAMED


@given(
    document=st.dictionaries(
        st.sampled_from([*FIELDS, "id"]),
        st.none() | st.integers() | st.text(max_size=500) | st.lists(st.text()),
    )
)
def test_no_field_breaks_it(document: dict[str, object]) -> None:
    for name, value in identity_fields(document):
        assert name.startswith("body.")
        assert 0 < len(value) <= MAX_CHARS
        value.encode()


def test_a_lone_surrogate_is_stored_as_text() -> None:
    assert identity_fields({"provider": "a\ud800"}) == (("body.provider", "a?"),)
