"""What is known of each language: numbering plans, what a telephone is called, and national ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.errors import InstrumentError
from monitor.scoring.pii.national import NATIONAL_IDS, NationalId


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """``regions`` are those whose national numbers are known; ``telephone`` is a pattern."""

    regions: tuple[str, ...]
    telephone: str
    ids: tuple[NationalId, ...] = ()


_PLANS: dict[str, tuple[tuple[str, ...], str]] = {
    "en": (
        ("US", "GB", "IN", "AU"),
        (
            r"\btel\b|phone|\bmobile|\bcell\b|\bcall(?:ed|ing)?\b|\bdial|\btext me|\bsms\b"
            r"|whatsapp|\bcontact|\breach(?:ed)?\b|\bfax\b"
        ),
    ),
    "zh": (
        ("CN", "TW", "HK"),
        "手机|手機|电话|電話|致电|致電|拨打|撥打|联系|聯繫|号码|號碼|微信|热线|熱線|短信|来电",
    ),
    "de": (("DE", "AT", "CH"), r"\btel\b|telefon|handy|\bmobil|\banruf|\brufnummer"),
    "fr": (("FR", "BE", "CH"), r"\bt[ée]l|portable|\bappel|joindre"),
    "es": (("ES", "MX", "AR"), r"\btel\b|tel[ée]fono|m[óo]vil|celular|\bllam"),
    "it": (("IT",), r"\btel\b|telefono|cellulare|chiam"),
    "pt": (("BR", "PT"), r"\btel\b|telefone|telem[óo]vel|celular|\blig(?:ar|ue)"),
    "nl": (("NL", "BE"), r"\btel\b|telefoon|mobiel|\bbel\b|bellen"),
    "pl": (("PL",), r"\btel\b|telefon|kom[óo]rk|zadzwo"),
    "sv": (("SE",), r"\btel\b|telefon|mobil|\bring\b"),
    "fi": (("FI",), r"\bpuh\b|puhelin|soita"),
    "da": (("DK",), r"\btlf\b|telefon|mobil|\bring\b"),
    "nb": (("NO",), r"\btlf\b|telefon|mobil|\bring\b"),
    "cs": (("CZ",), r"\btel\b|telefon|mobil|volejte"),
    "ro": (("RO",), r"\btel\b|telefon|mobil|suna"),
    "tr": (("TR",), r"\btel\b|telefon|\bcep\b|\bara"),
    "ko": (("KR",), "전화|휴대|연락처|번호"),
    "ja": (("JP",), "電話|携帯|連絡先|番号"),
    "th": (("TH",), "โทร|มือถือ|เบอร์"),
    "ru": (("RU",), r"\bтел\b|телефон|мобильн|звон"),  # noqa: RUF001 - Cyrillic is meant
}

LANGUAGES: dict[str, Language] = {
    code: Language(regions=regions, telephone=telephone, ids=NATIONAL_IDS[code])
    for code, (regions, telephone) in _PLANS.items()
}


def known(languages: Sequence[str]) -> tuple[Language, ...]:
    """Return what is known of the languages. Raises ``InstrumentError`` for an unknown one.

    A language that is asked for and not looked for would be a silent gap.
    """
    unknown = [code for code in languages if code not in LANGUAGES]
    if unknown or not languages:
        problem = f"no recognisers for {', '.join(unknown)}" if unknown else "no language given"
        raise InstrumentError(f"{problem}; there are {', '.join(LANGUAGES)}")
    return tuple(LANGUAGES[code] for code in languages)
