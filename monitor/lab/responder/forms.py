"""Sentences that say how to answer and ask nothing: "Answer in digits." "只回答字母。"."""

# ruff: noqa: RUF001 (Chinese signs are meant)
from __future__ import annotations

import re

_LEAD = r"\W*(?:(?:please|and|but|then|now)\s+)*"
_HOW = (
    r"(?:the|its|his|her|that|this|a|an|one|two|single|your|digits?|figures|numerals|numbers?|"
    r"words?|english|chinese|french|german|spanish|italian|upper|lower|uppercase|lowercase|"
    r"capitals?|capital|small|yes|true|letters?|full|json|bullets?|short|days?|months?|"
    r"years?|dates?|code)\b"
)
_FORM = re.compile(
    rf"{_LEAD}(?:answer|reply|respond)(?:\s+(?:only|just|simply))?\s+(?:with|in|using|by)\s+"
    rf"(?:(?:only|just|exactly|nothing but)\s+)?{_HOW}[^:：\"“?]*$"
    rf"|{_LEAD}(?:answer|reply|respond)\s+(?:yes or no|true or false|briefly|shortly)\b[^:?]*$"
    rf"|{_LEAD}(?:write|give|state|put|list|show|print|separate|return|output)\s+"
    r"(?:it|them|that|these|(?:only )?(?:the|your) (?:answer|result|number|letter|name|word|value))"
    r"(?=\W*$|\s+(?:only|alone|in|inside|with|without|as|and|between|by|on|separated)\b)"
    r"[^:：\"“?]*$"
    rf"|{_LEAD}(?:do not|don't|no|nothing|use (?:digits|figures|only|the))\b[^:：\"“?]*$"
    rf"|{_LEAD}answer\s+(?:both|all|each|every|the|these|my)\b[^:?]*\b(?:questions?|tasks?)\W*$"
    r"|\W*(?:请)?(?:只|仅|直接)(?:需|要|能|用)*(?:回答|回复|写|给出|输出|说)[^“\"「?？]*$"
    r"|\W*(?:请)?(?:用|以|使用)[^，,“\"「:：?？]{1,12}(?:回答|作答|回复|表示)[^“\"「?？]*$"
    r"|\W*(?:请)?(?:用)?[“\"「]?(?:回答|回复)[“\"「]?(?:是|对|有|真)[”\"」]?(?:或者?|还是|、|，|/)[^?？]{1,6}$"
    r"|\W*(?:请)?(?:写|给|说)(?:出|明)(?:公历的?)?(?:年月日|具体日期|日期)\W*$"
    r"|\W*(?:请)?(?:不要|无需|不用|不必|别|勿)[^“\"「?？]*$"
    r"|\W*(?:请)?(?:依次|分别|先后)?回答(?:以下|下面|下列|这)?[一两二三四五六几\d]*个?问题\W*$",
    re.IGNORECASE,
)
# What may be the very thing to say: "Reply with the word hello", "Reply with the code X".
_LITERAL = re.compile(
    r"\bword (?!only|alone|and)[\w-]+|\b(?:codes?|phrase|password|token|reference)\b|编号|代码|口令"
    r"|\w+(?:-\w+){2,}",
    re.IGNORECASE,
)
_SEPARATORS = (
    (r"\b(?:without|no) spaces\b|不要加?空格", ""),
    (r"\bsemicolons?\b|分号", "; "),
    (r"\bcommas?\b|逗号", ", "),
    (r"顿号", "、"),
    (r"\b(?:hyphens?|dash(?:es)?)\b|连字符", "-"),
    (r"\b(?:one per line|(?:new|separate|own) lines?|line breaks?)\b|每行|换行", "\n"),
    (r"\bspaces?\b|空格", " "),
)


def says_only_how(text: str, *, answered: bool) -> bool:
    """Return whether a clause asks for nothing by itself.

    After a question was answered, "Answer with the code only" is about the form; before, it may
    be the task.
    """
    return bool(_FORM.match(text)) and (answered or not _LITERAL.search(text))


def separator(text: str, default: str) -> str:
    """Return what the members of a list are to be separated by."""
    return next((sign for cue, sign in _SEPARATORS if re.search(cue, text.lower())), default)
