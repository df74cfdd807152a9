"""Nodes are judged beside each other: the incident, what is accepted, and what cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config.acceptance import AcceptedRule
from monitor.nodes import Conformity, Live, NodeFacts, NodeSnapshot, NodeVerdict, Role
from monitor.nodes.judging import (
    ENGINE_UNTOLD,
    NO_JUDGEMENT,
    NO_RULES,
    NOT_REACHED,
    judge_nodes,
)
from monitor.nodes.ruleset import RuleSet
from tests.unit.nodes.judged import (
    CONTEXT,
    FLOOR,
    READ_AT,
    RULES,
    STRICT,
    TODAY,
    UNSAFE,
    bound,
    decode,
    node,
    prefill,
    silent,
    without,
)
from tests.unit.nodes.rule_rows import UNSAID_ROLE

ORDER = (Conformity.PASS, Conformity.WARN, Conformity.UNKNOWN, Conformity.FAIL)
DEV = "0.0.0.dev1+g70df09b83"


def conformities(fleet: Sequence[NodeSnapshot], rules: RuleSet = RULES) -> list[Conformity]:
    return [each.conformity for each in judge_nodes(fleet, rules, today=TODAY)]


def matches(verdict: NodeVerdict, conformity: Conformity) -> set[str]:
    return {each.rule for each in verdict.matches if each.conformity is conformity}


def test_the_incident_fails_before_any_probe_is_sent() -> None:
    fleet = [
        bound(pool=681_280, version="0.5.18", advertised_tokens=1_048_576),
        decode(version="0.5.18", advertised_tokens=1_048_576, enforced_tokens=1_048_570),
    ]
    one, two = judge_nodes(fleet, RULES, today=TODAY)
    assert one.conformity is two.conformity is Conformity.FAIL
    assert one.public_since == two.public_since == date(2026, 7, 6)
    admits = next(m for m in one.matches if m.rule == "sglang-decode-admits-more")
    assert "681,274 tokens here, 1,048,570 on" in admits.why
    assert {m.shape for m in one.matches if m.conformity is Conformity.FAIL} == {"boundary"}


def test_a_fixed_version_whose_decode_admits_more_fails_all_the_same() -> None:
    assert conformities([bound(), decode()]) == [Conformity.FAIL, Conformity.FAIL]


@pytest.mark.parametrize("make", [bound, prefill])
def test_equal_pools_at_the_floor_do_not_fail(make) -> None:
    fleet = [make(), bound(decode) if make is bound else decode()]
    assert conformities(fleet) == [Conformity.WARN, Conformity.WARN]


def test_a_single_node_that_refuses_is_a_warning() -> None:
    (verdict,) = judge_nodes([bound(node)], RULES, today=TODAY)
    assert verdict.conformity is Conformity.WARN
    assert matches(verdict, Conformity.WARN) == {"sglang-pool-bound"}


@pytest.mark.parametrize("version", ["0.4.6.post5", UNSAFE, "0.5.19", "0.5.19.post1", "v0.5.3"])
def test_prefill_and_decode_below_the_fix_fail(version: str) -> None:
    fleet = [prefill(version=version), decode(version=version)]
    assert conformities(fleet) == [Conformity.FAIL, Conformity.FAIL]


@pytest.mark.parametrize("version", ["0.5.20", "0.5.20.post1", "0.5.21"])
def test_between_fix_and_floor_warns_and_fails_in_strict_mode(version: str) -> None:
    fleet = [prefill(version=version), decode(version=version)]
    assert conformities(fleet) == [Conformity.WARN, Conformity.WARN]
    assert conformities(fleet, STRICT) == [Conformity.FAIL, Conformity.FAIL]


@pytest.mark.parametrize("version", ["0.5.22", "0.5.23"])
def test_the_floor_does_not_fail_in_strict_mode(version: str) -> None:
    fleet = [prefill(version=version), decode(version=version)]
    assert Conformity.FAIL not in conformities(fleet, STRICT)
    assert Conformity.UNKNOWN not in conformities(fleet, STRICT)


@pytest.mark.parametrize("version", [DEV, "0.5.21+g12ab34cd", "0.5.20rc1", "main", None, "0.0.0"])
def test_prefill_and_decode_of_no_release_are_unknown(version: str | None) -> None:
    fleet = [prefill(version=version), decode(version=version)]
    assert conformities(fleet) == [Conformity.UNKNOWN, Conformity.UNKNOWN]


def test_a_unified_node_of_an_old_version_passes() -> None:
    assert conformities([node(version=UNSAFE)]) == [Conformity.PASS]
    assert conformities([node(version=DEV)]) == [Conformity.PASS]


@pytest.mark.parametrize("engine", ["sglang", "vllm", "llama.cpp", "ollama"])
def test_a_healthy_node_of_each_engine_passes(engine: str) -> None:
    assert conformities([node(engine=engine), node("n1", engine=engine)]) == [Conformity.PASS] * 2


STANDARD = {
    "sglang": node(version="0.5.23", settings={"disable_radix_cache": False}),
    "sglang-on-blackwell": node(version="0.5.23", settings={"attention_backend": "trtllm_mla"}),
    "vllm": node(
        engine="vllm", settings={"enable_prefix_caching": True, "cache_dtype": "auto"}, drafted=None
    ),
    "vllm-before-offloading": without(
        node(engine="vllm", version="0.10.0", drafted=None, pool_tokens=None),
        "kv_offloading_size",
        "kv_offloading_backend",
        "mamba_cache_mode",
    ),
    "llama.cpp-with-slots": node(
        engine="llama.cpp", slots=4, advertised_tokens=8_192, enforced_tokens=8_192
    ),
    "ollama": node(engine="ollama"),
}


@pytest.mark.parametrize("name", STANDARD)
def test_what_many_run_passes(name: str) -> None:
    """As their servers start without much ado: no rule has anything to say."""
    (verdict,) = judge_nodes([STANDARD[name]], RULES, today=TODAY)
    assert (verdict.conformity, verdict.matches) == (Conformity.PASS, ())


@pytest.mark.parametrize("version", ["0.28.0.post1", "0.28.1", "0.29.0", "1.0"])
def test_what_is_open_in_vllm_holds_of_later_releases(version: str) -> None:
    hybrid = {"enable_prefix_caching": True, "mamba_cache_mode": "align"}
    snapshot = node(engine="vllm", version=version, settings=hybrid, drafted=9.0)
    (verdict,) = judge_nodes([snapshot], RULES, today=TODAY)
    assert matches(verdict, Conformity.WARN) == {"vllm-hybrid-prefix-cache-drafting"}


@pytest.mark.parametrize("version", ["0.5.23.post1", "0.5.24", "1.0"])
def test_what_is_open_in_sglang_holds_of_later_releases(version: str) -> None:
    fleet = [prefill(version=version, settings={"pp_size": 2}), decode(version=version)]
    for verdict in judge_nodes(fleet, RULES, today=TODAY):
        assert matches(verdict, Conformity.WARN) >= {
            "sglang-pd-abort-in-transfer",
            "sglang-pd-metadata-of-stages",
        }


def test_a_decode_node_of_any_engine_that_admits_more_does_not_pass() -> None:
    fleet = [prefill(engine="vllm", enforced_tokens=32_768), decode(engine="vllm")]
    for verdict in judge_nodes(fleet, RULES, today=TODAY):
        assert verdict.conformity is Conformity.WARN
        assert matches(verdict, Conformity.WARN) == {"decode-admits-more"}


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_halves_and_replicas_of_two_versions_do_not_pass(engine: str) -> None:
    old, new = ("0.5.22", "0.5.23") if engine == "sglang" else ("0.29.0", "0.30.0")
    for pair in (
        [prefill(engine=engine, version=old), decode(engine=engine, version=new)],
        [node(engine=engine, version=old), node("n1", engine=engine, version=new)],
    ):
        assert Conformity.PASS not in conformities(pair)


def test_a_role_that_was_not_said_is_not_taken_for_unified() -> None:
    (verdict,) = judge_nodes([replace(UNSAID_ROLE)], RULES, today=TODAY)
    assert verdict.conformity is Conformity.UNKNOWN
    assert "sglang-decode-admits-more" in matches(verdict, Conformity.UNKNOWN)


def test_a_role_that_node_and_configuration_disagree_about_is_unknown() -> None:
    fleet = [replace(node(), role=Role.PREFILL), decode()]
    assert conformities(fleet)[0] is Conformity.UNKNOWN
    fleet = [replace(prefill(), role=Role.DECODE), prefill("p1"), decode()]
    assert conformities(fleet)[0] is Conformity.UNKNOWN


def test_what_a_node_says_holds_over_unified_in_the_configuration() -> None:
    said = replace(prefill(version=UNSAFE), role=Role.UNIFIED)
    assert conformities([said, decode(version=UNSAFE)])[0] is Conformity.FAIL


def test_a_prefill_node_without_any_decode_node_is_unknown() -> None:
    (verdict,) = judge_nodes([prefill()], RULES, today=TODAY)
    assert verdict.conformity is Conformity.UNKNOWN
    first, *_ = verdict.matches
    assert first.rule == "sglang-decode-admits-more"
    assert first.why == "cannot be told without any node of the other half"


@pytest.mark.parametrize("make", [prefill, decode])
@pytest.mark.parametrize("engine", ["vllm", "llama.cpp", "ollama"])
def test_a_half_alone_does_not_pass_whatever_its_engine(make, engine: str) -> None:
    """No verdict of another node says what is missing, for there is no other node."""
    (verdict,) = judge_nodes([make(engine=engine)], RULES, today=TODAY)
    assert verdict.conformity is Conformity.WARN
    assert matches(verdict, Conformity.UNKNOWN) == {
        "counterpart-versions-differ",
        "decode-admits-more",
    }
    both = [make(engine=engine), (decode if make is prefill else prefill)(engine=engine)]
    assert conformities(both) == [Conformity.PASS, Conformity.PASS]


def test_a_decode_node_that_does_not_answer_leaves_its_prefill_unknown() -> None:
    fleet = [prefill(), decode(), replace(silent(decode("d1")), role=Role.DECODE)]
    assert conformities(fleet) == [Conformity.UNKNOWN, Conformity.WARN, Conformity.UNKNOWN]


def test_a_node_of_no_known_role_that_does_not_answer_may_be_of_either_half() -> None:
    fleet = [prefill(), decode(), silent(decode("d1"))]
    assert conformities(fleet) == [Conformity.UNKNOWN] * 3


def test_nodes_of_another_target_are_no_peers() -> None:
    fleet = [bound(), bound(decode), decode("d1", target="another")]
    assert conformities(fleet)[0] is Conformity.WARN


def test_a_replica_that_does_not_answer_is_held_against_itself_alone() -> None:
    fleet = [node(), silent(node("n1"))]
    assert conformities(fleet) == [Conformity.PASS, Conformity.UNKNOWN]


@pytest.mark.parametrize(
    ("snapshot", "rule"),
    [
        (silent(node()), NOT_REACHED),
        (node(engine=None), ENGINE_UNTOLD),
        (node(engine="another"), NO_RULES),
    ],
)
def test_what_cannot_be_judged_is_unknown_with_a_reason(snapshot: NodeSnapshot, rule: str) -> None:
    (verdict,) = judge_nodes([snapshot], RULES, today=TODAY)
    assert verdict.conformity is Conformity.UNKNOWN
    assert rule in matches(verdict, Conformity.UNKNOWN)
    assert not NO_JUDGEMENT & RULES.ids


def test_auto_truncate_fails_and_may_be_accepted() -> None:
    snapshot = node(settings={"allow_auto_truncate": True})
    assert conformities([snapshot]) == [Conformity.FAIL]
    accepted = {("glm", "n0"): [acceptance("sglang-auto-truncate", TODAY)]}
    (verdict,) = judge_nodes([snapshot], RULES, today=TODAY, accepted=accepted)
    assert verdict.conformity is Conformity.PASS
    assert verdict.matches[0].accepted_until == TODAY
    assert verdict.public_since is None


def acceptance(rule: str, expires: date) -> AcceptedRule:
    return AcceptedRule(rule=rule, owner="serving", reason="wanted", expires=expires.isoformat())


def test_the_first_match_is_the_reason() -> None:
    truncating = {"allow_auto_truncate": True}
    fleet = [without(bound(settings=truncating), "page_size"), decode()]
    verdict, *_ = judge_nodes(fleet, RULES, today=TODAY)
    names = [m.rule for m in verdict.matches]
    assert names[:2] == ["sglang-decode-admits-more", "sglang-auto-truncate"]
    assert verdict.matches[-1].conformity is Conformity.UNKNOWN
    accepted = {("glm", "p0"): [acceptance("sglang-decode-admits-more", TODAY)]}
    verdict, *_ = judge_nodes(fleet, RULES, today=TODAY, accepted=accepted)
    assert verdict.matches[0].rule == "sglang-auto-truncate"
    assert verdict.matches[-1].rule == "sglang-decode-admits-more"


def test_what_was_accepted_counts_again_on_the_day_after() -> None:
    snapshot = node(settings={"allow_auto_truncate": True})
    accepted = {("glm", "n0"): [acceptance("sglang-auto-truncate", TODAY - timedelta(days=1))]}
    (verdict,) = judge_nodes([snapshot], RULES, today=TODAY, accepted=accepted)
    assert verdict.conformity is Conformity.FAIL
    assert verdict.matches[0].accepted_until is None
    assert verdict.matches[0].why.endswith("an acceptance of it ended on 2026-11-29")


@pytest.mark.parametrize(
    ("key", "accepted"),
    [
        (("glm", "n1"), acceptance("sglang-auto-truncate", TODAY)),
        (("another", "n0"), acceptance("sglang-auto-truncate", TODAY)),
        (("glm", "n0"), acceptance("sglang-pool-bound", TODAY)),
    ],
)
def test_an_acceptance_is_of_one_rule_and_one_node(key, accepted: AcceptedRule) -> None:
    snapshot = node(settings={"allow_auto_truncate": True})
    (verdict,) = judge_nodes([snapshot], RULES, today=TODAY, accepted={key: [accepted]})
    assert verdict.conformity is Conformity.FAIL


def test_an_accepted_rule_that_cannot_be_told_leaves_nothing_unknown() -> None:
    snapshot = without(node(), "allow_auto_truncate")
    accepted = {("glm", "n0"): [acceptance("sglang-auto-truncate", TODAY)]}
    assert conformities([snapshot]) == [Conformity.UNKNOWN]
    (verdict,) = judge_nodes([snapshot], RULES, today=TODAY, accepted=accepted)
    assert verdict.conformity is Conformity.PASS


def test_nobody_can_accept_that_a_node_was_not_reached() -> None:
    accepted = {("glm", "n0"): [acceptance(NOT_REACHED, TODAY)]}
    (verdict,) = judge_nodes([silent(node())], RULES, today=TODAY, accepted=accepted)
    assert verdict.conformity is Conformity.UNKNOWN


def test_a_gateway_that_states_a_few_tokens_more_is_none() -> None:
    for stated, expected in ((CONTEXT, Conformity.PASS), (CONTEXT + 3, Conformity.WARN)):
        (verdict,) = judge_nodes([node()], RULES, today=TODAY, advertised={"glm": stated})
        assert verdict.conformity is expected


def test_no_word_of_a_server_gets_into_a_sentence() -> None:
    planted = "sk-planted0secret0planted0secret"
    words = dict.fromkeys(("kv_cache_dtype", "attention_backend", "page_size"), planted)
    fleet = [
        bound(version=f"0.5.11+{planted}", models=(planted,), settings=words),
        decode(version=f"1.0!{planted}", models=(planted,), settings={"page_size": 1}),
    ]
    verdicts = judge_nodes(fleet, RULES, today=TODAY)
    assert not [m for v in verdicts for m in v.matches if planted in m.why]


# Whatever is told, a verdict comes out, and telling less never makes a node look better.

TOKENS = st.one_of(st.none(), st.sampled_from([0, 1, 94_994, CONTEXT - 6, CONTEXT, 10**10]))
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["auto", "fp8_e4m3", "bfloat16", "dsv4", "dsa", "True", "none", ""]),
    st.text(max_size=8),
)
SETTING_NAMES = sorted({*node().facts.settings, *node(engine="vllm").facts.settings, "n_ctx_train"})
VERSIONS = st.one_of(
    st.none(),
    st.text(max_size=70),
    st.sampled_from(
        ["0.5.11", "0.5.20", FLOOR, DEV, "0.28.0", "0.7.1", "b6123-4fd1242b", "9" * 60]
    ),
)


@st.composite
def snapshots(draw: st.DrawFn, name: str) -> NodeSnapshot:
    engine = draw(st.sampled_from(["sglang", "sglang", "vllm", "llama.cpp", "ollama", "x", None]))
    role = draw(st.sampled_from(Role)) if engine == "sglang" else Role.UNIFIED
    said = role if engine != "sglang" else draw(st.sampled_from([role, None]))
    facts = NodeFacts(
        engine=engine,
        version=draw(VERSIONS),
        role=said,
        models=tuple(draw(st.lists(st.sampled_from("ab"), max_size=2))),
        advertised_tokens=draw(TOKENS),
        enforced_tokens=draw(TOKENS),
        pool_tokens=draw(TOKENS),
        pool_bound=draw(st.sampled_from([True, False, None])),
        slots=draw(st.sampled_from([None, 1, 4])),
        settings=draw(st.dictionaries(st.sampled_from(SETTING_NAMES), VALUES, max_size=13)),
    )
    return NodeSnapshot(
        node=name,
        target="t",
        read_at=READ_AT,
        role=Role.UNIFIED if said is None else role,
        reached=draw(st.sampled_from([True, True, True, False])),
        facts=facts,
        live=Live(counters=dict(node(drafted=draw(st.floats())).live.counters)),
    )


FLEETS = st.integers(1, 4).flatmap(lambda n: st.tuples(*(snapshots(f"n{i}") for i in range(n))))


@given(FLEETS)
@settings(max_examples=80, deadline=None)
def test_any_fleet_gets_its_verdicts(fleet: tuple[NodeSnapshot, ...]) -> None:
    for rules in (RULES, STRICT):
        verdicts = judge_nodes(fleet, rules, today=TODAY, advertised={"t": CONTEXT})
        assert [each.snapshot for each in verdicts] == list(fleet)
        for verdict in verdicts:
            names = [each.rule for each in verdict.matches]
            assert len(names) == len(set(names))
            if not verdict.snapshot.reached:
                assert verdict.conformity is Conformity.UNKNOWN


def _tells_less(snapshot: NodeSnapshot, what: str) -> NodeSnapshot:
    """Return a node as its reader would have left it without one fact, setting or all of it."""
    facts = snapshot.facts
    if what == "node":
        return silent(snapshot)
    if what == "counters":
        return replace(snapshot, live=Live())
    if what == "models":
        return replace(snapshot, facts=replace(facts, models=()))
    if what == "role" and facts.engine == "sglang":
        return replace(snapshot, role=Role.UNIFIED, facts=replace(facts, role=None))
    if what in SETTING_NAMES:
        return without(snapshot, what)
    return snapshot if what == "role" else without(snapshot, **{what: None})


FACTS = ("version", "advertised_tokens", "enforced_tokens", "pool_tokens", "pool_bound", "slots")
LOSSES = st.sampled_from(["node", "counters", "models", "role", "engine", *FACTS, *SETTING_NAMES])


@given(FLEETS, st.integers(0, 3), LOSSES)
@settings(max_examples=200, deadline=None)
def test_telling_less_never_makes_a_node_look_better(
    fleet: tuple[NodeSnapshot, ...], which: int, loss: str
) -> None:
    which %= len(fleet)
    poorer = [_tells_less(s, loss) if i == which else s for i, s in enumerate(fleet)]
    for rules in (RULES, STRICT):
        before, after = conformities(fleet, rules), conformities(poorer, rules)
        for place, (full, less) in enumerate(zip(before, after, strict=True)):
            if full in (Conformity.FAIL, Conformity.UNKNOWN):
                assert less in (Conformity.FAIL, Conformity.UNKNOWN)
            if place == which and full is Conformity.WARN:
                assert less is not Conformity.PASS


@given(FLEETS, st.sampled_from(sorted(RULES.ids)), st.integers(-2, 2))
@settings(max_examples=80, deadline=None)
def test_accepting_one_rule_hides_no_other(
    fleet: tuple[NodeSnapshot, ...], rule: str, days: int
) -> None:
    until = TODAY + timedelta(days=days)
    accepted: Mapping = {("t", each.node): [acceptance(rule, until)] for each in fleet}
    plain = judge_nodes(fleet, RULES, today=TODAY)
    waived = judge_nodes(fleet, RULES, today=TODAY, accepted=accepted)
    for one, two in zip(plain, waived, strict=True):
        assert [m for m in one.matches if m.rule != rule] == [
            m for m in two.matches if m.rule != rule
        ]
        assert sorted(m.rule for m in one.matches) == sorted(m.rule for m in two.matches)
        assert ORDER.index(two.conformity) <= ORDER.index(one.conformity)
        if days < 0:
            assert one.conformity is two.conformity
