"""Alerts on nodes: those that nobody can tell anything of, and what their readings show.

That a rule fails a node is a finding, and goes the way of findings (``answers``).
"""

from __future__ import annotations

from monitor.conventions import BUILD_INFO
from monitor.conventions import nodes as names
from monitor.conventions.nodes import LiveKind, LiveState
from monitor.model import VerdictClass
from monitor.slo.alert import Alert
from monitor.slo.links import NODES_DASHBOARD
from monitor.slo.promql import equals, fits, last_said, one_of, selector

_TARGET = ("env", "target")
_NODE = (*_TARGET, "node")
_UNSAFE = VerdictClass.UNSAFE_NODE.label
_READ, _EVERY = names.NODES_READ_TIME.name, names.NODES_INTERVAL.name
# For how long readings that ended are missed: over a night.
_REMEMBERED = "1d"
_ALONE = (LiveKind.PROMPT_TOKENS_DIVERGE, LiveKind.POOL_OVERFULL)


def _largest(metric: str, *by: str) -> str:
    return f"max by ({', '.join(by)}) ({metric})"


def _fails(*by: str, kinds: tuple[LiveKind, ...]) -> str:
    matchers = (one_of("kind", kinds), equals("state", LiveState.FAIL))
    now = selector(names.NODE_SIGNAL.name, *matchers)
    # Only a monitor that is silent is remembered: one that reads tells of every node it has, and
    # what it does not tell of was taken out.
    silent = f"({last_said(now)} unless on (env) {_READ} > 0)"
    return f"max by ({', '.join(by)}) (\n  {now}\n  or {silent}\n) == 1"


# What nobody can tell anything of.
SIGHT_OF_NODES: tuple[Alert, ...] = (
    Alert(
        name="DavylampNodeUnreachable",
        expr=f"{_largest(names.NODE_UP.name, *_NODE)} == 0",
        wait="10m",
        severity="warning",
        summary="{{ $labels.target }}: the node {{ $labels.node }} does not answer",
        description=(
            "It is down or still loads its model, its address is not allowed, or where nodes are "
            "found could not be read. Whether it is safe is not known."
        ),
        evidence=(names.NODE_UP.name, _NODE),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampNodeUnknown",
        expr=(
            f"{_largest(selector(names.NODE_CONFORMITY.name, equals('state', 'unknown')), *_NODE)}"
            f" == 1\nand on ({', '.join(_NODE)}) {_largest(names.NODE_UP.name, *_NODE)} == 1"
        ),
        wait="15m",
        severity="warning",
        summary="{{ $labels.target }}: whether the node {{ $labels.node }} is safe is not known",
        description=(
            "It answers, but a fact that a rule needs is missing: its token is refused, an unknown "
            "engine or version, a metric that is not there. `davylamp nodes` names it. It is not "
            "green."
        ),
        evidence=(names.NODE_CONFORMITY.name, _NODE),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampNodeNotCounting",
        expr=(
            f"group by ({', '.join(_NODE)}) (\n"
            f"  {selector(names.NODE_INFO.name, fits('role', 'prefill|decode'))}\n"
            f") unless on ({', '.join(_NODE)}) (\n"
            f"  {selector(names.NODE_EVENTS.name, equals('kind', 'prompt_tokens'))}\n)"
        ),
        wait="1h",
        severity="warning",
        summary="{{ $labels.target }}: {{ $labels.node }} does not say how many tokens it reads",
        description=(
            "It is a prefill or decode node, and its metrics are off or not reached. A prompt that "
            "is dropped between prefill and decode would not show in what nodes count."
        ),
        evidence=(names.NODE_INFO.name, _NODE),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampNodesNotFound",
        expr=f"{_largest(names.NODES_KNOWN.name, *_TARGET)} == 0",
        wait="15m",
        severity="warning",
        summary="{{ $labels.target }}: none of its nodes is known",
        description=(
            "Its configuration says where nodes are found, and there are none. Nobody looks at "
            "what serves it."
        ),
        evidence=(names.NODES_KNOWN.name, _TARGET),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampNodesNotRead",
        expr=(
            f"time() - {_largest(_READ, 'env')} > on (env)"
            f" 3 * {_largest(_EVERY, 'env')} + 300\n"
            f"or (\n  group by (env) (last_over_time({_READ}[{_REMEMBERED}]))\n"
            f"  unless group by (env) ({_READ})\n"
            f"  and on (env) group by (env) ({BUILD_INFO.name})\n)"
        ),
        wait="5m",
        severity="warning",
        summary="Davylamp in {{ $labels.env }}: the nodes were not read lately",
        description=(
            "Three times the interval of readings went by without one that ended, or no node is "
            "configured any more. What nodes say now is not known."
        ),
        evidence=(_READ, ("env",)),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampNodeRulesOld",
        expr=(
            f"{_largest(names.NODE_RULES_AGE.name, 'env')} > on (env)"
            f" {_largest(names.NODE_RULES_MAX_AGE.name, 'env')}"
        ),
        wait="1h",
        severity="warning",
        summary=(
            "Davylamp in {{ $labels.env }}: the rules of nodes are "
            "{{ $value | humanizeDuration }} old"
        ),
        description=(
            "Nobody compared them with what was made public since. A node that they pass may have "
            "a fault that is known."
        ),
        evidence=(names.NODE_RULES_AGE.name, ("env",)),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampGatewayUnread",
        expr=f"{_largest(names.GATEWAY_UP.name, *_TARGET)} == 0",
        wait="30m",
        severity="warning",
        summary="{{ $labels.target }}: what its gateway serves or promises is not known",
        description=(
            "It does not answer, refuses the token, lists what cannot be read, or does not list "
            "the target's model with a context that is a number. Models that nobody probes, and "
            "promises that no node keeps, would not be noticed."
        ),
        evidence=(names.GATEWAY_UP.name, _TARGET),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampGatewayModelsUnprobed",
        expr=f"{_largest(names.GATEWAY_MODELS_UNPROBED.name, *_TARGET)} > 0",
        wait="1h",
        severity="warning",
        summary=(
            "{{ $labels.target }}: its gateway serves {{ $value | printf `%.0f` }} models that "
            "nobody probes"
        ),
        description=(
            "Users may ask them, and whatever they answer nobody would know. `davylamp nodes` "
            "names them."
        ),
        evidence=(names.GATEWAY_MODELS_UNPROBED.name, _TARGET),
        dashboard=NODES_DASHBOARD,
    ),
)

# What readings show, one after the other.
NODE_SIGNALS: tuple[Alert, ...] = (
    Alert(
        name="DavylampPromptTokensDiverge",
        expr=_fails(*_TARGET, kinds=(LiveKind.PROMPT_TOKENS_DIVERGE,)),
        severity="critical",
        verdict_class=_UNSAFE,
        summary="{{ $labels.target }}: decode answers prompts that prefill has not read",
        description=(
            "The decode nodes counted prompt tokens that the prefill nodes did not, by more than "
            "what may be in flight. Answers come from memory that holds something else, perhaps "
            "another tenant's text, with HTTP 200."
        ),
        evidence=(names.NODE_SIGNAL.name, (*_TARGET, "kind")),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampPoolOverfull",
        expr=_fails(*_NODE, kinds=(LiveKind.POOL_OVERFULL,)),
        severity="warning",
        verdict_class=_UNSAFE,
        summary="{{ $labels.target }}: the KV pool of {{ $labels.node }} holds more than it can",
        description=(
            "Used, free and evictable tokens are together more than its capacity, in five readings "
            "in a row: pages that are counted twice may be used twice."
        ),
        evidence=(names.NODE_SIGNAL.name, (*_NODE, "kind")),
        dashboard=NODES_DASHBOARD,
    ),
    Alert(
        name="DavylampNodeSignal",
        expr=_fails(*_NODE, "kind", kinds=tuple(each for each in LiveKind if each not in _ALONE)),
        severity="warning",
        verdict_class=_UNSAFE,
        summary="{{ $labels.target }}: {{ $labels.node }} shows {{ $labels.kind }}",
        description=(
            "Its counters, or the acceptance of its draft, moved further than chance explains. "
            "`davylamp nodes` beside the daemon says how far."
        ),
        evidence=(names.NODE_SIGNAL.name, (*_NODE, "kind")),
        dashboard=NODES_DASHBOARD,
    ),
)
