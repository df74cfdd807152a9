"""What Presidio is given to look for: its own recognisers where it has them, ours where not.

They propose; ``vouching`` disposes. This module loads Presidio: only ``instrument`` imports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import regex

from monitor.scoring.pii.found import Found
from monitor.scoring.pii.gate import MOST_PLACES
from monitor.scoring.pii.languages import Language
from monitor.scoring.pii.presidio import (
    ContextAwareEnhancer,
    CreditCardRecognizer,
    EmailRecognizer,
    EntityRecognizer,
    IbanRecognizer,
    IpRecognizer,
    Pattern,
    PatternRecognizer,
    PhoneRecognizer,
    RecognizerResult,
    UsSsnRecognizer,
)
from monitor.scoring.pii.secrets import ASSIGNMENT, JWT, PRIVATE_KEY, VENDORS
from monitor.scoring.pii.telephone import CANDIDATE, Telephone

# Presidio looks for one language at a time; ours are all looked for in one pass, under this name.
ONE_PASS = "en"  # noqa: S105 - a language
ASSIGNED_KEY, VENDOR_KEY = "ASSIGNED_KEY", "API_KEY"
_SCORE = 0.5
_CASE_MATTERS = regex.DOTALL | regex.MULTILINE
# Presidio's patterns are those of `regex`, whose flags have values of their own.
# Chinese is written without spaces: a letter of it is no part of a word that digits belong to.
_NO_SPACES = _CASE_MATTERS | regex.IGNORECASE | regex.ASCII
# Presidio's pattern takes all that RFC 5322 allows: of `to=a@b.org` the parameter's name too.
_EMAIL = (
    r"(?<![A-Za-z0-9._+-])[A-Za-z0-9_][A-Za-z0-9._+'-]{0,63}@(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}"
    r"[A-Za-z][A-Za-z0-9-]{0,22}[A-Za-z0-9](?![A-Za-z0-9-])"
)
_GROUPS_OF_FOUR = r"(?<![0-9])[1-9]\d{3}(?:[ -]?\d{4}){3}(?:[ -]?\d{1,3})?(?![0-9])"
_AMEX_GROUPS = r"(?<![0-9])3[0-9]\d{2}[ -]?\d{6}[ -]?\d{4,5}(?![0-9])"


class AsFound(ContextAwareEnhancer):
    """Leaves scores as they are: words close by are looked at when a candidate is vouched for."""

    def __init__(self) -> None:
        super().__init__(0.0, 0.0, 0, 0)

    def enhance_using_context(
        self,
        text: str,
        raw_results: list[RecognizerResult],
        *_: Any,
        **__: Any,
    ) -> list[RecognizerResult]:
        """Return the results unchanged."""
        return raw_results


class OfflineEmailRecognizer(EmailRecognizer):
    """Presidio's, without its look-up of the domain, which would fetch the public suffix list."""

    def validate_result(self, pattern_text: str) -> bool | None:
        """Leave it to ``vouching.email``, which uses the packaged list."""
        return None


class NearbyPhoneRecognizer(PhoneRecognizer):
    """Presidio's, shown only what is written like a number: on all else it takes most of the time.

    At most ``MOST_PLACES`` candidates of a text are looked at.
    """

    def __init__(self, phones: Telephone) -> None:
        super().__init__(supported_regions=phones.regions, leniency=1)
        self._phones = phones

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: Any = None
    ) -> list[RecognizerResult]:
        """Return the numbers among the candidates of a text."""
        found = (Found("", text, m.start(), m.end()) for m in CANDIDATE.finditer(text))
        worth = islice(filter(self._phones.is_worth_reading, found), MOST_PLACES)
        return [
            result
            for candidate in worth
            for result in self._within(candidate, entities, nlp_artifacts)
        ]

    def _within(
        self, candidate: Found, entities: list[str], nlp_artifacts: Any
    ) -> Iterator[RecognizerResult]:
        for result in super().analyze(candidate.value, entities, nlp_artifacts):
            result.start += candidate.start
            result.end += candidate.start
            yield result


def recognizers(languages: Sequence[Language], phones: Telephone) -> list[EntityRecognizer]:
    """Return all there are for these languages."""
    emails = OfflineEmailRecognizer(patterns=[Pattern("plain mailbox", _EMAIL, _SCORE)])
    cards = CreditCardRecognizer(
        patterns=[
            *CreditCardRecognizer.PATTERNS,
            Pattern("groups of four", _GROUPS_OF_FOUR, _SCORE),
            Pattern("4-6-5", _AMEX_GROUPS, _SCORE),
        ]
    )
    national = [
        _ours(each.kind, (rf"(?<![A-Za-z0-9]){each.shape}(?![A-Za-z0-9])",))
        for language in languages
        for each in language.ids
    ]
    by_pattern = [emails, cards, IpRecognizer(), UsSsnRecognizer()]
    for recognizer in by_pattern:
        recognizer.global_regex_flags = _NO_SPACES
    return [
        *by_pattern,
        IbanRecognizer(),
        NearbyPhoneRecognizer(phones),
        _ours(VENDOR_KEY, [pattern for _, pattern in VENDORS]),
        _ours(ASSIGNED_KEY, (ASSIGNMENT,)),
        _ours("JWT", (JWT,)),
        _ours("PRIVATE_KEY", (PRIVATE_KEY,)),
        *national,
    ]


def _ours(kind: str, patterns: Sequence[str]) -> PatternRecognizer:
    return PatternRecognizer(
        supported_entity=kind,
        name=kind,
        supported_language=ONE_PASS,
        patterns=[Pattern(kind, pattern, _SCORE) for pattern in patterns],
        global_regex_flags=_CASE_MATTERS,
    )
