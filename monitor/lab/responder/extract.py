"""Rules that pick a field out of a text: dates, amounts, addresses, numbers, names, places."""

# ruff: noqa: E501, RUF001 (a table reads best one row a line; Chinese signs are meant)
from __future__ import annotations

import re

from monitor.lab.responder.asking import Ask, Span
from monitor.lab.responder.draft import Piece, copied, known

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    r"Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DATE = (
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?\b"
    rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b"
    r"|\d{4}年\d{1,2}月\d{1,2}日|\d{1,2}月\d{1,2}日"
)
_AMOUNT = (
    r"(?:[$€£¥]|(?:USD|EUR|GBP|CHF|CNY|RMB)\s?)\s?\d[\d,]*(?:\.\d+)?"
    r"|\b\d[\d,]*(?:\.\d+)?\s?(?:dollars?|euros?|pounds?|yuan|USD|EUR|GBP|CHF|CNY|francs?|yen)\b"
    r"|\d[\d,]*(?:\.\d+)?\s?元"
)
_CAPITALS = r"[A-Z][a-zà-ÿ]+(?:[-' ](?:[A-Z][a-zà-ÿ]+|de|van|von))*"
_NOT_NAMES = (
    rf"(?!(?:The|Please|Text|Order|Note|Dear|What|Which|Who|Our|Your|This|That|From|Invoice|"
    rf"Then|Here|Mr|On|In|It|{_MONTH}|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b)"
)
_FULL_NAME = rf"\b(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?{_NOT_NAMES}[A-Z][a-zà-ÿ]+(?: [A-Z]\.)? [A-Z][a-zà-ÿ]+(?:-[A-Z][a-z]+)?\b"
_PLACE = rf"\b(?:in|from|to|at|near|city of|lives in|based in|ship(?:ped)? to)\s+({_NOT_NAMES}{_CAPITALS})"
_ID = r"(?:[#№]\s?)?([A-Z]{{1,5}}[-_ ]?\d[\w-]*|\d{{3,}}[\w-]*|[A-Z0-9]+-[A-Z0-9-]+)"


def _id_after(words: str) -> str:
    number = r"(?:\s*(?:number|no\.?|nr\.?|id|code))?\s*(?:is|was|:|=|：|是|为)?\s*"
    return rf"\b(?:{words}){number}" + _ID.format()


# What a field is called, and what it looks like; the first group, if any, is the value.
FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"e-?mail|mail address|邮箱|电子邮件", (r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",)),
    (r"phone|telephone|mobile|电话|手机", (r"\+?\d[\d ()-]{6,}\d",)),
    (r"\burl\b|\bwebsite|\blink\b|网址", (r"https?://[^\s,]+", r"\bwww\.[^\s,]+")),
    (r"\bdates?\b|\bwhen\b|\bday\b|日期|什么时候|哪天|何时", (_DATE,)),
    (r"\btime\b|\bwhat hour|时间|几点", (r"\b\d{1,2}:\d{2}(?:\s?[ap]\.?m\.?)?", r"\b\d{1,2}\s?[ap]\.?m\b")),
    (r"\bamounts?\b|\bprice\b|\btotal\b|\bcosts?\b|\bsum\b|\bpaid\b|how much|金额|价格|多少钱|总价", (_AMOUNT,)),
    (r"\border (?:number|no\b|id|code|ref)|订单", (_id_after("order|订单(?:号|编号)?"),)),
    (r"\binvoice (?:number|no\b|id|code|ref)|发票", (_id_after("invoice|发票(?:号|编号)?"),)),
    (r"\bticket (?:number|no\b|id)", (_id_after("ticket"),)),
    (r"\bflight\b|航班", (r"\b([A-Z]{2}\s?\d{2,4})\b",)),
    (r"\btracking\b|\bshipment\b|\bparcel number", (_id_after("tracking|shipment|parcel"),)),
    ((r"\b(?:customer|client|sender|buyer|person|author|guest|patient|full)?\s?names?\b|\bwho\b|\bcustomer\b|"
     r"\bperson\b|\bsender\b|姓名|名字|谁|客户"),
     (rf"\b(?:[Nn]ame|[Cc]ustomer|[Cc]lient|[Ss]igned|[Ss]incerely|[Rr]egards|named|called)(?: is|:|,)?\s+({_FULL_NAME})",
      _FULL_NAME, rf"\b(?:named|called|name is|I am)\s+({_NOT_NAMES}[A-Z][a-z]+)",
      r"(?:姓名|名字|客户)(?:是|叫|：|:)?\s*([\u4e00-\u9fff]{2,4}?)(?=[，。,\s]|住|于|在|的)",
      rf"\b({_NOT_NAMES}[A-Z][a-z]+)\b(?= (?:lives|works|paid|bought|ordered|is|was|has|sent))")),
    (r"\bcit(?:y|ies)\b|\bwhere\b|\blocation\b|\bplace\b|\btown\b|\bdestination\b|城市|哪里|地点",
     (r"\b[Cc]ity(?: is|:)\s*(" + _CAPITALS + ")", _PLACE, r"(?:住在|位于|来自|在)([\u4e00-\u9fff]{2,4}?)(?=[，。,的]|工作|生活|市)")),
    (r"\bage\b|how old|年龄|多大", (r"\b(\d{1,3})[- ]years?[- ]old\b", r"\baged? (\d{1,3})\b", r"(\d{1,3})岁")),
    (r"\bquantity\b|数量", (r"\b(\d+)\s+(?!%|Jan|Feb)[a-z]{3,}",)),
    (r"\broom\b|房间", (r"\broom (\d+\w?|[A-Z]\d*)\b",)),
    (r"\bcolou?r\b|颜色", (r"\b(red|blue|green|yellow|black|white|brown|grey|gray|orange|purple|pink)\b",)),
    (r"\bcompany\b|\bfirm\b|公司", (r"\b((?:[A-Z][\w&]+ )+(?:Ltd|Inc|GmbH|AG|Corp|LLC|SA|Company))\b",)),
)  # fmt: skip


def field(ask: Ask) -> list[Piece] | None:
    """Answer a clause that asks for one or more fields of a text in the turn."""
    wanted = [
        (found.start(), patterns)
        for cue, patterns in FIELDS
        if (found := re.search(cue, ask.text, re.IGNORECASE))
    ]
    pieces: list[Piece] = []
    for _, patterns in sorted(wanted, key=lambda pair: pair[0]):
        value = find(ask, patterns)
        if value and value not in [(p.text, p.at) for p in pieces]:
            if pieces:
                pieces.append(known("\n", ask.clause.start))
            pieces.append(copied(*value))
    return pieces or None


def find(ask: Ask, patterns: tuple[str, ...]) -> tuple[str, int] | None:
    """Return the first match of the first pattern that matches, outside the clause if possible."""
    rest = Span(start=ask.clause.end, end=ask.turn.end)
    colon = re.search(r"[:：]\s*\S", ask.text)
    own = Span(start=ask.clause.start + (colon.start() if colon else 0), end=ask.clause.end)
    spans = [ask.before, rest, *([own] if colon else []), *ask.scopes[1:]]
    for span in spans:
        for pattern in patterns:
            found = re.compile(pattern).search(ask.reading.text, span.start, span.end)
            if found:
                group = 1 if found.re.groups and found.group(1) else 0
                return found.group(group).strip(), found.start(group)
    return None
