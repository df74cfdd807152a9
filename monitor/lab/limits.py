"""The two places where a healthy engine refuses a prompt that is too long."""

from __future__ import annotations

from monitor.lab.jobs import Refusal


def refused_at_the_door(tokens: int, max_new_tokens: int | None, context: int) -> Refusal | None:
    """Return the refusal of the tokenizer's side, which knows the context but not the pool."""
    if tokens >= context:
        return Refusal(
            status=400,
            message=(
                f"The input ({tokens} tokens) is longer than the model's context length "
                f"({context} tokens)."
            ),
        )
    if max_new_tokens is not None and tokens + max_new_tokens > context:
        return Refusal(
            status=400,
            message=(
                f"Requested token count exceeds the model's maximum context length of {context} "
                f"tokens. You requested a total of {tokens + max_new_tokens} tokens: {tokens} "
                f"tokens from the input messages and {max_new_tokens} tokens for the completion. "
                "Please reduce the number of tokens in the input messages or the completion to "
                "fit within the limit."
            ),
        )
    return None


def refused_by_the_scheduler(tokens: int, limit: int) -> Refusal | None:
    """Return the refusal of the scheduler, which knows the pool."""
    if tokens < limit:
        return None
    return Refusal(
        status=400,
        message=(
            f"Input length ({tokens} tokens) exceeds the maximum allowed length ({limit} tokens). "
            "Use a shorter input or enable --allow-auto-truncate."
        ),
        by_scheduler=True,
    )
