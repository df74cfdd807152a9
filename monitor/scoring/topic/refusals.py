"""Whether an answer declines to answer: a short list of phrases near its beginning.

Refusals are told before any likeness is measured: a refusal is far from every right answer, so
that it would look off topic, and it is another fault.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import product

# A model that declines does so at once.
LOOKED_AT_CHARACTERS = 200
# A golden prompt is short; what stands in it is looked for in no more than this.
GIVEN_CHARACTERS = 20_000

_ENGLISH_CANNOT = (
    *("can't", "cannot", "can not", "won't", "am unable to", "'m unable to"),
    *("am not able to", "'m not able to", "'m not allowed to", "am not allowed to"),
)
_ENGLISH_DO = (
    *("help", "assist", "answer", "provide", "comply", "fulfill", "fulfil", "do that"),
    *("discuss", "respond", "share", "complete", "engage", "process", "continue"),
)
_ENGLISH = tuple(
    f"i{'' if cannot.startswith(chr(39)) else ' '}{cannot} {do}"
    for cannot, do in product(_ENGLISH_CANNOT, _ENGLISH_DO)
)
PHRASES: tuple[str, ...] = (
    *_ENGLISH,
    *("i must decline", "i have to decline", "i will have to decline", "unable to assist with"),
    *(
        "无法回答",
        "不能回答",
        "无法提供",
        "不能提供",
        "无法协助",
        "无法帮助",
        "不能帮助",
        "拒绝回答",
    ),
    *("無法回答", "無法提供", "無法協助", "不便回答"),
    *("kann ich nicht helfen", "kann dabei nicht helfen", "kann ihnen nicht helfen"),
    *("kann ich nicht beantworten", "kann diese frage nicht beantworten"),
    *("ne peux pas vous aider", "ne peux pas t'aider", "ne peux pas répondre"),
    *("ne suis pas en mesure de répondre", "ne suis pas en mesure de vous aider"),
    *("no puedo ayudar", "no puedo responder", "no puedo proporcionar", "no puedo cumplir con"),
    *("não posso ajudar", "não posso responder", "não posso fornecer"),
    *("non posso aiutar", "non posso rispondere", "non posso fornire"),
    *("не могу помочь", "не могу ответить", "не могу предоставить"),
    *("お手伝いできません", "お答えできません", "回答できません", "提供できません"),
    *("도와드릴 수 없", "답변할 수 없", "답변드릴 수 없", "제공할 수 없"),
    *("لا أستطيع مساعد", "لا يمكنني مساعد", "لا يمكنني الإجابة"),
    *("tôi không thể giúp", "tôi không thể trả lời", "tôi không thể cung cấp"),
)

_SPACE = re.compile(r"\s+")
_QUOTES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u0060\u00b4"), "'")


def declines(answer: str, given: str = "") -> bool:
    """Tell whether an answer declines within its first 200 characters.

    ``given`` is what the model had to read, and the right answers: a phrase that stands there may
    well be repeated. False alarms: an answer that declines one thing and gives another counts as
    declining. The bench of checks took none of 2,227 answers, pieces of documentation and of code
    for a refusal.
    """
    said = _plain(answer.strip()[:LOOKED_AT_CHARACTERS])
    found = [phrase for phrase in _PLAIN if phrase in said]
    if not found:
        return False
    known = _plain(given[:GIVEN_CHARACTERS])
    return any(phrase not in known for phrase in found)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return _SPACE.sub(" ", text)


_PLAIN = tuple(_plain(phrase) for phrase in PHRASES)
