"""What nobody asked for in an answer: errors, thoughts, adverts, escapes, the prompt again."""

from __future__ import annotations

import re
from collections.abc import Iterable

# As engines, gateways and proxies word them; whoever is asked about errors may name them too.
SERVER_ERROR = re.compile(
    r"Traceback \(most recent call last\):"
    r"|\b(?:CUDA|HIP) (?:error|out of memory)\b|\bCUDNN_STATUS_|\bNCCL (?:error|WARN)\b"
    r"|\b(?:Runtime|Value|Key|Type|Assertion|Attribute|Connection|Timeout|OutOfMemory|EngineDead)"
    r"Error: "
    r"|\b50[0234][: -]{1,3}(?:Internal Server Error|Bad Gateway|Service Unavailable"
    r"|Gateway Time-?out)\b"
    r"|\b(?:status|error) (?:code )?:?\"?\s{0,2}(?:429|50[0234])\b"
    r"|\bInternal Server Error\b|\bupstream (?:connect error|request (?:failed|timeout)|timed out)"
    r"|\bconnection (?:reset by peer|refused)\b|\bstream (?:interrupted|disconnected) "
    r"|^\s*\[?(?:error|fatal)\]?: |\[error[:\]]"
    r"|\brate limit (?:exceeded|reached)\b|\bserver (?:is )?(?:busy|overloaded)\b"
    r"|服务器繁忙|请稍后再试",
    re.IGNORECASE,
)
# Words of the serving stack itself, which no question of ours has for an answer: of GPUs and their
# libraries, and the first line of a proxy's page.
SERVER_FAILURE = re.compile(
    r"\bCUDA (?:error|out of memory)\b|\bHIP out of memory\b|\bCU(?:DNN|BLAS)_STATUS_[A-Z]"
    r"|\bNCCL error\b|\bEngineDeadError\b"
    r"|\b(?:500 Internal Server Error|502 Bad Gateway|503 Service (?:Temporarily )?Unavailable"
    r"|504 Gateway Time-?out)\b"
    r"|\bupstream connect error or disconnect/reset before headers\b",
    re.IGNORECASE,
)
ABOUT_ERRORS = re.compile(
    r"\b(?:errors?|exceptions?|traceback|logs?|debug|bug|HTTP|status|server|code that|function"
    r"|script|program|python|CUDA|GPUs?|NCCL|gateway|proxy|50[0-9])\b|错误|异常|服务器|网关",
    re.IGNORECASE,
)
# How thinking begins that its parser let through: of the user in the third person, or of what is to
# be done. Models that answer speak to the user.
_FILLER = (
    r"(?:(?:okay|ok|alright|hmm+|so|well|now|right|first(?:ly)?|got it)\b[,.!\s\u2026-]{1,4}){0,3}"
)
_FILLER_ZH = r"(?:(?:好的|好|嗯|首先|那么)[\uff0c,。!\s]{1,3}){0,2}"
_TO_DO = (
    r"(?:answer|repeat|respond|reply|output|produce|provide|find|give|compute|calculate|solve"
    r"|figure|determine|recall|include|write|parse|call|use|check)"
)
THOUGHTS = re.compile(
    rf"\s*(?:analysis|thought|commentary)?:?\s{{0,2}}{_FILLER}"
    r"(?:the user(?:'s)? (?:is|has|just|wants?|asks?|asked|needs?|says?|said|gave|provided|request"
    r"|message|question|query|prompt)\b"
    r"|(?:this|the) (?:question|request|prompt|query) (?:asks|is asking|wants)\b"
    r"|let(?:'s| me) (?:think|see|break|figure|parse|work|start|re-?read|analy[sz]e|recall)\b"
    rf"|(?:I|we) (?:need|have|should|must)(?: to)? {_TO_DO}\b"
    rf"|{_FILLER_ZH}(?:用户(?:想|要|让|问|需|希望|给|提)|我(?:需要|应该|得)(?:先|重复|回答|计算|给出|输出)))",
    re.IGNORECASE,
)
# Who asks about users or about thinking gets such words.
ABOUT_USERS = re.compile(r"\bthe user\b|\bstep by step\b|\bthink(?:ing)?\b|用户", re.IGNORECASE)
_HARMONY = re.compile(r"assistantfinal(?=[A-Z0-9\s])")
# A link, or how adverts are worded.
ADVERT = re.compile(
    r"\bhttps?://[^\s<>\"')\]]{4,}|\bwww\.[a-z0-9-]+\.[a-z]{2,}|\]\([a-z]+://"
    r"|\bsponsored\b|\badvertisement\b|\b(?:promo|promotion|discount|voucher|coupon) code\b"
    r"|\b\d{1,2} ?% off\b|\blimited[- ]time offer\b|\bpowered by\b"
    r"|\b(?:buy|subscribe|sign up|order|register|upgrade)(?: to (?:pro|plus|premium))?"
    r" (?:now|today)\b|\bupgrade to (?:pro|plus|premium)\b",
    re.IGNORECASE,
)
ABOUT_LINKS = re.compile(
    r"\b(?:links?|URLs?|URIs?|web ?sites?|web ?pages?|home ?page|adverts?|advertisement|slogan)\b"
    r"|网址|链接|网站|广告",
    re.IGNORECASE,
)
# Signs that were escaped for a page of HTML, or for JSON within JSON.
ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]{2,6}|#x[0-9a-f]{2,5});", re.IGNORECASE)
_MARKUP = re.compile(r"</?[a-z][a-z0-9]*(?:\s[^<>]*)?/?>", re.IGNORECASE)
ABOUT_ESCAPES = re.compile(
    r"\b(?:HTML|XML|XHTML|SVG|markup|entit(?:y|ies)|escape[ds]?|escaping|encode[ds]?|web ?page)\b",
    re.IGNORECASE,
)
# A prompt of so many characters came back whole, or so many of it in a row.
LEAST_WHOLE, LEAST_ECHOED = 80, 160
_SPACE = re.compile(r"\s+")


def thoughts(text: str) -> tuple[int, int] | None:
    """Return the place of the beginning of thoughts that stand in an answer, if they do."""
    found = THOUGHTS.match(text) or _HARMONY.search(text)
    return found.span() if found else None


def escaped(text: str) -> tuple[int, int] | None:
    """Return the place of a sign that was escaped for HTML in a text that is none."""
    found = ENTITY.search(text)
    return None if found is None or _MARKUP.search(text) else found.span()


def echoed(text: str, prompts: Iterable[str]) -> str:
    """Return what of the prompts stands in the text again, white space left aside; or nothing.

    It is a prompt as a whole, or a long piece of one. Takes time in proportion to the product of
    the two, divided by ``LEAST_ECHOED``.
    """
    said = _SPACE.sub(" ", text)
    if len(said) < LEAST_WHOLE:
        return ""
    for prompt in prompts:
        asked = _SPACE.sub(" ", prompt).strip()
        if len(asked) >= LEAST_WHOLE and asked in said:
            return asked
        # A piece of two steps holds a window of one step wherever it begins.
        step = LEAST_ECHOED // 2
        for at in range(0, len(asked) - step + 1, step):
            if asked[at : at + step] in said and (piece := _longest(asked, at, step, said)):
                return piece
    return ""


def _longest(asked: str, at: int, size: int, said: str) -> str:
    """Return the piece around a window that stands in ``said`` as well, if it is long enough."""
    start, end = at, at + size
    while start and asked[start - 1 : end] in said and end - start < LEAST_ECHOED:
        start -= 1
    while end < len(asked) and asked[start : end + 1] in said and end - start < LEAST_ECHOED:
        end += 1
    return asked[start:end] if end - start >= LEAST_ECHOED else ""
