"""The language of rules: what it compares, what it leaves untold, and that it always ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from monitor.nodes import NodeCounter, Role
from monitor.nodes.predicate import (
    AllOf,
    AnyOf,
    AnyPeer,
    Comparison,
    NotSo,
    Operator,
    Predicate,
    Reference,
    Relation,
    Released,
    Truth,
    evaluate,
    subjects_of,
)
from monitor.nodes.predicate_parsing import PredicateError, parse_predicate
from monitor.nodes.view import FACTS, Kind, NodeView, Subject, Value, view_of
from tests.unit.nodes.judged import decode, node, prefill

UNTOLD = {"fact": "slots", "above": 0}


def view(name: str = "n0", role: Role | None = Role.UNIFIED, **settings: Value) -> NodeView:
    values = {Subject(Kind.SETTING, key): value for key, value in settings.items()}
    return NodeView(node=name, role=role, release=None, values=values)


def truth(raw: object, *others: NodeView, **settings: Value) -> Truth:
    return evaluate(parse_predicate(raw), view(**settings), others).truth


def compared(value: Value, **test: object) -> Truth:
    return truth({"setting": "x", **test}, x=value)


@pytest.mark.parametrize(
    ("value", "test", "expected"),
    [
        ("fp8", {"is": "fp8"}, True),
        ("fp8", {"is": "FP8"}, True),
        ("fp8", {"is_not": "bf16"}, True),
        (8, {"is": 8}, True),
        (8, {"is": 8.0}, True),
        (8, {"is": "8"}, False),
        (1, {"is": True}, True),
        (1.0, {"is": True}, True),
        (0, {"is": True}, False),
        (0, {"is_not": True}, True),
        (2, {"is": True}, None),
        ("1", {"is": True}, None),
        ("yes", {"is": True}, None),
        ("enabled", {"is_not": True}, None),
        ("on", {"in": [True, "on"]}, True),
        ("on", {"in": [True, "off"]}, None),
        (True, {"is": True}, True),
        (None, {"is": True}, None),
        (None, {"is_set": True}, False),
        (None, {"is_set": False}, True),
        (0, {"is_set": True}, True),
        ("a", {"in": ["a", "b"]}, True),
        ("c", {"in": ["a", "b"]}, False),
        ("c", {"not_in": ["a", "b"]}, True),
        (None, {"in": ["a"]}, False),
        (5, {"above": 4}, True),
        (5, {"above": 5}, False),
        (5, {"at_least": 5}, True),
        (5, {"below": 5}, False),
        (5, {"at_most": 5}, True),
        (10**400, {"above": 1.5}, True),
        ("5", {"above": 4}, None),
        (None, {"above": 4}, None),
        (True, {"above": 0}, None),
        (float("nan"), {"above": 0}, None),
        (float("inf"), {"below": 1}, None),
        ("flashmla", {"has": "mla"}, True),
        ("fa3", {"has": "mla"}, False),
        (3, {"has": "mla"}, None),
        (None, {"has": "mla"}, False),
    ],
)
def test_a_value_against_a_literal(value: Value, test: dict, expected: Truth) -> None:
    assert compared(value, **test) is expected


@pytest.mark.parametrize(
    ("said", "asked"), [("none", "None"), ("null", "none"), (None, "null"), ("True", "true")]
)
def test_a_rule_and_a_node_write_flags_and_nothing_the_same_way(said: Value, asked: str) -> None:
    seen = view_of(node(settings={"mamba_cache_mode": said}))

    def holds(**test: object) -> Truth:
        return evaluate(parse_predicate({"setting": "mamba_cache_mode", **test}), seen).truth

    assert holds(**{"is": asked}) is holds(**{"in": ["align", asked]}) is True
    assert holds(is_not=asked) is holds(not_in=["align", asked]) is False


@pytest.mark.parametrize("word", ["true", "none"])
def test_what_is_no_text_is_in_none(word: str) -> None:
    with pytest.raises(PredicateError, match="must be text other than true, false, none and null"):
        parse_predicate({"setting": "x", "has": word})


def test_sglang_chooses_a_backend_that_is_not_set() -> None:
    raw = {"setting": "attention_backend", "in": ["dsa"]}
    for said, expected in ((None, None), ("None", None), ("auto", None), ("fa3", False)):
        seen = view_of(node(settings={"attention_backend": said}))
        assert evaluate(parse_predicate(raw), seen).truth is expected


@pytest.mark.parametrize("test", [{"is": "fp8"}, {"is_not": "fp8"}, {"in": ["fp8"]}, {"has": "8"}])
def test_what_is_left_to_the_engine_may_be_anything(test: dict) -> None:
    assert compared("auto", **test) is None
    assert compared("auto", is_set=True) is True
    assert compared("auto", **{"is": "auto"}) is True
    assert compared("fp8", **{"is": "auto"}) is False


@pytest.mark.parametrize(
    ("mine", "other", "expected"),
    [("fp8", "fp8", True), ("fp8", "bf16", False), ("auto", "fp8", None), ("auto", "auto", True)],
)
def test_a_value_against_another(mine: Value, other: Value, expected: Truth) -> None:
    assert truth({"setting": "x", "is": {"setting": "y"}}, x=mine, y=other) is expected
    assert truth({"setting": "y", "is": {"setting": "x"}}, x=mine, y=other) is expected


def test_a_few_more_may_be_added_to_what_is_compared_with() -> None:
    raw = {"setting": "x", "above": {"setting": "y", "plus": 8}}
    assert [truth(raw, x=x, y=100) for x in (108, 109)] == [False, True]
    assert truth(raw, x=5, y="no number") is None


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"all": [{"setting": "x", "is": 2}, UNTOLD]}, False),
        ({"all": [UNTOLD, {"setting": "x", "is": 2}]}, False),
        ({"all": [{"setting": "x", "is": 1}, UNTOLD]}, None),
        ({"all": [{"setting": "x", "is": 1}, {"setting": "x", "below": 2}]}, True),
        ({"any": [UNTOLD, {"setting": "x", "is": 1}]}, True),
        ({"any": [UNTOLD, {"setting": "x", "is": 2}]}, None),
        ({"any": [{"setting": "x", "is": 3}, {"setting": "x", "is": 2}]}, False),
        ({"not": UNTOLD}, None),
        ({"not": {"setting": "x", "is": 1}}, False),
    ],
)
def test_what_is_not_told_is_neither_true_nor_false(raw: object, expected: Truth) -> None:
    assert truth(raw, x=1) is expected


def test_what_is_missing_is_named() -> None:
    raw = {"any": [UNTOLD, {"setting": "y", "is": 1}, {"version": "<1"}]}
    found = evaluate(parse_predicate(raw), view())
    assert sorted(map(str, found.missing)) == ["slots", "version of a release", "y"]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.5.19", True),
        ("0.5.19.post2", True),
        ("0.5.20", False),
        ("0.5.20.post1", False),
        ("0.6", False),
        ("0.5.20rc1", None),
        ("0.5.20.dev3", None),
        ("0.0.0.dev1+g70df09b83", None),
        ("0.0.0", None),
        ("nightly", None),
        (None, None),
    ],
)
def test_only_releases_are_in_a_range(version: str | None, expected: Truth) -> None:
    assert (
        evaluate(parse_predicate({"version": "<0.5.20"}), view_of(node(version=version))).truth
        is expected
    )


def test_builds_of_llama_cpp_are_numbers() -> None:
    served = view_of(node(engine="llama.cpp", version="b6123-4fd1242b"))
    assert evaluate(parse_predicate({"version": ">=6000,<7000"}), served).truth is True


DIFFERS = {"setting": "x", "is_not": {"own_setting": "x"}}


def peer_truth(role: str, own: NodeView, *others: NodeView) -> Truth:
    raw = {"any_peer": {"role": role, "holds": DIFFERS}}
    return evaluate(parse_predicate(raw), own, others).truth


def test_a_peer_is_a_node_of_the_same_role_or_of_the_other_half() -> None:
    own = view(role=Role.PREFILL, x=1)
    same, other = view("a", Role.PREFILL, x=2), view("b", Role.DECODE, x=2)
    assert peer_truth("replica", own, same) is True
    assert peer_truth("replica", own, other) is False
    assert peer_truth("counterpart", own, other) is True
    assert peer_truth("counterpart", own, view("c", Role.DECODE, x=1)) is False


def test_a_half_without_the_other_half_cannot_be_told_of() -> None:
    own = view(role=Role.DECODE, x=1)
    assert peer_truth("counterpart", own) is None
    assert peer_truth("counterpart", own, view("a", Role.DECODE, x=2)) is None
    assert peer_truth("replica", own) is False
    assert peer_truth("counterpart", view(x=1), view("a", Role.DECODE, x=2)) is False


def test_a_node_of_unknown_role_may_be_a_peer() -> None:
    own = view(role=Role.PREFILL, x=1)
    like, unlike = view("a", None, x=1), view("b", None, x=2)
    assert peer_truth("replica", own, like) is False
    assert peer_truth("replica", own, unlike) is None
    assert peer_truth("counterpart", own, like) is None
    assert peer_truth("replica", view(role=None, x=1), unlike) is None


def test_one_true_peer_is_enough_and_is_named() -> None:
    own = view(role=Role.PREFILL, x=1)
    raw = {"any_peer": {"role": "counterpart", "holds": DIFFERS}}
    others = [view("a", Role.DECODE), view("b", Role.DECODE, x=2)]
    found = evaluate(parse_predicate(raw), own, others)
    assert found.truth is True
    assert found.peer is others[1]


def test_counters_and_facts_are_seen() -> None:
    seen = view_of(node(drafted=3.0), gateway_tokens=5)
    drafting = {"counter": "drafted", "above": 2}
    assert evaluate(parse_predicate(drafting), seen).truth is True
    assert evaluate(parse_predicate({"fact": "gateway_tokens", "is": 5}), seen).truth is True
    assert {str(each) for each in NodeCounter} >= {"drafted"}
    assert not {"gateway_tokens"} & {s.name for s in view_of(node()).values}


@pytest.mark.parametrize(
    ("written", "read"), [("True", True), ("False", False), ("None", None), (" FP8 ", "fp8")]
)
def test_settings_have_one_writing(written: str, read: Value) -> None:
    seen = view_of(node(engine="vllm", settings={"cache_dtype": written}))
    assert seen.values[Subject(Kind.SETTING, "cache_dtype")] == read


def test_roles() -> None:
    assert view_of(prefill()).role is Role.PREFILL
    assert view_of(decode(engine="vllm")).role is Role.DECODE
    assert view_of(node(engine="vllm")).role is Role.UNIFIED


# Total, and Kleene's: telling less turns a truth into untold, and never into the other one.

NAMES = ["x", "y"]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["auto", "a", "b"]),
    st.lists(st.sampled_from(["a", "b", "auto"]), max_size=2).map(tuple),
)
SUBJECTS = st.one_of(
    st.sampled_from(NAMES).map(lambda name: Subject(Kind.SETTING, name)),
    st.sampled_from(sorted(FACTS)).map(lambda name: Subject(Kind.FACT, name)),
)
OPERANDS = st.one_of(VALUES, st.builds(Reference, SUBJECTS, st.booleans(), st.integers(-3, 3)))
LEAVES: st.SearchStrategy[Predicate] = st.one_of(
    st.builds(Comparison, SUBJECTS, st.sampled_from(Operator), OPERANDS),
    st.sampled_from(["<1", ">=0.5,<0.6"]).map(lambda s: Released(SpecifierSet(s))),
)
PREDICATES: st.SearchStrategy[Predicate] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(tuple).map(AllOf),
        st.lists(inner, min_size=1, max_size=3).map(tuple).map(AnyOf),
        st.builds(NotSo, inner),
        st.builds(AnyPeer, st.sampled_from(Relation), inner),
    ),
    max_leaves=8,
)
VIEWS = st.builds(
    NodeView,
    node=st.just("n"),
    role=st.one_of(st.none(), st.sampled_from(Role)),
    release=st.one_of(st.none(), st.sampled_from([Version("0.5.1"), Version("2")])),
    values=st.dictionaries(SUBJECTS, VALUES, max_size=8),
)


@given(PREDICATES, VIEWS, st.lists(VIEWS, max_size=3))
@settings(max_examples=200, deadline=None)
def test_any_predicate_of_any_values_ends(
    predicate: Predicate, own: NodeView, others: list[NodeView]
) -> None:
    found = evaluate(predicate, own, others)
    assert found.truth in (True, False, None)
    assert bool(found.missing) is (found.truth is None)


@given(PREDICATES, VIEWS, st.lists(VIEWS, max_size=3), st.data())
@settings(max_examples=300, deadline=None)
def test_telling_less_never_turns_a_truth_round(
    predicate: Predicate, own: NodeView, others: list[NodeView], data: st.DataObject
) -> None:
    def poorer(full: NodeView) -> NodeView:
        lost = data.draw(st.sets(st.sampled_from([*full.values, "role", "release"])))
        return NodeView(
            node=full.node,
            role=None if "role" in lost else full.role,
            release=None if "release" in lost else full.release,
            values={key: value for key, value in full.values.items() if key not in lost},
        )

    before = evaluate(predicate, own, others).truth
    after = evaluate(predicate, poorer(own), [poorer(each) for each in others]).truth
    assert after is before or after is None


@given(PREDICATES, VIEWS)
@settings(max_examples=100, deadline=None)
def test_what_a_predicate_does_not_name_does_not_matter(
    predicate: Predicate, own: NodeView
) -> None:
    named = set(subjects_of(predicate))
    kept = {key: value for key, value in own.values.items() if key in named}
    less = NodeView(node=own.node, role=own.role, release=own.release, values=kept)
    assert evaluate(predicate, own).truth is evaluate(predicate, less).truth
