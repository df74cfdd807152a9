"""What a lab is started with. Nothing here changes while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from monitor.lab.versions import does

TENANTS = ("tenant-a", "tenant-b", "tenant-c")
MAX_CONTEXT_TOKENS = 16_384
MIN_CONTEXT_TOKENS = 256
# What SGLang keeps back from min(context, pool): one token, and five in reserve.
INPUT_RESERVE_TOKENS = 6


class Mode(StrEnum):
    """Whether one pool serves both phases, or prefill hands over to decode."""

    UNIFIED = "unified"
    PD = "pd"


class NodeRole(StrEnum):
    """A node's part in serving, as SGLang's ``engine_type`` names it."""

    UNIFIED = "unified"
    PREFILL = "prefill"
    DECODE = "decode"


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
    # How many ranks share each layer; every one of them exports the same numbers.
    tp_size: int = 1
    keys: Mapping[str, str] = field(default_factory=dict)
    # Where the first node answers, the next on the next port; 0 takes free ones.
    node_port: int = 0
    # Whether the nodes ask for their token. The gateway's keys are no good there.
    node_auth: bool = False
    node_token: str = field(default="", repr=False)
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
        return self.admitted_by(self.roles[0])

    @property
    def roles(self) -> tuple[NodeRole, ...]:
        """Return the nodes there are; the first takes prompts in."""
        if self.mode is Mode.PD:
            return (NodeRole.PREFILL, NodeRole.DECODE)
        return (NodeRole.UNIFIED,)

    def admitted_by(self, role: NodeRole) -> int:
        """Return the length from which on a node's own limits refuse a prompt."""
        pages = self.decode_pages if role is NodeRole.DECODE else self.prefill_pages
        return min(self.context_tokens, pages * self.page_size) - INPUT_RESERVE_TOKENS

    @property
    def has_placeholder_bug(self) -> bool:
        """Return whether the version played lets a refused prompt pass to decode as one token."""
        return self.mode is Mode.PD and not does(self.version, "retires_refused_prompts")
