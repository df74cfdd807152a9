"""What makes a candidate strong: a checksum, a numbering plan, a registry, never its looks alone.

Each function takes something found and says whether its format vouches for it. Where random
characters pass too often, a word close by must name it as well.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from monitor.scoring.pii.folding import bare, digits, is_made_up
from monitor.scoring.pii.found import WORDS_BEFORE, Found
from monitor.scoring.pii.published import (
    PLACEHOLDER_DOMAINS,
    PLACEHOLDER_MAILBOXES,
    PUBLIC_ADDRESSES,
    SAMPLE_IBANS,
    SAMPLE_SSNS,
    TEST_CARD_PREFIXES,
    TEST_CARDS,
)

if TYPE_CHECKING:
    from tldextract import TLDExtract

Vouch = Callable[[Found], bool]

# RFC 2606, RFC 6761, RFC 6762, RFC 7686, RFC 9476 and what stands for one's own network.
_RESERVED_TLDS = frozenset(
    {"example", "test", "invalid", "localhost", "local", "internal", "onion", "alt", "arpa", "lan"}
)
# RFC 3986, section 3.2.1: user and password stand between the slashes and the @.
_USERINFO = re.compile(r"://[^\s/?#@]{0,48}\Z")
_CARD_WORDS = re.compile(
    r"\bcards?\b|credit|debit|visa|master ?card|amex|american express|discover|union ?pay"
    r"|\bjcb\b|diners|\bcvv|\bcvc|\bpan\b|卡号|卡號|信用卡|银行卡|銀行卡|借记卡"
)
_ADDRESS_WORDS = re.compile(
    r"\bips?\b|\bipv[46]\b|\baddr|\bhosts?\b|\bserver|\bclient|\bremote|\bfrom\b|\bping|\bpeer"
    r"|\bgateway|\blog(?:in|ged)|\bssh\b|\bproxy|\bnode\b|地址|主机|主機|服务器|客户端|来源"
)
_VERSION_BEFORE = re.compile(
    r"(?:[A-Za-z]/|[=~<>!]=|[§@]|\bv\.?\s?|\bver(?:sion)?[\"']?[\s:=\"'.]{0,4}"
    r"|version[\"']?[\s:=\"']{0,4}"
    r"|\b(?:sections?|sect?|chapter|clause|table|figure|fig|release|build|appendix|oid|rfc|rev)\.?\s?"
    r"|版本[号號]?[\s:]{0,3}|第)$",
    re.IGNORECASE,
)
SSN_WORDS = r"\bssn|social security|社会安全号|社会保障号"
_SSN_NAMED = re.compile(SSN_WORDS)
# Quads whose numbers are small are sections and versions far more often than addresses.
_SMALL_QUAD, _LARGE_PARTS = 40, 2
_IPV6_GROUPS = 3
_ISSUED_IPV6 = ipaddress.ip_network("2000::/3")
_IPV4_PARTS = 4
_LONG_CARD_DIGITS = 17
_LONGEST_LABEL = 63


def email(found: Found) -> bool:
    """Say whether an address lies in a registered domain and stands for somebody.

    ``@a@b.org`` is a name in a federated network, ``pkg/a@b`` a package; what stands before the @
    of a URL is an account or a password there, and no mailbox.
    """
    mailbox, _, domain = found.value.rpartition("@")
    labels = domain.casefold().split(".")
    if labels[-1] in _RESERVED_TLDS or "example" in labels or found.before(1) in ("@", "/"):
        return False
    if _USERINFO.search(found.before(WORDS_BEFORE)):
        return False
    if "_" in domain or max(map(len, labels)) > _LONGEST_LABEL:
        return False
    parts = _suffixes()(domain)
    name = parts.domain.casefold()
    if not parts.suffix or len(name) < len("xx") or bare(name) in PLACEHOLDER_DOMAINS:
        return False
    person = bare(mailbox.partition("+")[0])
    return bool(person) and person not in PLACEHOLDER_MAILBOXES


@cache
def _suffixes() -> TLDExtract:
    """Return the public suffix list that comes with the package; nothing is fetched or written."""
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None, fallback_to_snapshot=True)


def card(found: Found) -> bool:
    """Say whether it is a card number: Luhn, an issuer's range and that issuer's lengths.

    A random run of 16 digits passes in 1 of 43; numbers of 17 digits and more need a word.
    """
    number = digits(found.value)
    if not found.is_whole_number() or len(number) not in issued_lengths(number):
        return False
    if number in TEST_CARDS or number.startswith(TEST_CARD_PREFIXES) or is_made_up(number):
        return False
    if len(number) >= _LONG_CARD_DIGITS and not found.beside(_CARD_WORDS):
        return False
    return bool(import_module("stdnum.luhn").is_valid(number))


def issued_lengths(number: str) -> range | tuple[int, ...]:
    """Return how long cards of the issuer are, by ISO/IEC 7812 ranges; empty if nobody's."""
    prefix = int(number[:6].ljust(6, "0"))
    for first, last, lengths in _ISSUERS:
        if first <= prefix <= last:
            return lengths
    return ()


# Visa, American Express, Mastercard (both ranges), Discover, JCB, Diners, Mir, RuPay, UnionPay.
_ISSUERS: tuple[tuple[int, int, range | tuple[int, ...]], ...] = (
    (400000, 499999, (16,)),
    (340000, 349999, (15,)),
    (370000, 379999, (15,)),
    (510000, 559999, (16,)),
    (222100, 272099, (16,)),
    (220000, 220499, (16,)),
    (352800, 358999, (16,)),
    (300000, 305999, (14,)),
    (309500, 309599, (14,)),
    (360000, 369999, (14,)),
    (380000, 399999, (14, 16)),
    (601100, 601199, (16,)),
    (644000, 659999, (16,)),
    (508500, 508999, (16,)),
    (606985, 607984, (16,)),
    (620000, 629999, range(16, 20)),
    (810000, 817199, range(16, 20)),
)


def iban(found: Found) -> bool:
    """Say whether it is an account number: its country's length and form, and mod 97."""
    value = bare(found.value)
    if value in SAMPLE_IBANS or is_made_up(value[len("DE00") :]):
        return False
    if re.match(r"[A-Za-z0-9]", found.after(1)) or re.search(r"[A-Za-z0-9]\Z", found.before(1)):
        return False
    return bool(import_module("stdnum.iban").is_valid(value))


def ssn(found: Found) -> bool:
    """Say whether it is a US social security number: a possible area, group and serial.

    There is no check digit. Written 3-2-4 with hyphens it counts, otherwise beside a word.
    """
    number = digits(found.value)
    area, group, serial = number[:3], number[3:5], number[5:]
    if area in ("000", "666") or area >= "900" or group == "00" or serial == "0000":
        return False
    if not found.is_whole_number() or number in SAMPLE_SSNS or is_made_up(number):
        return False
    hyphens = re.fullmatch(r"\d{3}-\d{2}-\d{4}", found.value)
    return hyphens is not None or found.beside(_SSN_NAMED)


def address(found: Found) -> bool:
    """Say whether it is the public address of a host, and no version or section number."""
    try:
        host = ipaddress.ip_address(found.value.partition("%")[0])
    except ValueError:
        return False
    if not host.is_global or host.is_multicast or str(host) in PUBLIC_ADDRESSES:
        return False
    if host.version == _IPV4_PARTS:
        return _is_ipv4(found)
    groups = [group for group in found.value.split(":") if group]
    return host in _ISSUED_IPV6 and len(groups) >= _IPV6_GROUPS


def _is_ipv4(found: Found) -> bool:
    parts = [int(part) for part in found.value.split(".")]
    if parts[2:] == [0, 0] or _VERSION_BEFORE.search(found.before(16)):
        return False
    if re.search(r"(?:[A-Za-z0-9_.\-]|\d[.,])\Z", found.before(2)):
        return False
    if re.match(r"[A-Za-z0-9_]|[.\-+]\w", found.after(2)):
        return False
    large = sum(part >= _SMALL_QUAD for part in parts)
    return large >= _LARGE_PARTS or found.beside(_ADDRESS_WORDS)


def national_id(checker: str, words: str, *, alone: bool) -> Vouch:
    """Return what vouches for a national identity number, by its check digits and its name."""
    pattern = re.compile(words)

    def vouch(found: Found) -> bool:
        if not found.is_whole_number() or is_made_up(digits(found.value)):
            return False
        if not alone and not found.beside(pattern):
            return False
        valid = import_module(f"stdnum.{checker}").is_valid
        try:
            return bool(valid(found.value) or valid(re.sub(r"[ -]", "", found.value)))
        except LookupError:  # a place of birth that the library's list half knows
            return False

    return vouch
