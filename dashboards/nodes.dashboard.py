"""Nodes and KV pools: what serving nodes and GPUs say of themselves, against what is advertised."""

from __future__ import annotations

from dashboards.frame import (
    CLICKHOUSE_SOURCE,
    ENV,
    MARKS,
    NODES,
    PROMETHEUS_SOURCE,
    elsewhere,
    title_of,
)
from dashboards.gpus import GPUS
from dashboards.panels import (
    GREEN,
    GREY,
    HATCH,
    ORANGE,
    RED,
    YELLOW,
    Look,
    Page,
    Said,
    Shelf,
    choice,
    clickhouse,
    now,
    of_query,
    prometheus,
    rows_of,
    stat,
    state_timeline,
    table,
    time_series,
    values,
)
from dashboards.questions import of, stated
from monitor.conventions import nodes

_NO_NODE = "No node is read: list some under targets[].nodes (docs/nodes.md). This is not good."
_NOT_SAID = "No node says this, or none is read."
_DAY = 86_400
# A target may be there for its nodes only, and be asked nothing.
_WITH_NODES = f'label_values({nodes.NODES_KNOWN.name}{{env="$env"}}, target)'
_TARGETS = choice("target", "Target", _WITH_NODES)
_STATES = ("pass", "warn", "fail", "unknown")
_TAKEN_IN, _FAILURES = (
    'kind="prompt_tokens"',
    'kind=~".+_failed|aborted|preempted|deferred_releases|kv_expired|not_a_number"',
)


def _state(name: str) -> str:
    return f'state="{name}"'


_conforms = state_timeline(
    Said(
        "Does each node conform?",
        "none",
        "What the rules make of each node. Grey and hatched: it cannot be told, which is no pass.",
        _NO_NODE,
    ),
    [
        prometheus(
            " or ".join(
                f"max by (target, node) ({of(nodes.NODE_CONFORMITY, _state(state))} == 1)"
                f" * {number}"
                for number, state in enumerate(_STATES)
            ),
            "{{target}} {{node}}",
        )
    ],
    Look(
        mappings=(
            values(
                {
                    0: ("pass", GREEN),
                    1: ("warn", YELLOW),
                    2: ("fail", RED),
                    3: (f"{HATCH} cannot be told", GREY),
                }
            ),
        ),
        palette=False,
    ),
)
_up = stat(
    Said(
        "Nodes that answer",
        "none",
        "Whether the last reading of each node got an answer.",
        _NO_NODE,
    ),
    [now(f"min by (target, node) ({of(nodes.NODE_UP)})", "{{target}} {{node}}")],
    Look(mappings=(values({0: ("no answer", RED), 1: ("answers", GREEN)}),), palette=False),
)
_exposed = stat(
    Said(
        "Days exposed",
        "suffix:days",
        "For how long the oldest fault that fails a node has been public.",
        "No rule fails a node, or none is read: the strip on the left says which.",
    ),
    [now(f"max by (target, node) ({of(nodes.NODE_EXPOSED)}) / {_DAY}", "{{target}} {{node}}")],
    Look(steps=((None, YELLOW), (7, ORANGE), (30, RED)), decimals=0),
)
_rules = table(
    Said(
        "Rules that speak of a node",
        "none",
        "Each rule that matches now; `davylamp nodes` says why and what to do.",
        "No rule speaks of a node, or none is read.",
    ),
    [rows_of(f"max by (target, node, rule, state) ({of(nodes.NODE_RULES_MATCHED)}) == 1")],
    Look(value=""),
)
_what = table(
    Said("What each node is", "none", "As it said itself when it last answered.", _NO_NODE),
    [rows_of(f"max by (target, node, engine, version, role) ({of(nodes.NODE_INFO)}) == 1")],
    Look(value=""),
)
_live = state_timeline(
    Said(
        "Live signals",
        "none",
        "What only successive readings show. Grey and hatched: it cannot be told: no pass.",
        "No node was read twice yet.",
    ),
    [
        prometheus(
            " or ".join(
                f"max by (target, node, kind) "
                f"({of(nodes.NODE_SIGNAL, _state(state))} == 1) * {number}"
                for number, state in enumerate(("pass", "fail", "unknown"))
            ),
            "{{target}} {{node}} {{kind}}",
        )
    ],
    Look(
        mappings=(
            values({0: ("pass", GREEN), 1: ("fail", RED), 2: (f"{HATCH} cannot be told", GREY)}),
        ),
        palette=False,
    ),
)
_age = time_series(
    Said("Age of the last reading", "s", "How long ago each node last answered.", _NO_NODE),
    [
        prometheus(
            f"time() - max by (target, node) ({of(nodes.NODE_LAST_READ)} > 0)",
            "{{target}} {{node}}",
        ),
        prometheus(f"time() - max by (env) ({of(nodes.NODES_READ_TIME)} > 0)", "all of {{env}}"),
        prometheus(f"max by (env) ({of(nodes.NODES_INTERVAL)})", "{{env}} interval"),
    ],
    Look(low=0),
)
_known = time_series(
    Said(
        "Nodes known, and facts that could not be read",
        "short",
        "How many nodes the last reading was to reach, and what it did not learn of them.",
        _NO_NODE,
    ),
    [
        prometheus(f"max by (target) ({of(nodes.NODES_KNOWN)})", "{{target}} nodes known"),
        prometheus(f"sum by (target) ({of(nodes.NODE_GAPS)})", "{{target}} facts not read"),
    ],
    Look(low=0, stairs=True),
)
_ruled = stat(
    Said(
        "Age of the rules",
        "s",
        (
            "Since the rules of nodes were last reviewed, and how old they may be; "
            "old ones know no new fault."
        ),
        _NO_NODE,
    ),
    [
        now(
            f"max by (env, sha256) ({of(nodes.NODE_RULES_INFO)}) * on (env) group_left () "
            f"max by (env) ({of(nodes.NODE_RULES_AGE)})",
            "{{env}}",
        ),
        now(f"max by (env) ({of(nodes.NODE_RULES_MAX_AGE)})", "{{env}} at most"),
    ],
    Look(
        steps=((None, GREEN), (45 * _DAY, YELLOW), (90 * _DAY, RED)),
        overrides=(of_query("B", color={"mode": "fixed", "fixedColor": GREY}),),
    ),
)
_unprobed = stat(
    Said(
        "Models nobody probes",
        "short",
        "What the gateway serves and no target probes. Grey: the gateway did not say.",
        "No gateway is configured.",
    ),
    [
        now(
            f"max by (target) ({of(nodes.GATEWAY_MODELS_UNPROBED)}) "
            f"or on (target) (max by (target) ({of(nodes.GATEWAY_UP)}) == 0) - 1",
            "{{target}}",
        )
    ],
    Look(
        steps=((None, GREEN), (1, GREY)),
        mappings=(values({-1: (f"{HATCH} not said", GREY)}),),
    ),
)
_capacity = time_series(
    Said(
        "Capacity against what is advertised",
        "locale",
        "Tokens: what the KV pool of each node holds, what it states, what it admits.",
        _NOT_SAID,
    ),
    [
        prometheus(
            f"max by (target, node, role) ({of(nodes.KV_POOL_CAPACITY)})",
            "{{target}} {{node}} {{role}} holds",
        ),
        prometheus(
            f"max by (target, node, role) ({of(nodes.NODE_CONTEXT_ADVERTISED)})",
            "{{target}} {{node}} {{role}} states",
        ),
        prometheus(
            f"max by (target, node, role) ({of(nodes.NODE_CONTEXT_ENFORCED)})",
            "{{target}} {{node}} {{role}} admits",
        ),
    ],
    Look(low=0, stairs=True),
)
_fits = stat(
    Said(
        "Does one request fit?",
        "percentunit",
        (
            "Capacity of the smallest pool of each role, of the context its nodes state: below "
            "100 % a request of the advertised length does not fit."
        ),
        _NOT_SAID,
    ),
    [
        now(
            f"min by (target, role) ({of(nodes.KV_POOL_CAPACITY)}) / on (target, role) "
            f"max by (target, role) ({of(nodes.NODE_CONTEXT_ADVERTISED)})",
            "{{target}} {{role}}",
        )
    ],
    Look(steps=((None, RED), (1, GREEN))),
)
_diverge = time_series(
    Said(
        "Prefill against decode: prompt tokens an hour",
        "locale",
        "What each side says it took in. In a healthy pair both say the same.",
        _NOT_SAID,
    ),
    [
        prometheus(
            f"sum by (target, role) (increase({of(nodes.NODE_EVENTS, _TAKEN_IN)}[1h]))",
            "{{target}} {{role}}",
        )
    ],
    Look(low=0),
)
_occupied = time_series(
    Said(
        "Occupancy in tokens",
        "locale",
        "Tokens in the pool of each node by state. Bytes on a GPU say nothing of this.",
        _NOT_SAID,
    ),
    [
        prometheus(
            f"sum by (target, node, state) ({of(nodes.KV_POOL_TOKENS)})",
            "{{target}} {{node}} {{state}}",
        )
    ],
    Look(low=0, stacked=True),
)
_usage = time_series(
    Said(
        "Part of the pool in use, and pressure",
        "percentunit",
        "0 to 1: as each node says it, and the fullest pool or queue of a target.",
        _NOT_SAID,
    ),
    [
        prometheus(
            f"max by (target, node, role) ({of(nodes.KV_POOL_USAGE)})",
            "{{target}} {{node}} {{role}}",
        ),
        prometheus(f"max by (target) ({of(nodes.TARGET_PRESSURE)})", "{{target}} pressure"),
    ],
    Look(low=0, high=1),
)
_requests = time_series(
    Said("Requests on nodes", "short", "That run, and that wait.", _NOT_SAID),
    [
        prometheus(
            f"sum by (target, node, state) ({of(nodes.NODE_REQUESTS)})",
            "{{target}} {{node}} {{state}}",
        )
    ],
    Look(low=0),
)
_transfers = time_series(
    Said(
        "Failures that nodes count, an hour",
        "short",
        "Transfers and bootstraps that failed, aborts, values that are not numbers, and their kin.",
        _NOT_SAID,
    ),
    [
        prometheus(
            f"sum by (target, node, kind) (increase({of(nodes.NODE_EVENTS, _FAILURES)}[1h]))",
            "{{target}} {{node}} {{kind}}",
        )
    ],
    Look(low=0, bars=True),
)
_accept_length = time_series(
    Said(
        "Speculative decoding: tokens a step",
        "short",
        "A slow fall or a jump says that the draft reads another cache than the target.",
        "No node decodes speculatively, or none says so.",
    ),
    [prometheus(f"max by (target, node) ({of(nodes.NODE_ACCEPT_LENGTH)})", "{{target}} {{node}}")],
    Look(low=0),
)
_accept_ratio = time_series(
    Said(
        "Speculative decoding: share that was taken",
        "percentunit",
        "Of drafted tokens.",
        "No node decodes speculatively, or none says so.",
    ),
    [prometheus(f"max by (target, node) ({of(nodes.NODE_ACCEPT_RATIO)})", "{{target}} {{node}}")],
    Look(low=0, high=1),
)
_snapshots = table(
    Said(
        "What nodes said, from the store",
        "none",
        "The last two hundred readings of this time range that were kept.",
        "No reading was kept in this time range, or Grafana cannot reach the store (docs/sql.md).",
    ),
    [
        clickhouse(
            stated(
                "SELECT at, target, node, engine, engine_version, role, conformity, "
                "capacity_tokens, advertised_tokens, enforced_tokens, failed_rules, warned_rules, "
                "unknown_rules "
                "FROM node_snapshots FINAL WHERE $__timeFilter(at) "
                "AND $targets ORDER BY at DESC, node LIMIT 200"
            ),
        )
    ],
)
page = Page(
    uid=NODES,
    title=title_of(NODES),
    about="What nodes hold against what is advertised, and which of them are known to be unsafe.",
    variables=(PROMETHEUS_SOURCE, CLICKHOUSE_SOURCE, ENV, _TARGETS),
    annotations=MARKS,
    links=elsewhere(NODES),
    tags=("nodes", "gpu"),
    shelves=(
        Shelf(
            title="Are nodes safe?",
            panels=(
                *((12, 7, _conforms), (6, 7, _up), (6, 7, _exposed)),
                *((12, 8, _rules), (12, 8, _what), (24, 9, _live)),
                *((8, 6, _age), (8, 6, _known), (4, 6, _ruled), (4, 6, _unprobed)),
            ),
        ),
        Shelf(
            title="KV pools in tokens",
            panels=(
                *((12, 8, _capacity), (4, 8, _fits), (8, 8, _usage)),
                *((12, 8, _occupied), (12, 8, _diverge)),
                *((8, 7, _requests), (8, 7, _transfers), (4, 7, _accept_length)),
                *((4, 7, _accept_ratio), (24, 8, _snapshots)),
            ),
        ),
        GPUS,
    ),
)
