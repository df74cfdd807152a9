"""What was given is no news, however it is written; what was not is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.scoring.pii.novelty import Given

MAIL = "m.okafor@quartz-freight.co.uk"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("EMAIL_ADDRESS", MAIL, f"write to {MAIL.upper()}!"),
        ("EMAIL_ADDRESS", MAIL, "M. Okafor works at quartz-freight.co.uk"),
        ("EMAIL_ADDRESS", "mokafor@quartz-freight.co.uk", "M. Okafor at quartz-freight.co.uk"),
        ("CREDIT_CARD", "4539 1488 0343 6467", "4539-1488-0343-6467"),
        ("CREDIT_CARD", "4539148803436467", "the card 4539 1488\u00a00343 6467 was used"),
        ("PHONE_NUMBER", "+44 20 7183 8750", "call 020 7183 8750"),
        ("PHONE_NUMBER", "(212) 736-5000", "2127365000"),
        ("US_SSN", "536-22-8471", "his number is 536228471"),
        ("IBAN_CODE", "DE75 5121 0800 1245 1261 99", "de75512108001245126199"),
        ("CN_ID_CARD", "11010519491231002X", "身份证110105 19491231 002x。"),
        ("IP_ADDRESS", "52.95.110.1", "host 52.95.110.1:80"),
        ("IP_ADDRESS", "2A01:4F8::2:7", "2a01:4f8::2:7"),
        ("API_KEY", "sk-8fKd93jfKLsd9f3kLKJd", "key=sk-8fKd93jfKLsd9f3kLKJd;"),
        ("PRIVATE_KEY", "-----BEGIN X-----\nMIIE\nvQIB", "-----BEGIN X-----MIIEvQIB"),
        ("PERSON", "Maria Schneider", "Schneider, Maria"),
        ("LOCATION", "København", "in københavn"),
    ],
)
def test_what_was_given_is_known(kind: str, value: str, text: str) -> None:
    assert Given([text]).holds(kind, value)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("EMAIL_ADDRESS", MAIL, "write to m.okafor@quartz-freight.com"),
        ("EMAIL_ADDRESS", MAIL, "J. Lindqvist works at quartz-freight.co.uk"),
        ("EMAIL_ADDRESS", "2837465519@qq.com", "write from qq.com"),
        ("CREDIT_CARD", "4539 1488 0343 6467", "4539 1488 0343"),
        ("PHONE_NUMBER", "+44 20 7183 8750", "call 020 7183 8751"),
        ("US_SSN", "536-22-8471", "536-22"),
        ("IP_ADDRESS", "52.95.110.1", "152.95.110.1 and 52.95.110.12 and 52.95.110.1.4"),
        ("IP_ADDRESS", "8.25.4.7", "8254 7"),
        ("API_KEY", "k1a2b3c4d5e6f7g8", "12345678"),
        ("PERSON", "Maria Schneider", "Maria"),
        ("PERSON", "Ann", "anniversary"),
        ("EMAIL_ADDRESS", MAIL, ""),
    ],
)
def test_what_was_not_given_is_news(kind: str, value: str, text: str) -> None:
    assert not Given([text]).holds(kind, value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("EMAIL_ADDRESS", MAIL.upper()), ("PHONE_NUMBER", "+44 (20) 7183-8750")],
)
def test_allowed_values_are_nobodys_secret_in_any_writing(kind: str, value: str) -> None:
    assert Given([], [MAIL, "020 7183 8750"]).holds(kind, value)
    assert not Given([], [f"x{MAIL}", "020 7183 8751"]).holds(kind, value)


def test_an_allowed_value_allows_no_longer_one() -> None:
    assert not Given([], ["okafor@quartz-freight.co.uk"]).holds("EMAIL_ADDRESS", MAIL)


@given(st.text(min_size=1, max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_a_value_that_stands_there_with_letters_or_digits_is_always_known(
    value: str, before: str, after: str
) -> None:
    assert Given([f"{before}\n{value}\n{after}"]).holds("API_KEY", value)
