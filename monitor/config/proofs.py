"""What a target's configuration makes impossible to prove, and what deserves a second look."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import combinations

from monitor.config.nodes import NodeTarget
from monitor.config.target import Target, Tenant
from monitor.config.values import in_clear

UNJUDGED_TOLERANCE = 0.5


def impossible_proofs(target: Target) -> tuple[str, ...]:
    """Say in plain words what no run on this target can prove, and what would change that."""
    return tuple(_impossible(target))


def config_warnings(target: Target, today: date) -> tuple[str, ...]:
    """Say what is allowed but probably not meant, expired acceptances first."""
    return tuple(_warnings(target, today))


def node_warnings(target: Target | NodeTarget, today: date) -> tuple[str, ...]:
    """Say what is allowed of its nodes but probably not meant, expired acceptances first."""
    return tuple(_about_nodes(target, today))


def _impossible(target: Target) -> Iterator[str]:
    yield from _about_tenants(target)
    if target.context_tokens is None:
        yield (
            "that prompts beyond the declared limit are refused: no context_tokens is declared, "
            "so only limits the endpoint itself states are probed"
        )
    if target.overflow.truncate is not None:
        until = target.overflow.truncate.expires.isoformat()
        yield f"that over-length prompts are refused: truncation is accepted until {until}"
    if not target.nodes and not target.node_sources:
        yield "that its nodes run safe versions and settings: no nodes are listed"


def _about_tenants(target: Target) -> Iterator[str]:
    pairs = [(d, v) for d in target.tenants for v in target.tenants if d.donor and v.victim]
    across = [(d, v) for d, v in pairs if d.name != v.name]
    if len(target.tenants) == 1:
        yield (
            "a LEAK across tenants: only one tenant is configured (a second key of the same target "
            "would change that); mixed-up requests of this one tenant are still found"
        )
    elif not across:
        yield "a LEAK across tenants: no donor and victim are different tenants; mend their roles"
    elif all(d.credential is None and v.credential is None for d, v in across):
        yield "that keys separate tenants: the tenants have no keys, the target sees one caller"
    elif all(_same_key(d, v) for d, v in across):
        yield "a LEAK across tenants: every donor and victim use the same key"
    elif all(d.isolation == v.isolation for d, v in across):
        yield (
            "that caches are kept apart: all tenants share one isolation domain; "
            "another tenant's text still counts, cache timing does not"
        )


def _same_key(one: Tenant, other: Tenant) -> bool:
    names = [(t.api_key_env, t.api_key_file) for t in (one, other)]
    return names[0] == names[1] and one.credential is not None


def _warnings(target: Target, today: date) -> Iterator[str]:
    accepted = target.overflow.truncate
    if accepted is not None and target.overflow.expired(today):
        yield (
            f"the accepted truncation expired on {accepted.expires.isoformat()} "
            f"(owner {accepted.owner}): it alerts again; renew it or write overflow: refuse"
        )
    for one, other in combinations(target.tenants, 2):
        if _same_key(one, other):
            yield f"tenants {one.name} and {other.name} use the same key; give each its own"
    yield from _about_nodes(target, today)
    if target.tolerance is not None and target.tolerance > UNJUDGED_TOLERANCE:
        yield "a tolerance above 0.5 is reported as not judged; lower it"
    if target.entries and all(entry.disabled for entry in target.entries):
        yield "every probe is disabled: nothing is watched here"
    if target.base_url.startswith("http://") and _has_keys(target) and not _is_local(target):
        yield "keys travel unencrypted: base_url begins with http://"


def _about_nodes(target: Target | NodeTarget, today: date) -> Iterator[str]:
    for reached in (*target.nodes, *target.node_sources):
        for each in reached.expired(today):
            yield (
                f"the accepted rule {each.rule} expired on {each.expires.isoformat()} "
                f"(owner {each.owner}): it alerts again; renew or remove it"
            )
    for node in target.nodes:
        if node.token is not None and in_clear(node.url):
            yield f"the token of node {node.name} travels unencrypted: its url begins with http://"
    for source in target.node_sources:
        if source.token is not None and source.scheme != "https":
            found = source.dns or source.file_sd
            yield f"the token of nodes found by {found} travels unencrypted: its scheme is http"
    gateway = target.gateway
    if gateway is not None and gateway.token is not None and in_clear(gateway.url):
        yield "the token of the gateway travels unencrypted: its url begins with http://"


def _has_keys(target: Target) -> bool:
    return bool(target.headers_env) or any(t.credential is not None for t in target.tenants)


def _is_local(target: Target) -> bool:
    host = target.base_url.removeprefix("http://")
    return host.startswith(("127.", "localhost", "[::1]"))
