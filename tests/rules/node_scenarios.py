"""Scenarios of the alerts on nodes."""

from __future__ import annotations

from tests.rules.scenarios import AT, CALM, ENV, GLM, WARNING, Scenario

_UNSAFE = {"class": "UNSAFE_NODE"}
_NODE = {**GLM, "node": "a"}
_ENV = '{env="prod"}'
_BUILT = {'davylamp_build_info{env="prod",version="1"}': "1x400"}


def _signal(alert: str, kind: str, *, node: str, labels: dict[str, str]) -> Scenario:
    """A signal that fails, holds on while its monitor is silent, and ends; one that is unknown."""
    of = f',node="{node}",kind="{kind}"' if node else f',kind="{kind}"'
    return Scenario(
        alert=alert,
        series={
            f'davylamp_node_signal{AT}{of},state="fail"}}': "0x9 1x10 _x20 0x10",
            f'davylamp_node_signal{AT}{of},state="pass"}}': "1x9 0x10 _x20 1x10",
            f'davylamp_node_signal{CALM}{of},state="unknown"}}': "0x9 1x40",
            f'davylamp_node_signal{CALM}{of},state="fail"}}': "0x50",
        },
        silent_at="9m",
        fires_at="38m",
        over_at="45m",
        labels={**GLM, **({"node": node} if node else {}), **_UNSAFE, **labels},
    )


def _taken_out(alert: str, kind: str, *, node: str, labels: dict[str, str]) -> Scenario:
    """A signal that fails on what is taken out, while its monitor goes on reading the others."""
    of = f',node="{node}",kind="{kind}"' if node else f',kind="{kind}"'
    return Scenario(
        alert=alert,
        series={
            f'davylamp_node_signal{AT}{of},state="fail"}}': "0x9 1x10 _x60",
            f"davylamp_nodes_read_timestamp_seconds{_ENV}": "60+60x80",
        },
        silent_at="9m",
        fires_at="19m",
        over_at="26m",
        labels={**GLM, **({"node": node} if node else {}), **_UNSAFE, **labels},
    )


SIGNALS = (
    _taken_out(
        "DavylampPromptTokensDiverge",
        "prompt_tokens_diverge",
        node="",
        labels={"severity": "critical"},
    ),
    _taken_out("DavylampPoolOverfull", "pool_overfull", node="a", labels={"severity": "warning"}),
    _taken_out(
        "DavylampNodeSignal",
        "not_a_number",
        node="a",
        labels={"severity": "warning", "kind": "not_a_number"},
    ),
    _signal(
        "DavylampPromptTokensDiverge",
        "prompt_tokens_diverge",
        node="",
        labels={"severity": "critical"},
    ),
    _signal("DavylampPoolOverfull", "pool_overfull", node="a", labels={"severity": "warning"}),
    _signal(
        "DavylampNodeSignal",
        "not_a_number",
        node="a",
        labels={"severity": "warning", "kind": "not_a_number"},
    ),
    _signal(
        "DavylampNodeSignal",
        "acceptance_decays",
        node="a",
        labels={"severity": "warning", "kind": "acceptance_decays"},
    ),
)

NODES = (
    Scenario(
        alert="DavylampNodeUnreachable",
        series={
            f'davylamp_node_up{AT},node="a"}}': "1x9 0x20 1x10",
            f'davylamp_node_up{AT},node="b"}}': "1x40",
            f'davylamp_node_up{CALM},node="a"}}': "1x9 0x5 1x26",
        },
        silent_at="15m",
        fires_at="25m",
        over_at="35m",
        labels={**_NODE, **WARNING},
    ),
    Scenario(
        # One that does not answer has an alert of its own.
        alert="DavylampNodeUnknown",
        series={
            f'davylamp_node_conformity{AT},node="a",state="unknown"}}': "0x9 1x30 0x10",
            f'davylamp_node_up{AT},node="a"}}': "1x60",
            f'davylamp_node_conformity{CALM},node="a",state="unknown"}}': "1x60",
            f'davylamp_node_up{CALM},node="a"}}': "0x60",
            f'davylamp_node_conformity{CALM},node="b",state="fail"}}': "1x60",
            f'davylamp_node_conformity{CALM},node="b",state="unknown"}}': "0x60",
            f'davylamp_node_up{CALM},node="b"}}': "1x60",
        },
        silent_at="20m",
        fires_at="30m",
        over_at="45m",
        labels={**_NODE, **WARNING},
    ),
    Scenario(
        # One that serves by itself need not count, and one that is gone has an alert of its own.
        alert="DavylampNodeNotCounting",
        series={
            f'davylamp_node_info{AT},node="a",engine="sglang",version="1",role="decode"}}': "1x120",
            f'davylamp_node_events_total{AT},node="a",role="decode",kind="prompt_tokens"}}': (
                "5x9 _x80 5x31"
            ),
            f'davylamp_node_events_total{AT},node="a",role="decode",kind="requests"}}': "5x120",
            f'davylamp_node_info{CALM},node="a",engine="sglang",version="1",role="unified"}}': (
                "1x120"
            ),
            f'davylamp_node_info{CALM},node="b",engine="sglang",version="1",role="prefill"}}': (
                "1x40 _x80"
            ),
        },
        silent_at="60m",
        fires_at="85m",
        over_at="95m",
        labels={**_NODE, **WARNING},
    ),
    Scenario(
        alert="DavylampNodesNotFound",
        series={
            f"davylamp_nodes_known{AT}}}": "4x9 0x30 4x10",
            f"davylamp_nodes_known{CALM}}}": "4x9 0x10 4x30",
        },
        silent_at="20m",
        fires_at="30m",
        over_at="45m",
        labels={**GLM, **WARNING},
    ),
    Scenario(
        # Readings stop at 10 minutes; 3 x 30 s and 5 minutes later, and 5 more, it is told.
        alert="DavylampNodesNotRead",
        series={
            **_BUILT,
            f"davylamp_nodes_read_timestamp_seconds{_ENV}": "0+60x10 600x20 1860+60x20",
            f"davylamp_nodes_read_interval_seconds{_ENV}": "30x60",
            'davylamp_nodes_read_timestamp_seconds{env="calm"}': "0+60x60",
            'davylamp_nodes_read_interval_seconds{env="calm"}': "30x60",
            'davylamp_build_info{env="calm",version="1"}': "1x60",
        },
        silent_at="16m",
        fires_at="25m",
        over_at="33m",
        labels={**ENV, **WARNING},
    ),
    Scenario(
        # The daemon goes on without nodes; one that is gone altogether has an alert of its own.
        alert="DavylampNodesNotRead",
        series={
            **_BUILT,
            f"davylamp_nodes_read_timestamp_seconds{_ENV}": "0+60x10 _x30 2400+60x20",
            f"davylamp_nodes_read_interval_seconds{_ENV}": "30x10 _x30 30x20",
            'davylamp_nodes_read_timestamp_seconds{env="calm"}': "0+60x10 _x50",
            'davylamp_build_info{env="calm",version="1"}': "1x10 _x50",
        },
        silent_at="16m",
        fires_at="30m",
        over_at="42m",
        labels={**ENV, **WARNING},
    ),
    Scenario(
        alert="DavylampNodeRulesOld",
        series={
            f"davylamp_node_rules_age_seconds{_ENV}": "3888000+60x200 0x10",
            f"davylamp_node_rules_max_age_seconds{_ENV}": "3890000x220",
            'davylamp_node_rules_age_seconds{env="calm"}': "3888000x220",
            'davylamp_node_rules_max_age_seconds{env="calm"}': "3890000x220",
        },
        silent_at="80m",
        fires_at="150m",
        over_at="205m",
        labels={**ENV, **WARNING},
    ),
    Scenario(
        alert="DavylampGatewayUnread",
        series={
            f"davylamp_gateway_up{AT}}}": "1x9 0x50 1x10",
            f"davylamp_gateway_up{CALM}}}": "1x9 0x20 1x40",
        },
        silent_at="35m",
        fires_at="45m",
        over_at="65m",
        labels={**GLM, **WARNING},
    ),
    Scenario(
        # A gateway that says nothing has no number, and no alert of this name.
        alert="DavylampGatewayModelsUnprobed",
        series={
            f"davylamp_gateway_models_unprobed{AT}}}": "0x9 3x90 0x10",
            f"davylamp_gateway_models_unprobed{CALM}}}": "0x110",
            'davylamp_gateway_models_unprobed{env="prod",target="mute"}': "_x110",
        },
        silent_at="60m",
        fires_at="80m",
        over_at="105m",
        labels={**GLM, **WARNING},
    ),
)
