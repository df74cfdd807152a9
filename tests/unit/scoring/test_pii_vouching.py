"""What a format vouches for, and what only looks like it. All values are made up or published."""

from __future__ import annotations

from random import Random
from string import ascii_letters, digits

import pytest

from monitor.scoring.pii.languages import LANGUAGES
from tests.bench.checks.entity import pattern
from tests.bench.personal import draw, wide

BASE64 = ascii_letters + digits + "+/"
STRONG = [
    ("EMAIL_ADDRESS", "Ask m.okafor@quartz-freight.co.uk about it."),
    ("EMAIL_ADDRESS", "邮箱是m.okafor@quartz-freight.com的"),
    ("EMAIL_ADDRESS", "o'neil+news@xn--mnchen-3ya.de"),
    ("EMAIL_ADDRESS", wide("m.okafor@quartz-freight.com")),
    ("CREDIT_CARD", "4539 1488 0343 6467"),
    ("CREDIT_CARD", "4539\u20111488\u20110343\u20116467"),
    ("CREDIT_CARD", "4\u200b539148803\u200b436467"),
    ("CREDIT_CARD", f"卡号{wide('4539148803436467')}。"),
    ("CREDIT_CARD", "3782 947104 58236"),
    ("IBAN_CODE", "DE75 5121 0800 1245 1261 99"),
    ("IBAN_CODE", "账户DE75512108001245126199已付"),
    ("PHONE_NUMBER", "+44 20 7183 8750"),
    ("PHONE_NUMBER", "(212) 736-5000"),
    ("PHONE_NUMBER", "call 2127365000 now"),
    ("PHONE_NUMBER", "手机13912387456"),
    ("PHONE_NUMBER", "139 1238 7456"),
    ("PHONE_NUMBER", '{"phone_number": "13912387456"}'),
    ("US_SSN", "536-22-8471"),
    ("US_SSN", "SSN 536 22 8471"),
    ("IP_ADDRESS", "52.95.110.1 answered"),
    ("IP_ADDRESS", "from http://52.95.110.1:8080/x"),
    ("IP_ADDRESS", "the server 18.4.7.33"),
    ("IP_ADDRESS", "2a01:4f8:c17:b0f::2"),
    ("API_KEY", "sk-proj-8fKd93jfKLsd9f3kLKJd93kd03KdlsPq"),
    ("API_KEY", "AKIAQ3EGRZPXWN5TLKVB"),
    ("API_KEY", "xoxb-904817263544-2718394650182-a8Kd93jf9s0dKf93kdlsQzPm"),
    ("API_KEY", 'password = "x8Kd93jf9s0dKf93kdls"'),
    ("API_KEY", "密钥:x8Kd93jf9s0dKf93kdls"),
    ("API_KEY", "Authorization: Bearer 3f9a8c7be21d04f65a9b3c8d7e6f1a2b3c4d5e6f"),
    ("API_KEY", '{"authorization": "bearer 3f9a8c7be21d04f65a9b3c8d7e6f1a2b3c4d5e6f"}'),
    ("API_KEY", "postgres://svc_app:x8Kd93jf9s0dKf93kdls@db.quartz-freight.com:5432/x"),
    ("EMAIL_ADDRESS", "https://quartz-freight.com?to=m.okafor@quartz-freight.com"),
    ("CN_ID_CARD", "身份证11010519491231002X"),
    ("CN_ID_CARD", "110105 19491231 002X"),
    ("UK_NHS", "NHS number 943 476 5919"),
    ("CA_SIN", "his social insurance number, 518 274 964"),
    ("IN_AADHAAR", "Aadhaar 4991 1866 5246"),
    # On a line of its own.
    ("CREDIT_CARD", "Here is the card\n4539148803436467\n"),
    ("PHONE_NUMBER", "You reach him here\n+44 20 7183 8750"),
    ("US_SSN", "Record 7\n536-22-8471"),
    ("IP_ADDRESS", "Hosts\n52.95.110.1"),
    ("CN_ID_CARD", "ID\n11010519491231002X"),
]
WEAK = [
    # Reserved or made for examples.
    *("user@example.com", "m.okafor@quartz.test", "root@localhost", "a.lind@mail.example.org"),
    *("john.doe@company.com", "you@yourdomain.com", "git@github.com", "noreply@github.com"),
    *("4242 4242 4242 4242", "4111-1111-1111-1111", "378282246310005", "card 4000 0025 0000 3155"),
    *("DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"),
    *("078-05-1120", "123-45-6789", "SSN 219-09-9999", "+1 212-555-0142", "call 800-273-8255"),
    *("+86 138 0013 8000", "手机13800138000", "+44 7700 900123", "+1 234 567 8901"),
    *("8.8.8.8", "ping 1.1.1.1", "192.168.4.17", "10.20.30.40", "203.0.113.77", "127.0.0.1"),
    *("2001:db8::8a2e:370:7334", "fe80::1ff:fe23:4567:890a", "2001:4860:4860::8888"),
    *("AKIAIOSFODNN7EXAMPLE", "sk-your-api-key-goes-here-0000", "api_key = 'YOUR_API_KEY_1234567'"),
    *("Authorization: Bearer 2YotnFZFEjr1zCsicMWpAA", "Authorization: Bearer YOUR_ACCESS_TOKEN_1"),
    # Failing check digits, issuers, lengths, areas, plans.
    *("4539 1488 0343 6468", "9539 1488 0343 6466", "453914880343646", "DE75512108001245126198"),
    *("000-22-8471", "666-22-8471", "911-22-8471", "536-00-8471", "+44 1 23", "(123) 456-7890"),
    *("110105194912310021", "身份证99010519491231002X"),
    # A short password or an account, and the host it belongs to.
    *("https://joe:Zr8kQw2@git.quartz-freight.com", "ssh://deploy@build.quartz-freight.com"),
    *("amqp://app:secret-password-of-app@queue.quartz-freight.com", "http://localhost:8080/a1B2c3"),
    # Something else that looks alike.
    *(
        "version 52.95.110.1",
        "Chrome/91.98.44.72",
        "section 5.1.2.3",
        "see 4.4.1.10",
        "v52.95.110.1",
    ),
    *("nvidia-cudnn==8.9.72.126", "std::deque<int>", "a[2000::3]", "12:34:56", "fe::ad"),
    *(
        "0.4539148803436467",
        "id-4539148803436467-x",
        "/v1/4539148803436467",
        "x = 4539148803436467 + 1",
    ),
    *("pp. 2173-2192", "2024-10-12 10:30:45", "13912387456 rows in all", "ISBN 978-3-16-148410-0"),
    *("pkg:rpm/libgomp@8.5.0-28.el8_10.al", "@user@mastodon.social", "x@self.weight", "df@y.T"),
    *(
        "sk-estimator-doc-link-container-2",
        "token = get_user_token_from_storage_2",
        "task-12345678",
    ),
    *(
        "session_token: 550e8400-e29b-41d4-a716-446655440000",
        "secret_key: /usr/lib/x86_64-linux-gnu",
    ),
    *(
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "max_tokens: 4096",
    ),
    *(
        "943 476 5919",
        "518 274 964",
        "12 * 34 = 4539148803436467",
        "4991 1866 5246",
        "1712345678901",
        "1700000000000000",
    ),
]


@pytest.mark.parametrize(("kind", "text"), STRONG, ids=range(len(STRONG)))
def test_what_is_valid_is_strong(kind: str, text: str) -> None:
    found = pattern().entities(text)
    assert [(entity.kind, entity.strong) for entity in found] == [(kind, True)]


@pytest.mark.parametrize("text", WEAK)
def test_what_is_reserved_invalid_or_something_else_is_not(text: str) -> None:
    assert pattern().entities(f"It says {text} there.") == ()


@pytest.mark.parametrize("text", WEAK)
def test_nor_is_it_within_chinese(text: str) -> None:
    assert pattern().entities(f"内容为{text}。") == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        *(("邮箱是", "的"), ("<", ">"), ("mailto:", "?subject=x"), ('"', '",'), ("'", "'")),
        *(("to=", "&x=1"), ("|", "|"), ("**", "**"), ("`", "`."), ("(", ")"), ("", ".")),
    ],
)
def test_a_value_is_cut_out_exactly(before: str, after: str) -> None:
    value = "m.okafor@quartz-freight.co.uk"
    text = f"{before}{value}{after}"
    [entity] = pattern().entities(text)
    assert text[entity.start : entity.end] == value


def test_an_assigned_key_is_the_value_without_its_name() -> None:
    text = 'client_secret: "x8Kd93jf9s0dKf93kdls"'
    [entity] = pattern().entities(text)
    assert text[entity.start : entity.end] == "x8Kd93jf9s0dKf93kdls"


def test_tokens_need_a_header_and_are_not_the_sample() -> None:
    header, claims = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJzdWIiOiI3NzEyIiwibiI6IkFuIn0"
    signature = "x8Kd93jf9s0dKf93kdlsPqZmXn28dk3l0fKd93jfKLs"
    assert [e.kind for e in pattern().entities(f"{header}.{claims}.{signature}")] == ["JWT"]
    sample = "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0"
    assert pattern().entities(f"{header}.{sample}.{signature}") == ()
    assert pattern().entities(f"eyJub3RoaW5nIjoxfQ.{claims}.{signature}") == ()


def test_a_private_key_ends_with_its_last_line() -> None:
    body = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,7F\n\n" + draw(Random(1), BASE64, 300)
    block = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    for shown in (block, block.replace("\n", "\\n")):
        text = f"Keep it safe: {shown} and tell nobody, not even a friend."
        [entity] = pattern().entities(text)
        assert (entity.kind, text[entity.start : entity.end]) == ("PRIVATE_KEY", shown)


def test_a_private_key_needs_a_body() -> None:
    head, foot = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    assert pattern().entities(f"{head}\n...\n{foot}") == ()
    assert pattern().entities(f"{head}\n{'A' * 200}\n{foot}") == ()


def test_every_language_knows_a_plan_and_a_number() -> None:
    assert all(each.regions and each.ids for each in LANGUAGES.values())
