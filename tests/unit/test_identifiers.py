"""What a target calls things is hidden if it holds a secret, and only then."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.canaries import InstallationKey
from monitor.engines.base import Reply
from monitor.identifiers import Identifiers
from monitor.model import Response, Timing
from monitor.store.private import EvidenceHasher
from tests.unit.store.samples import NOW

OURS = "ourCredential0123"
IDENTIFIERS = Identifiers(EvidenceHasher(InstallationKey(bytes(32))), [OURS, "none"])
TIMING = Timing(started_at=NOW, total_seconds=1.0)
HIDDEN = re.compile(r"hidden-[0-9a-f]{32}")


def named(name: str | None, *, model: str = "a-model", asked: str = "a-model") -> Reply:
    response = Response(text="", model=model, response_id=name, system_fingerprint=name)
    reply = Reply(
        response=response,
        failure=None,
        http_status=200,
        request_id=name,
        timing=TIMING,
    )
    return IDENTIFIERS.named(reply, asked)


def names(reply: Reply) -> set[str | None]:
    assert reply.response
    return {reply.request_id, reply.response.response_id, reply.response.system_fingerprint}


@pytest.mark.parametrize(
    "name",
    [
        *("chatcmpl-9f:2/a.b", "fp_44709d6fcb", "none-1", "", None, "(null)", "_", "{9f2c}"),
        *("/models/specimen-7b", "claude@20240620", "a model (beta)", "x" * 200),
    ],
)
def test_an_ordinary_name_stays(name: str | None) -> None:
    assert names(named(name)) == {name}


@pytest.mark.parametrize(
    "name",
    [
        OURS,
        f"req-{OURS}.1",
        "mary.smith@clinic.org",
        "id:mary@clinic.org/7",
        "sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8x",
        "ghp_0123456789abcdefABCDEF0123456789abcd",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLWl0",
    ],
)
def test_a_name_that_holds_a_secret_is_hidden(name: str) -> None:
    [shown] = names(named(name))
    assert shown
    assert HIDDEN.fullmatch(shown)
    assert named(name) == named(name), "equal names stay equal"


def model_of(reply: Reply) -> str:
    assert reply.response
    assert reply.response.model
    return reply.response.model


def test_the_name_of_the_model_is_no_news_if_it_was_asked_for() -> None:
    asked = "@cf/a model (beta)"
    assert model_of(named(None, model=asked, asked=asked)) == asked
    assert HIDDEN.fullmatch(model_of(named(None, model=f"model-{OURS}", asked=asked)))


def test_who_is_given_no_key_hides_by_one_of_its_own() -> None:
    reply = replace(named(None), request_id="mary.smith@clinic.org")
    hidden = {Identifiers().named(reply, "a-model").request_id for _ in range(2)}
    assert all(HIDDEN.fullmatch(each or "") for each in hidden)
    assert len(hidden) == 2


def test_without_an_answer_only_the_request_has_a_name() -> None:
    reply = Reply(response=None, failure=None, http_status=502, request_id=OURS, timing=TIMING)
    shown = IDENTIFIERS.named(reply, "m")
    assert shown.response is None
    assert HIDDEN.fullmatch(shown.request_id or "")


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_credential_is_ever_shown(before: str, after: str) -> None:
    assert not any(OURS in (shown or "") for shown in names(named(before + OURS + after)))
