"""Metrics and words of serving nodes: what each says of itself, and what is made of it."""

from __future__ import annotations

from enum import StrEnum

from monitor.conventions.metric import TARGET, L, counter, gauge


class LiveKind(StrEnum):
    """What a live signal is about: what only successive readings of nodes can show."""

    POOL_OVERFULL = "pool_overfull"
    PROMPT_TOKENS_DIVERGE = "prompt_tokens_diverge"
    NOT_A_NUMBER = "not_a_number"
    TRANSFER_FAILURES = "transfer_failures"
    BOOTSTRAP_FAILURES = "bootstrap_failures"
    KV_EXPIRED = "kv_expired"
    DEFERRED_RELEASES = "deferred_releases"
    ABORTS = "aborts"
    ACCEPTANCE_OUT_OF_BAND = "acceptance_out_of_band"
    ACCEPTANCE_DECAYS = "acceptance_decays"


class LiveState(StrEnum):
    """How a live signal stands. ``UNKNOWN`` is no pass."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    UNKNOWN = "unknown"


class KvState(StrEnum):
    """What a part of a KV pool is: in use, free, or kept only as long as nobody needs it."""

    USED = "used"
    FREE = "free"
    EVICTABLE = "evictable"


class RequestState(StrEnum):
    """Where a request on a node is."""

    RUNNING = "running"
    QUEUED = "queued"


# The values of ``nodes.record.Conformity`` and ``nodes.record.NodeCounter``, which stand above.
CONFORMITIES = ("pass", "warn", "fail", "unknown")
COUNTERS = (
    "prompt_tokens",
    "generated_tokens",
    "requests",
    "aborted",
    "preempted",
    "bootstrap_failed",
    "transfer_failed",
    "deferred_releases",
    "kv_expired",
    "not_a_number",
    "drafted",
    "accepted",
)
_NODE = (*TARGET, L.NODE)
_NODE_ROLE = (*_NODE, L.ROLE)

NODE_UP = gauge("node_up", "1 if the last reading of a node got an answer, else 0.", *_NODE)
NODE_INFO = gauge(
    "node_info",
    "Always 1; what a node is, as its last answer said. Empty where it did not say. "
    "Of a version that is no release the kind.",
    *(*_NODE, L.ENGINE, L.VERSION, L.ROLE),
)
NODE_LAST_READ = gauge(
    "node_last_read_timestamp_seconds",
    "When a node last answered a reading, in seconds since 1970; 0 before the first time.",
    *_NODE,
)
NODE_CONFORMS = gauge(
    "node_conforms",
    "1 if no rule fails a node, 0 if one does; no series while that cannot be told.",
    *_NODE,
)
NODE_CONFORMITY = gauge(
    "node_conformity",
    "1 for what the rules make of a node, 0 for the other states.",
    *(*_NODE, L.STATE),
)
NODE_RULES_MATCHED = gauge(
    "node_rules_matched",
    "1 while a rule speaks of a node: what it says, or accepted where that was agreed to.",
    *(*_NODE, L.RULE, L.STATE),
)
NODE_EXPOSED = gauge(
    "node_exposed_seconds",
    "For how long the oldest fault that fails a node has been public; no series if none fails it.",
    *_NODE,
)
NODE_GAPS = gauge("node_gaps", "Facts of a node that should have been read and were not.", *_NODE)
NODE_CONTEXT_ADVERTISED = gauge(
    "node_context_advertised_tokens", "The context that a node states.", *_NODE_ROLE
)
NODE_CONTEXT_ENFORCED = gauge(
    "node_context_enforced_tokens", "The longest prompt that a node admits.", *_NODE_ROLE
)
KV_POOL_CAPACITY = gauge(
    "kv_pool_capacity_tokens",
    "What the KV pool of a node holds; over data-parallel ranks the smallest.",
    *_NODE_ROLE,
)
KV_POOL_USAGE = gauge(
    "kv_pool_usage_ratio", "The part of a node's KV pool that is in use, 0 to 1.", *_NODE_ROLE
)
KV_POOL_TOKENS = gauge(
    "kv_pool_tokens",
    "Tokens in a node's KV pool by state, over all data-parallel ranks.",
    *(*_NODE_ROLE, L.STATE),
)
NODE_REQUESTS = gauge("node_requests", "Requests on a node that run, or wait.", *(*_NODE, L.STATE))
NODE_EVENTS = counter(
    "node_events_total",
    "What a node counts since it started, whatever its engine calls it.",
    *(*_NODE_ROLE, L.KIND),
)
NODE_ACCEPT_LENGTH = gauge(
    "node_accept_length_tokens", "Tokens a step of speculative decoding yields.", *_NODE
)
NODE_ACCEPT_RATIO = gauge(
    "node_accept_ratio", "The share of drafted tokens that were taken, 0 to 1.", *_NODE
)
NODE_SIGNAL = gauge(
    "node_signal",
    "1 for how a live signal of a node stands, 0 for its other states.",
    *(*_NODE, L.KIND, L.STATE),
)
NODES_READ_TIME = gauge(
    "nodes_read_timestamp_seconds",
    "When the last reading of all nodes ended, in seconds since 1970; 0 before the first.",
    L.ENV,
)
NODES_KNOWN = gauge(
    "nodes_known",
    "Nodes of a target that the last reading was to reach; 0 where none could be found.",
    *TARGET,
)
NODES_INTERVAL = gauge(
    "nodes_read_interval_seconds", "The time between two readings of all nodes.", L.ENV
)
TARGET_PRESSURE = gauge(
    "target_pressure_ratio",
    "The fullest node's part of its KV pool or queue in use, 0 to 1; no series if none says.",
    *TARGET,
)
NODE_RULES_AGE = gauge(
    "node_rules_age_seconds", "How long ago the rules of nodes were last reviewed.", L.ENV
)
NODE_RULES_MAX_AGE = gauge(
    "node_rules_max_age_seconds", "How old the rules of nodes may be.", L.ENV
)
NODE_RULES_INFO = gauge(
    "node_rules_info", "Always 1; the digest of the rules of nodes in force.", *(L.ENV, L.SHA256)
)
GATEWAY_UP = gauge(
    "gateway_up",
    "1 if a target's gateway said which models it serves and what it promises for the target's, "
    "else 0.",
    *TARGET,
)
GATEWAY_MODELS_UNPROBED = gauge(
    "gateway_models_unprobed",
    "Models that a target's gateway serves and no target probes; no series while not known.",
    *TARGET,
)
