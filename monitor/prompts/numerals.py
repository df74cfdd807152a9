"""Numbers in Chinese numerals, with or without digits: 一百二十, 3万5千, 1.2亿, 三点五."""

# ruff: noqa: RUF001 (Chinese signs are meant)
from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from monitor.prompts.number_words import Written

_SIGNS = {sign: number for number, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_SCALES = {"亿": 10**8, "万": 10**4}
_RUN = re.compile(r"[0-9.,'零〇一二三四五六七八九十百千万亿两点]+")
_NUMERAL = re.compile("[零〇一二三四五六七八九十百千万亿两]")
_TOKEN = re.compile(
    r"(?P<figure>[0-9]{1,3}(?:[,'][0-9]{3})+(?:\.[0-9]{1,20})?|[0-9]{1,20}(?:\.[0-9]{1,20})?)"
    r"|(?P<sign>[零〇一二三四五六七八九两])|(?P<unit>[十百千])"
)
_LONGEST = 30
_READ_ONE_BY_ONE = 3  # signs; two are an estimate: 七八个
# 5千克 are five kilograms; 千瓦, 千米, 千卡 and 千字 likewise.
_PREFIXED = re.compile("[克米瓦焦帕赫卡字]")
# 百分之五, 十几, 三十多: a part, or about so many.
_GOES_ON = re.compile("分之|[几多余]")


def in_numerals(text: str) -> Iterator[Written]:
    """Yield each number that normalised text gives in Chinese numerals, read in whole runs.

    一 alone is an article more often than a number, and no number here; other signs alone are
    ``bare``, for they are parts of words (三角形, 四川). Two in a row are an estimate (七八个),
    and none; three and more are read one by one (一九六九). Not understood: fractions and 半.
    """
    for found in _RUN.finditer(text):
        start, run = found.start(), found[0].rstrip(".,'点")
        if run.endswith("千") and _PREFIXED.match(text, start + len(run)):
            run = run[:-1]
        value = _number(run)
        if value is None:
            # "1.二十" is a number of a list and a number.
            behind = max(map(run.rfind, ".,'")) + 1
            start, run = start + behind, run[behind:]
            value = _number(run) if behind else None
        if value is not None and _is_whole(text, start, run):
            sign = -1 if text[max(0, start - 1) : start] == "负" else 1
            yield Written(sign * value, start - (sign < 0), start + len(run), bare=len(run) == 1)


def _is_whole(text: str, start: int, run: str) -> bool:
    """Whether what stands around a run leaves it the number that it is alone."""
    before, after = text[max(0, start - 1) : start], start + len(run)
    if run == "一" or before in {"之", "几"} or _GOES_ON.match(text, after):
        return False
    is_time = "点" in run and text.startswith(("刻", "分"), after)
    return not (is_time or (len(run) == 1 and before == "第"))


def _number(run: str) -> Decimal | None:
    if len(run) > _LONGEST or not _NUMERAL.search(run):
        return None
    if all(sign in _SIGNS for sign in run):
        if len(run) == 1:
            return Decimal(_SIGNS[run])
        read = len(run) >= _READ_ONE_BY_ONE and "两" not in run
        return Decimal("".join(str(_SIGNS[sign]) for sign in run)) if read else None
    whole, point, decimals = run.partition("点")
    if not point:
        return _scaled(whole)
    scale = 1
    while decimals and decimals[-1] in _SCALES:
        scale *= _SCALES[decimals[-1]]
        decimals = decimals[:-1]
    value = _scaled(whole)
    if value is None or not decimals or not all(sign in _SIGNS for sign in decimals):
        return None
    return scale * (value + Decimal("0." + "".join(str(_SIGNS[sign]) for sign in decimals)))


def _scaled(run: str) -> Decimal | None:
    """Return a number of sections of four digits, 亿 and 万 behind them."""
    for name, scale in _SCALES.items():
        if name not in run:
            continue
        left, _, right = run.rpartition(name)
        many = _scaled(left)
        rest = _rest(right, scale) if right else Decimal(0)
        return None if many is None or rest is None or rest >= scale else many * scale + rest
    return _section(run)


def _rest(run: str, scale: int) -> Decimal | None:
    """Return what stands behind 亿 or 万: 三万五 are 35,000, and 三万零五 are 30,005."""
    ones = _scaled(run)
    return ones * scale / 10 if ones is not None and len(run) == 1 else ones


def _section(run: str) -> Decimal | None:
    """Return a number below 10,000, or one figure: 三千零五十, 一百二 (120), 3千5百, 12.5."""
    total, unit, zero = Decimal(0), 10_000, False
    ones: Decimal | None = None
    for token in _tokens(run):
        if (
            token in _UNITS
            and _UNITS[token] < unit
            and (ones is not None or _may_lead(token, total))
        ):
            unit = _UNITS[token]
            total += (1 if ones is None else ones) * unit
            ones, zero = None, False
        elif token in {"零", "〇"} and ones is None and not zero and len(run) > 1:
            zero = True
        elif token and token not in _UNITS and ones is None:
            ones = _figure(token)
        else:
            return None
    return _with_ones(total, unit, ones, zero=zero)


def _may_lead(sign: str, total: Decimal) -> bool:
    return sign == "十" and not total  # 十五 needs no 一


def _with_ones(total: Decimal, unit: int, ones: Decimal | None, *, zero: bool) -> Decimal | None:
    """Add what stands behind the last unit: 一百零二 are 102, and 一百二 are 120."""
    if ones is None:
        return None if zero else total
    if unit == 10_000:  # noqa: PLR2004 - no unit stood before it
        return ones
    told_short = not zero and ones < 10 and unit > 10  # noqa: PLR2004
    ones = ones * unit / 10 if told_short else ones
    return total + ones if ones < unit else None


def _tokens(run: str) -> Iterator[str]:
    """Yield figures, signs and units, and nothing ("") for what is none of them."""
    place = 0
    while place < len(run):
        token = _TOKEN.match(run, place)
        yield token[0] if token else ""
        place = token.end() if token else len(run)


def _figure(token: str) -> Decimal:
    sign = _SIGNS.get(token)
    return Decimal(token.replace(",", "").replace("'", "")) if sign is None else Decimal(sign)
