"""Keys, tokens and private keys: a vendor's shape, or a random string assigned to a name."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections import Counter

from monitor.scoring.pii.folding import is_made_up
from monitor.scoring.pii.found import Found
from monitor.scoring.pii.published import SAMPLE_CLAIMS, SAMPLE_TOKENS

# By the vendors' documentation: a prefix, and the whole key with it.
_SHAPES: tuple[tuple[str, str], ...] = (
    ("sk-", r"sk-(?:[a-z]{2,12}[-_]){0,2}[A-Za-z0-9_-]{20,256}"),  # OpenAI, Anthropic and alike
    ("sk_live_", r"sk_live_[A-Za-z0-9]{16,128}"),  # Stripe
    ("rk_live_", r"rk_live_[A-Za-z0-9]{16,128}"),
    ("sk_test_", r"sk_test_[A-Za-z0-9]{16,128}"),
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{24,128}"),
    ("AKIA", r"AKIA[A-Z2-7]{16}"),  # Amazon: base 32
    ("ASIA", r"ASIA[A-Z2-7]{16}"),
    ("AIza", r"AIza[A-Za-z0-9_-]{35}"),  # Google
    ("GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    ("ya29.", r"ya29\.[A-Za-z0-9_-]{30,512}"),
    ("ghp_", r"ghp_[A-Za-z0-9]{36,255}"),  # GitHub
    ("gho_", r"gho_[A-Za-z0-9]{36,255}"),
    ("ghu_", r"ghu_[A-Za-z0-9]{36,255}"),
    ("ghs_", r"ghs_[A-Za-z0-9]{36,255}"),
    ("ghr_", r"ghr_[A-Za-z0-9]{36,255}"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{50,255}"),
    ("glpat-", r"glpat-[A-Za-z0-9_-]{20,255}"),  # GitLab
    ("xox", r"xox[abeoprs]-[A-Za-z0-9-]{20,255}"),  # Slack
    ("xapp-", r"xapp-[A-Za-z0-9-]{20,255}"),
    (
        "hooks.slack.com/services/T",
        r"hooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Za-z0-9/]{20,64}",
    ),
    ("hf_", r"hf_[A-Za-z0-9]{30,64}"),  # Hugging Face
    ("npm_", r"npm_[A-Za-z0-9]{36}"),
    ("pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,512}"),
    ("dop_v1_", r"dop_v1_[a-f0-9]{64}"),  # DigitalOcean
    ("SG.", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),  # SendGrid
    ("gsk_", r"gsk_[A-Za-z0-9]{40,64}"),  # Groq
    ("xai-", r"xai-[A-Za-z0-9]{60,128}"),
    ("r8_", r"r8_[A-Za-z0-9]{37}"),  # Replicate
    ("pplx-", r"pplx-[A-Za-z0-9]{40,64}"),
    ("LTAI", r"LTAI[A-Za-z0-9]{16,24}"),  # Alibaba Cloud
    ("AKID", r"AKID[A-Za-z0-9]{32}"),  # Tencent Cloud
    ("shpat_", r"shpat_[a-fA-F0-9]{32}"),
    ("lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    ("ntn_", r"ntn_[A-Za-z0-9]{40,64}"),
    ("sntrys_", r"sntrys_[A-Za-z0-9+/=_-]{40,255}"),
    ("dp.pt.", r"dp\.pt\.[A-Za-z0-9]{40,64}"),
    ("AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
)
VENDORS = tuple((prefix, rf"(?<![A-Za-z0-9_-]){shape}(?![A-Za-z0-9])") for prefix, shape in _SHAPES)

# What a secret is called where it is assigned: `api_key = "…"`, `"token": "…"`, `密码: …`; or it
# stands where secrets do: `Authorization: Bearer …`, `scheme://user:…@host`.
ASSIGNMENT_WORDS = (
    *("key", "token", "secret", "passw", "pwd", "credential", "密码", "密钥", "令牌"),
    *("bearer", "://"),
)
_VALUE = r"[A-Za-z0-9+/_.~-]{16,256}={0,2}"
_NAME = (
    r"(?i:api[_-]?key|secret|token|passw(?:or)?d|passphrase|\bpwd|access[_-]?key|private[_-]?key"
    r"|auth[_-]?key|credentials?|密码|密钥|令牌)"
    r"(?i:[_-]?(?:key|id|value|access|token))?[\"'`]?[ \t]{0,4}(?::=|[:=]|=>|是|is)[ \t]{0,4}"
    r"[\"'`]?"
)
_BEARER = r"(?i:\bauthorization[\"'`]?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?bearer)[ \t]{1,4}"
_IN_URL = r"://[^\s/?#@:]{0,64}:(?=[^\s/?#@]{1,256}@)"
ASSIGNMENT = f"(?:{_NAME}|{_BEARER}|{_IN_URL}){_VALUE}"
_ASSIGNED = re.compile(f"{_VALUE}$")
JWT = r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{2,8192}\.[A-Za-z0-9_-]{16,1024}"
ANY_KEY = re.compile("|".join((JWT, *(shape for _, shape in VENDORS))))
"""A vendor's key or a token, wherever in a name it stands."""
PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[A-Za-z0-9+/=:,. \\\r\n]|-(?!-)){64,8192}(?:-----END [A-Z0-9 ]{3,40}-----)?"
)

# Of random keys of base 62 or hexadecimal nearly all have this many bits a character; short words
# repeated have less.
_LEAST_BITS = 3.0
# What is put together from words has pieces of one case, or of words in a row, with few digits; of
# 24 random characters of base 62 fewer than 1 in 100 look so.
_PIECES = re.compile(r"[_.~/+=-]+")
_RUNS = re.compile(r"[A-Za-z]+|[0-9]+")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MOST_RUNS, _SHORT_WORD, _LONG_WORD, _CAMEL_LENGTH = 3, 5, 15, 3.9
# Base 32 knows no lower case and few digits: its prefix and length must do.
_UPPER_CASE = ("AKIA", "ASIA", "AGE-SECRET-KEY-1")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PLACEHOLDER = re.compile(
    r"example|your|xxxx|placeholder|dummy|sample|fake|changeme|change[_-]me|redacted|insert|replace"
    r"|goes[_-]?here|abcdef|012345|123456|987654|qwerty|deadbeef|test[_-]?(?:key|token)",
    re.IGNORECASE,
)
_PEM_BODY, _PEM_BITS = 64, 4.0


def vendor_key(found: Found) -> bool:
    """Say whether what follows a vendor's prefix looks drawn at random."""
    value = found.value
    prefix = max((p for p, _ in VENDORS if value.startswith(p)), key=len, default="")
    body = value[len(prefix) :]
    return _is_random(body) and (prefix in _UPPER_CASE or not _is_named(body))


def assigned_key(found: Found) -> bool:
    """Say whether what is assigned to a secret's name looks drawn at random.

    It holds letters and digits and is no name, path, date or UUID (an identifier, not a secret).
    """
    value = assigned(found.value)
    if value in SAMPLE_TOKENS:
        return False
    mixed = re.search(r"\d", value) and re.search(r"[A-Za-z]", value)
    if not mixed or _UUID.search(value):
        return False
    return _is_random(value) and not _is_named(value)


def assigned(text: str) -> str:
    """Return the value of an assignment, without its name and quotes."""
    match = _ASSIGNED.search(text)
    return match.group() if match else ""


def _is_named(value: str) -> bool:
    """True for what is put together from words and numbers, not drawn."""
    return all(_is_word(piece) for piece in _PIECES.split(value) if piece)


def _is_word(piece: str) -> bool:
    runs = _RUNS.findall(piece)
    letters = [run for run in runs if run.isalpha()]
    return len(runs) <= _MOST_RUNS and all(map(_is_wordy, letters))


def _is_wordy(letters: str) -> bool:
    if len(letters) <= _SHORT_WORD:
        return True
    words = _CAMEL.findall(letters)
    if len(words) == 1:
        return len(letters) <= _LONG_WORD
    return len(letters) / max(len(words), 1) >= _CAMEL_LENGTH


def _is_random(body: str) -> bool:
    return not _PLACEHOLDER.search(body) and not is_made_up(body) and entropy(body) >= _LEAST_BITS


def entropy(text: str) -> float:
    """Return the Shannon entropy of a text's own characters, in bits a character."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts) if text else 0.0


def token(found: Found) -> bool:
    """Say whether it is a JSON Web Token (RFC 7519): its header decodes and names an algorithm."""
    header, claims, _ = found.value.split(".")
    decoded = _json_of(header)
    if not isinstance(decoded, dict) or not isinstance(decoded.get("alg"), str):
        return False
    said = json.dumps(_json_of(claims))
    return not any(sample in said for sample in SAMPLE_CLAIMS)


def _json_of(part: str) -> object:
    try:
        return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, UnicodeDecodeError, ValueError, RecursionError):
        return None


def private_key(found: Found) -> bool:
    """Say whether a PEM block (RFC 7468) holds a key: base 64 that looks drawn at random."""
    body = re.sub(r"\\[nr]|\s", "", found.value.partition("KEY")[2].partition("-----")[2])
    body = body.partition("-----")[0]
    return len(body) >= _PEM_BODY and entropy(body) >= _PEM_BITS
