"""``context verify``: up to which size a target reads its prompts whole, as far as was asked."""

from monitor.context.climb import Asked, LadderStep, OnLadderStep, verify_context

__all__ = ["Asked", "LadderStep", "OnLadderStep", "verify_context"]
