"""An exchange is written and read back whole, whatever stands in any of its fields."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.errors import StoreError
from monitor.model import Exchange, Response, TokenLogprob, Trial
from monitor.store.exchange_text import TEXT_VERSION, Kept, kept_of, kept_text
from tests.unit.store.samples import exchange, trial

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=8)), timezone(timedelta(minutes=-210))])
A_TOKEN = TokenLogprob(token="a", logprob=-1.0)  # noqa: S106 - no password
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: ANY_TEXT,
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(allow_nan=False),
    datetime: st.datetimes(timezones=ZONES),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Return values of a type of the model's records."""
    if hint in SCALARS:
        return SCALARS[hint]
    if get_origin(hint) is UnionType:
        return st.one_of([st.none() if h is NoneType else values(h) for h in get_args(hint)])
    if get_origin(hint) is tuple:
        inner = get_args(hint)
        if inner[-1] is Ellipsis:
            return st.lists(values(inner[0]), max_size=2).map(tuple)
        return st.tuples(*map(values, inner))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    assert is_dataclass(hint), hint
    return records(hint)


def records(kind: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    return st.builds(kind, **{each.name: values(hints[each.name]) for each in fields(kind)})


def kept(**changes: object) -> Kept:
    one = Kept(trial=replace(trial(), exchanges=()), exchange=exchange(0), count=2, process="p-1")
    return replace(one, **changes)  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(records(Kept))
def test_any_record_comes_back_equal_and_gives_the_same_bytes(record: Kept) -> None:
    text = kept_text(record)
    read = kept_of(text)
    assert read == record
    assert kept_text(read) == text


def test_two_lone_surrogates_do_not_become_one_character() -> None:
    answer = Response(text="\ud83d" + "\ude00")
    read = kept_of(kept_text(kept(exchange=exchange(0, response=answer)))).exchange
    assert read.response
    assert [hex(ord(each)) for each in read.response.text] == ["0xd83d", "0xde00"]


def test_a_number_that_is_none_stays_one() -> None:
    odd = Response(text="", logprobs=(replace(A_TOKEN, logprob=math.nan),))
    read = kept_of(kept_text(kept(exchange=exchange(0, response=odd)))).exchange
    assert read.response
    assert math.isnan(read.response.logprobs[0].logprob)


def test_what_a_later_version_added_has_its_default_in_an_older_text() -> None:
    document = json.loads(kept_text(kept()))
    del document["kept"]["trial"]["replays"]
    del document["kept"]["exchange"]["sent_request_id"]
    read = kept_of(json.dumps(document).encode())
    assert (read.trial.replays, read.exchange.sent_request_id) == ("", "")


# What version 1 wrote. If a change of a record breaks this, give the text a new version, and read
# the old one as what it was.
VERSION_1 = (
    '{"kept":{"count":1,"exchange":{"expectation":{"answer_bits":7.0,"answer_task":"sum","answers":'
    '[{"any_of":["91"],"name":"the sum"}],"border_input":"","boundary":"","comparison":"","golden":'
    'null,"golden_version":"","limit_source":"","limit_tokens":null,"needles":[],"nonce":null,'
    '"obey":null,"obey_role":"","reference":null,"size_error_tokens":0,"size_tokens":null,"tool":'
    '"","truncation_accepted":false,"turn":0},"failure":null,"http_status":200,"index":0,'
    '"isolation":"a","part":"control","request":{"cache_salt":"","hang_up":null,"json_schema":null,'
    '"logprobs":0,"max_output_tokens":64,"messages":[{"call_id":"","calls":[],"content":'
    '"What is 45 + 46?","role":"user"}],"seed":null,"stream":false,"tagged":true,"temperature":0.0,'
    '"tool_choice":"","tools":[]},"request_id":null,"response":{"finish_reason":"stop","headers":'
    '[],"logprobs":[],"model":"m","other_text":"","pieces":null,"protocol_faults":[],'
    '"reasoning_text":"","response_id":null,"system_fingerprint":null,"text":"91","tool_calls":[],'
    '"usage":{"cached_tokens":null,"input_tokens":9,"output_tokens":2,"reasoning_tokens":null,'
    '"total_tokens":null}},"sent_request_id":"","tenant":"a","timing":{"first_token_seconds":null,'
    '"longest_gap_seconds":null,"started_at":"2026-11-02T12:00:00+00:00","total_seconds":1.5}},'
    '"process":"process-1","trial":{"broken":"","confirms":"","exchanges":[],"id":"trial-1",'
    '"model":"m","probe":"canary","purpose":"a sum","replays":"","scheduled":true,"shape":"canary",'
    '"started_at":"2026-11-02T12:00:00+00:00","stratum":"short","target":"t"}},"version":1}'
)


def test_a_text_of_version_1_is_read_and_written_as_it_was_and_what_it_lacked() -> None:
    read = kept_of(VERSION_1.encode())
    assert read.exchange.expectation.answers[0].any_of == ("91",)
    assert read.exchange.response
    assert read.exchange.response.text == "91"
    written = json.loads(kept_text(read))
    assert written["kept"]["trial"].pop("examines") == ""
    assert written["kept"]["exchange"]["expectation"].pop("counts_to") == 0
    assert written["kept"]["exchange"]["request"].pop("stop") == ""
    assert written == json.loads(VERSION_1)


def test_every_field_of_the_records_is_in_the_text() -> None:
    document = json.loads(kept_text(kept()))["kept"]
    assert document["exchange"].keys() == {each.name for each in fields(Exchange)}
    assert document["trial"].keys() == {each.name for each in fields(Trial)}


OTHERS = "what somebody else said"


def broken(**paths: object) -> bytes:
    """Return the text with values put in at dotted paths."""
    document = json.loads(kept_text(kept()))
    for path, value in paths.items():
        *above, last = path.split("__")
        place = document
        for key in above:
            place = place[key]
        place[last] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "not written as one"),
        (b'{"version":1,"version":1}', "a key twice"),
        (broken(version=TEXT_VERSION + 1), f"format {TEXT_VERSION + 1} was written by a newer"),
        (broken(version=True), "not written as one"),
        (broken(more=1), "not written as one"),
        (broken(kept__more=OTHERS), "kept has a field that is not known"),
        (broken(kept__exchange__tenant=7), "kept.exchange.tenant is no text"),
        (broken(kept__exchange__index="0"), "kept.exchange.index is no whole number"),
        (broken(kept__exchange__index=True), "kept.exchange.index is no whole number"),
        (broken(kept__exchange__part=OTHERS), "kept.exchange.part is none of the known words"),
        (broken(kept__exchange__request=OTHERS), "kept.exchange.request is no record"),
        (broken(kept__exchange__request__messages=OTHERS), "messages is no list"),
        (broken(kept__exchange__request__messages=[OTHERS]), "messages[0] is no record"),
        (broken(kept__exchange__response__headers=[[OTHERS]]), "headers[0] is no list of 2"),
        (broken(kept__exchange__timing__started_at=OTHERS), "started_at is no instant"),
        (broken(kept__exchange__timing__started_at="2026-11-02"), "has no time zone"),
        (broken(kept__exchange__timing__total_seconds=10**400), "total_seconds is too large"),
        (broken(kept__trial={}), "kept.trial.exchanges is missing"),
    ],
)
def test_what_is_no_such_record_is_refused_without_repeating_it(text: bytes, words: str) -> None:
    with pytest.raises(StoreError) as caught:
        kept_of(text)
    assert words in str(caught.value)
    assert OTHERS not in str(caught.value)
