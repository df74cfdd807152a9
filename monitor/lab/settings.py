"""What a lab is started with. Nothing here changes while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

TENANTS = ("tenant-a", "tenant-b", "tenant-c")
MAX_CONTEXT_TOKENS = 16_384
MIN_CONTEXT_TOKENS = 256
# What SGLang keeps back from min(context, pool): one token, and five in reserve.
INPUT_RESERVE_TOKENS = 6


class Mode(StrEnum):
    """Whether one pool serves both phases, or prefill hands over to decode."""

    UNIFIED = "unified"
    PD = "pd"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabSettings:
    """Sizes, names and seed of one lab."""

    context_tokens: int = 4096
    page_size: int = 16
    mode: Mode = Mode.UNIFIED
    # Pools as shares of the context; the prefill share also is the pool of a unified engine.
    prefill_share: float = 4.0
    decode_share: float = 4.0
    seed: int = 0
    model: str = "lamp-lab-1"
    # The SGLang version whose behaviour is played.
    version: str = "0.5.23"
    keys: Mapping[str, str] = field(default_factory=dict)
    max_batch: int = 32
    # What the prefix cache keeps on the device, 0 for all there is room for.
    cache_tokens: int = 0
    # How many turns the pages take from prefill to decode, and how long a turn takes.
    transfer_turns: int = 0
    turn_seconds: float = 0.0
    default_max_new_tokens: int = 512

    @property
    def prefill_pages(self) -> int:
        """Return the size of the pool that prompts are computed in."""
        return max(1, int(self.context_tokens * self.prefill_share) // self.page_size)

    @property
    def decode_pages(self) -> int:
        """Return the size of the pool that answers are read from."""
        return max(1, int(self.context_tokens * self.decode_share) // self.page_size)

    @property
    def max_req_input_len(self) -> int:
        """Return the length from which on the scheduler refuses a prompt."""
        pool = self.prefill_pages * self.page_size
        return min(self.context_tokens, pool) - INPUT_RESERVE_TOKENS
