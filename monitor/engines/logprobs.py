"""Log probabilities of generated tokens: any type may be wrong, and there may be far too many."""

from __future__ import annotations

import math

from monitor.engines.faults import Fault, FaultList
from monitor.engines.openai_fields import clean, is_object
from monitor.model import TokenLogprob

MAX_TOKENS = 4_096
MAX_ALTERNATIVES = 20
_MAX_TOKEN_CHARS = 200


def read_logprobs(
    choice: dict[str, object], faults: FaultList, *, room: int = MAX_TOKENS
) -> tuple[TokenLogprob, ...]:
    """Return the tokens that ``choice`` gives with their log probabilities, at most ``room``.

    A token without a finite log probability is left out, with a fault.
    """
    holder = choice.get("logprobs")
    if holder is None:
        return ()
    content = holder.get("content") if is_object(holder) else 0
    if content is None:
        return ()
    if not isinstance(content, list):
        faults.add(Fault.LOGPROBS_MALFORMED)
        return ()
    entries = (_entry(item, faults) for item in content[:room])
    return tuple(entry for entry in entries if entry is not None)


def _entry(item: object, faults: FaultList) -> TokenLogprob | None:
    first = _pair(item, faults)
    if first is None:
        return None
    others = item.get("top_logprobs") if is_object(item) else None
    others = others if isinstance(others, list) else []
    pairs = (_pair(other, faults) for other in others[:MAX_ALTERNATIVES])
    top = tuple(pair for pair in pairs if pair is not None)
    return TokenLogprob(token=first[0], logprob=first[1], top=top)


def _pair(item: object, faults: FaultList) -> tuple[str, float] | None:
    token = item.get("token") if is_object(item) else None
    logprob = _finite(item.get("logprob") if is_object(item) else None)
    if not isinstance(token, str) or logprob is None:
        faults.add(Fault.LOGPROBS_MALFORMED)
        return None
    return clean(token[:_MAX_TOKEN_CHARS], faults), logprob


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None
