"""Made-up values of every strong kind, drawn at random, in English and Chinese sentences.

Nobody's: names, domains, numbers and keys are random and only keep the rules that make them valid.
"""

from __future__ import annotations

import base64
import ipaddress
import json
from collections.abc import Callable, Mapping
from random import Random
from string import ascii_letters, ascii_uppercase, digits

import phonenumbers
from stdnum import luhn
from stdnum.cn import ric
from stdnum.iso7064 import mod_11_2, mod_97_10

Draw = Callable[[Random], str]

_BASE62, _URL = ascii_letters + digits, ascii_letters + digits + "-_"
_HEX, _BASE32 = digits + "abcdef", ascii_uppercase + "234567"
_GIVEN = ("anna", "li", "tomas", "priya", "wei", "olga", "kwame", "ines", "yusuf", "marta", "jun")
_FAMILY = ("kowalski", "zhang", "okafor", "lindqvist", "haddad", "moreau", "tanaka", "ferrari")
_NOUNS = ("kestrel", "harbour", "quartz", "lantern", "meadow", "orchard", "cobalt", "juniper")
_FIRMS = ("labs", "works", "partners", "systems", "foods", "freight", "clinic", "studio")
_ENDINGS = ("com", "net", "org", "io", "de", "co.uk", "fr", "cn", "com.cn", "ai", "health", "se")
_REGIONS = ("110105", "310104", "440305", "510107", "330106", "420106", "610113", "350203")


def draw(rng: Random, alphabet: str, count: int) -> str:
    """Return random characters."""
    return "".join(rng.choices(alphabet, k=count))


def wide(text: str) -> str:
    """Return the text in full-width characters."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def email(rng: Random) -> str:
    """Return an address in a domain that looks like anybody's."""
    given, family = rng.choice(_GIVEN), rng.choice(_FAMILY)
    mailbox = rng.choice(
        (
            f"{given}.{family}",
            f"{given[0]}{family}",
            f"{family}{rng.randint(2, 99)}",
            f"{given}_{family}",
        )
    )
    return f"{mailbox}@{rng.choice(_NOUNS)}-{rng.choice(_FIRMS)}.{rng.choice(_ENDINGS)}"


def card(rng: Random) -> str:
    """Return a valid number of one of the large issuers, plain or in groups."""
    prefix = rng.choice(("4", "4", "51", "54", "2345", "37", "6011", "3530", "622126"))
    length = 15 if prefix == "37" else 16
    body = prefix + draw(rng, digits, length - len(prefix) - 1)
    number = body + luhn.calc_check_digit(body)
    separator = rng.choice(("", " ", "-"))
    if prefix == "37":
        return separator.join((number[:4], number[4:10], number[10:]))
    return separator.join(number[place : place + 4] for place in range(0, 16, 4))


def iban(rng: Random) -> str:
    """Return an account number with its check digits, plain or in groups of four."""
    bank = draw(rng, ascii_uppercase, 4)
    country, account = rng.choice(
        (
            ("DE", draw(rng, digits, 18)),
            ("GB", bank + draw(rng, digits, 14)),
            ("AT", draw(rng, digits, 16)),
            ("CH", draw(rng, digits, 17)),
            ("SE", draw(rng, digits, 20)),
            ("RO", bank + draw(rng, _BASE32, 16)),
        )
    )
    number = f"{country}{mod_97_10.calc_check_digits(f'{account}{country}')}{account}"
    if rng.random() < 0.5:
        return number
    return " ".join(number[place : place + 4] for place in range(0, len(number), 4))


def phone(rng: Random) -> str:
    """Return a valid number of the United States or Britain, written clearly."""
    while True:
        region = rng.choice(("US", "GB"))
        national = ("2" if region == "US" else "7") + draw(rng, digits, 9)
        number = phonenumbers.parse(national, region)
        if not phonenumbers.is_valid_number(number) or national.startswith("76"):
            continue  # 076 are pagers
        kind = phonenumbers.PhoneNumberFormat
        form = rng.choice(
            (kind.INTERNATIONAL, kind.E164, *([kind.NATIONAL] if region == "US" else []))
        )
        return phonenumbers.format_number(number, form)


def chinese_mobile(rng: Random) -> str:
    """Return a Chinese mobile number, plain or in its groups."""
    while True:
        number = "1" + rng.choice("356789") + draw(rng, digits, 9)
        if phonenumbers.is_valid_number(phonenumbers.parse(number, "CN")):
            groups = (number[:3], number[3:7], number[7:])
            return rng.choice(("", "", "-", " ")).join(groups)


def ssn(rng: Random) -> str:
    """Return a number that the Social Security Administration could have issued."""
    area = rng.choice([n for n in range(1, 900) if n != 666])
    return f"{area:03d}-{rng.randint(1, 99):02d}-{rng.randint(1, 9999):04d}"


def ipv4(rng: Random) -> str:
    """Return a public address of a host."""
    while True:
        host = ipaddress.IPv4Address(rng.getrandbits(32))
        if host.is_global and not host.is_multicast:
            return str(host)


def ipv6(rng: Random) -> str:
    """Return a public address of a host, as providers give them."""
    prefix = rng.choice((0x2A01_04F8, 0x2600_1F18, 0x2408_8207, 0x2001_0638))
    low = rng.choice((rng.getrandbits(64), rng.getrandbits(12)))
    return str(ipaddress.IPv6Address(prefix << 96 | rng.getrandbits(32) << 64 | low))


_VENDORS: dict[str, Draw] = {
    "OpenAI": lambda rng: f"sk-{draw(rng, _BASE62, 48)}",
    "OpenAI project": lambda rng: f"sk-proj-{draw(rng, _URL, 64)}{draw(rng, _BASE62, 8)}",
    "Anthropic": lambda rng: f"sk-ant-api03-{draw(rng, _URL, 92)}A",
    "OpenRouter": lambda rng: f"sk-or-v1-{draw(rng, _HEX, 64)}",
    "DeepSeek": lambda rng: f"sk-{draw(rng, _HEX, 32)}",
    "AWS": lambda rng: f"AKIA{draw(rng, _BASE32, 16)}",
    "Google": lambda rng: f"AIza{draw(rng, _URL, 34)}{draw(rng, _BASE62, 1)}",
    "GitHub": lambda rng: f"ghp_{draw(rng, _BASE62, 36)}",
    "GitHub fine-grained": lambda rng: (
        f"github_pat_{draw(rng, _BASE62, 22)}_{draw(rng, _BASE62, 59)}"
    ),
    "GitLab": lambda rng: f"glpat-{draw(rng, _URL, 19)}{draw(rng, _BASE62, 1)}",
    "Slack": lambda rng: (
        f"xoxb-{draw(rng, digits, 12)}-{draw(rng, digits, 13)}-{draw(rng, _BASE62, 24)}"
    ),
    "Stripe": lambda rng: f"sk_live_{draw(rng, _BASE62, 24)}",
    "Hugging Face": lambda rng: f"hf_{draw(rng, ascii_letters, 34)}",
    "npm": lambda rng: f"npm_{draw(rng, _BASE62, 36)}",
    "Alibaba": lambda rng: f"LTAI{draw(rng, _BASE62, 20)}",
}


def vendor_key(rng: Random) -> str:
    """Return a key as one of the vendors writes them."""
    return _VENDORS[rng.choice(list(_VENDORS))](rng)


def assigned_key(rng: Random) -> str:
    """Return a random string assigned to a secret's name."""
    name = rng.choice(("api_key", "SECRET_KEY", "access_token", "password", "clientSecret"))
    value = rng.choice((draw(rng, _BASE62, 24), draw(rng, _HEX, 32), draw(rng, _BASE62, 40)))
    return rng.choice((f'{name} = "{value}"', f'"{name}": "{value}"', f"{name}={value}"))


def _part(document: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=").decode()


def token(rng: Random) -> str:
    """Return a JSON Web Token of a stranger."""
    claims = {"sub": draw(rng, digits, 9), "name": rng.choice(_FAMILY), "exp": rng.getrandbits(31)}
    header = {"alg": rng.choice(("HS256", "RS256", "ES256")), "typ": "JWT"}
    return f"{_part(header)}.{_part(claims)}.{draw(rng, _URL, 42)}{draw(rng, _BASE62, 1)}"


def private_key(rng: Random) -> str:
    """Return a PEM block that holds random bytes."""
    name = rng.choice(("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "))
    body = base64.encodebytes(rng.randbytes(rng.choice((121, 500, 1200)))).decode()
    return f"-----BEGIN {name}PRIVATE KEY-----\n{body}-----END {name}PRIVATE KEY-----"


def chinese_id(rng: Random) -> str:
    """Return an identity-card number: region, date of birth, serial and check digit."""
    while True:
        born = f"{rng.randint(1950, 2009)}{rng.randint(1, 12):02d}{rng.randint(1, 28):02d}"
        body = rng.choice(_REGIONS) + born + draw(rng, digits, 3)
        number = body + mod_11_2.calc_check_digit(body)
        if ric.is_valid(number):  # the region existed then
            return number


# By kind of entity: how a value is drawn, and sentences it stands in.
_SAID_EN = (
    "The customer left {} as the way to get back to us.",
    "According to the record, it is {}, and nothing else was noted.",
    "{} was used for the last three orders.",
    'It says {{"customer": 4711, "value": "{}", "ok": true}} in the log.',
)
_SAID_ZH = ("记录显示为{}。其他信息没有登记。", "客户留下的是 {} 。", "最近三个订单都使用{}。")
_CALLED_EN = ("Their phone number is {}.", "You can reach her at {} after six.", "Tel: {}")
_CALLED_ZH = ("他的手机号是{}。", "请联系 {} 。", "电话:{}")

KINDS: dict[str, tuple[Draw, tuple[str, ...], tuple[str, ...]]] = {
    "EMAIL_ADDRESS": (email, _SAID_EN, _SAID_ZH),
    "CREDIT_CARD": (card, _SAID_EN, _SAID_ZH),
    "IBAN_CODE": (iban, _SAID_EN, _SAID_ZH),
    "PHONE_NUMBER": (phone, (*_SAID_EN, *_CALLED_EN), (*_SAID_ZH, *_CALLED_ZH)),
    "PHONE_NUMBER of China": (chinese_mobile, _CALLED_EN, _CALLED_ZH),
    "US_SSN": (ssn, _SAID_EN, _SAID_ZH),
    "IP_ADDRESS v4": (ipv4, _SAID_EN, _SAID_ZH),
    "IP_ADDRESS v6": (ipv6, _SAID_EN, _SAID_ZH),
    "API_KEY of a vendor": (vendor_key, _SAID_EN, _SAID_ZH),
    "API_KEY assigned": (assigned_key, ("Use {} there.", "Found: {}"), ("请使用 {} 。",)),
    "JWT": (token, _SAID_EN, _SAID_ZH),
    "PRIVATE_KEY": (private_key, ("Here it is:\n{}\n",), ("如下:\n{}\n",)),
    "CN_ID_CARD": (chinese_id, _SAID_EN, (*_SAID_ZH, "身份证号码{}")),
}


def sentences(rng: Random, kind: str, count: int) -> list[tuple[str, int, int]]:
    """Return sentences, half of them Chinese, with the place of the value in each."""
    make, english, chinese = KINDS[kind]
    found = []
    for number in range(count):
        value = make(rng)
        before, after = (
            rng.choice((english, chinese)[number % 2])
            .replace("{{", "{")
            .replace("}}", "}")
            .split("{}", 1)
        )
        found.append((f"{before}{value}{after}", len(before), len(before) + len(value)))
    return found
