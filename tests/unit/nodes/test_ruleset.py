"""Rules are read strictly: an error names file, line and path, whatever the bytes are."""

from __future__ import annotations

import contextlib
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config.load import MAX_BYTES
from monitor.errors import ConfigError
from monitor.nodes import Conformity
from monitor.nodes.ruleset import MOST_FILES, load_rules
from tests.architecture.source import ROOT
from tests.unit.nodes.judged import RULES, STRICT

DOCS = ROOT / "docs"
RULE = """\
version: 1
rules:
  - id: own-rule
    engine: sglang
    versions: "<0.5.22"
    when:
      all:
        - {fact: role, in: [prefill, decode]}
        - {setting: page_size, above: 1}
    severity: warn
    why: pages of {setting.page_size} tokens in {version}
    link: https://example.com/report
    public: 2026-11-01
    shape: boundary
    reviewed: 2026-12-01
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, text: str, name: str = "own.yaml") -> Path:
    (folder / name).write_text(text, "utf-8")
    return folder


def message(folder: Path, text: str, **options: object) -> str:
    with pytest.raises(ConfigError) as raised:
        load_rules(write(folder, text), **options)  # type: ignore[arg-type]
    return str(raised.value).replace(f"{folder}/", "")


def test_own_rules_are_added_to_those_that_come_along(folder: Path) -> None:
    rules = load_rules(write(folder, RULE))
    assert rules.ids == RULES.ids | {"own-rule"}
    own = rules.rules[-1]
    assert (own.severity, own.public, own.shape) == (Conformity.WARN, date(2026, 11, 1), "boundary")
    assert own.reviewed == date(2026, 12, 1)
    assert rules.dated == RULES.dated == max(rule.reviewed for rule in RULES.rules)
    assert rules.sha256 != RULES.sha256


def test_the_sum_is_of_what_the_files_say(folder: Path) -> None:
    assert load_rules().sha256 == RULES.sha256 == STRICT.sha256
    one = load_rules(write(folder, RULE)).sha256
    assert load_rules(write(folder, f"{RULE}# a remark\n")).sha256 != one


def test_the_example_of_the_page_is_a_rule(folder: Path) -> None:
    page = (DOCS / "node-rules.md").read_text("utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    assert "own-no-drafting-on-small-pages" in load_rules(write(folder, example)).ids


def test_strict_changes_how_bad_and_never_how_many(folder: Path) -> None:
    softer = {
        rule.id: (RULES.severity(rule), STRICT.severity(rule))
        for rule in RULES.rules
        if RULES.severity(rule) is not STRICT.severity(rule)
    }
    assert softer["sglang-pd-below-floor"] == (Conformity.WARN, Conformity.FAIL)
    assert softer["vllm-prefix-cache-shared"] == (None, Conformity.WARN)
    assert RULES.ids == STRICT.ids


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "engine: sglang",
            "engine: sglnag",
            "own.yaml:4: rules[0].engine: is not an engine that is read (did you mean 'sglang'?)",
        ),
        (
            "fact: role",
            "fact: roll",
            "own.yaml:8: rules[0].when.all[0].fact: unknown fact 'roll' (did you mean 'role'?)",
        ),
        (
            "{setting: page_size, above: 1}",
            "{setting: page_sise, above: 1}",
            (
                "own.yaml:6: rules[0].when: the setting 'page_sise' is not read "
                "(did you mean 'page_size'?)"
            ),
        ),
        (
            "{setting.page_size}",
            "{peer.setting.page_sise}",
            (
                "own.yaml:11: rules[0].why: the setting 'page_sise' is not read "
                "(did you mean 'page_size'?)"
            ),
        ),
        (
            "in: [prefill, decode]",
            "is: prefill, in: [a]",
            (
                "own.yaml:8: rules[0].when.all[0]: compares 2 ways (write one of: is, is_not, in, "
                "not_in, below, at_most, above, at_least, has, is_set)"
            ),
        ),
        (
            "above: 1",
            "above: many",
            "own.yaml:9: rules[0].when.all[1].above: must be a number, not 'many' (write a number)",
        ),
        (
            "above: 1",
            "above: 1e999",
            "own.yaml:9: rules[0].when.all[1].above: must be text, a number, true or false, not",
        ),
        (
            "above: 1",
            "above: {own_setting: page_size}",
            (
                "own.yaml:9: rules[0].when.all[1].above: names no value to compare with "
                "(write one of: fact, setting, counter)"
            ),
        ),
        (
            'versions: "<0.5.22"',
            "versions: new",
            (
                "own.yaml:5: rules[0].versions: 'new' is not a range of versions "
                "(write releases as in '>=0.5.20,<0.5.22')"
            ),
        ),
        (
            'versions: "<0.5.22"',
            'versions: "<0.5.22rc1"',
            (
                "own.yaml:5: rules[0].versions: names a version that is no release "
                "(write releases as in '>=0.5.20,<0.5.22')"
            ),
        ),
        (
            "      all:\n",
            "      every:\n",
            (
                "own.yaml:7: rules[0].when.every: unknown key 'every' (use one of: all, any, "
                "any_peer, counter, fact, not, setting, version)"
            ),
        ),
        (
            "severity: warn",
            "severity: bad",
            "own.yaml:10: rules[0].severity: unknown value 'bad' (use one of: fail, warn)",
        ),
        (
            "    severity: warn\n",
            "",
            "own.yaml:3: rules[0]: never counts (add severity, strict_severity or both)",
        ),
        (
            "{setting.page_size}",
            "{page_sizes}",
            "own.yaml:11: rules[0].why: has a hole 'page_sizes' that nothing fills",
        ),
        (
            "in {version}",
            "in {version",
            (
                "own.yaml:11: rules[0].why: has a brace that nothing closes or opens "
                "(write {enforced_tokens} and the like)"
            ),
        ),
        (
            "public: 2026-11-01",
            "public: soon",
            (
                "own.yaml:13: rules[0].public: 'soon' is not a date (write year-month-day, such as "
                "2027-01-31)"
            ),
        ),
        (
            "id: own-rule",
            "id: sglang-pool-bound",
            (
                "own.yaml:3: rules[0].id: the rule 'sglang-pool-bound' is already in sglang.yaml "
                "(give it another name, or remove one of them)"
            ),
        ),
        (
            "    reviewed: 2026-12-01\n",
            "    reviewed: 2026-12-01\n    lambda: 1\n",
            "own.yaml:16: rules[0].lambda: unknown key 'lambda'",
        ),
    ],
)
def test_an_error_says_where_and_what_to_do(
    folder: Path, old: str, new: str, expected: str
) -> None:
    assert old in RULE
    assert message(folder, RULE.replace(old, new, 1)).startswith(expected)


def test_a_shape_is_a_probe_that_exists(folder: Path) -> None:
    write(folder, RULE)
    assert "own-rule" in load_rules(folder, shapes=SHAPES).ids
    said = message(folder, RULE.replace("shape: boundary", "shape: bounds"), shapes=SHAPES)
    assert said == (
        "own.yaml:14: rules[0].shape: is not a probe that exists (did you mean 'boundary'?)"
    )


SHAPES = ["abort", "boundary", "burst", "golden", "prefix", "repeat"]


def test_several_wrong_predicates_are_said_at_once(folder: Path) -> None:
    second = RULE.partition("rules:\n")[2].replace("own-rule", "another")
    said = message(folder, RULE.replace("role", "roll") + second.replace("page_size", "''", 1))
    assert [line.split(": ")[0] for line in said.splitlines()] == ["own.yaml:8", "own.yaml:22"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "own.yaml:1: the file is empty (begin with version: 1)"),
        ("version: 1\nrules: []\n", "own.yaml:2: rules: has 0 rules, not 1 to 200 (share"),
        (RULE.replace("version: 1", "version: 2"), "own.yaml:1: version: unknown value 2"),
        (RULE.replace("page_size, above", "&a page_size, above"), "own.yaml:9: "),
        ("a: &a [x]\nb: *a\n", "own.yaml:1: a: anchors (&name) are not read"),
        (f"version: 1\nrules: {'[' * 60}{']' * 60}\n", "own.yaml:2: nested too deeply"),
        (f"version: 1\n#{'x' * MAX_BYTES}\n", "own.yaml: larger than 256 KiB (mend it, or"),
    ],
)
def test_hostile_files_are_refused(folder: Path, text: str, expected: str) -> None:
    assert message(folder, text).startswith(expected)


def test_a_bomb_of_aliases_is_no_bomb(folder: Path) -> None:
    lines = ["version: 1", "a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    assert "aliases (*name) are not read" in message(folder, "\n".join(lines))


def test_too_many_rules_are_refused(folder: Path) -> None:
    rule = RULE.partition("rules:\n")[2]
    many = "".join(rule.replace("own-rule", f"rule-{n}") for n in range(201))
    assert "rules: has 201 rules, not 1 to 200" in message(folder, f"version: 1\nrules:\n{many}")


def test_a_folder_is_named_and_has_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        load_rules(tmp_path / "gone")
    with pytest.raises(ConfigError, match="has 0 files of rules"):
        load_rules(tmp_path)
    write(tmp_path, RULE, "own.yml")
    with pytest.raises(ConfigError, match=r"own\.yml: is not looked at"):
        load_rules(tmp_path)


def test_a_folder_has_not_too_many_files(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 1):
        write(tmp_path, RULE, f"{number}.yaml")
    with pytest.raises(ConfigError, match=f"has {MOST_FILES + 1} files"):
        load_rules(tmp_path)


def test_no_expression_is_ever_run(folder: Path) -> None:
    for code in ("__import__('os').getcwd()", "1 if x else 2", "lambda: 0"):
        raw = RULE.replace("above: 1", f'above: "{code}"')
        assert "must be a number" in message(folder, raw)


def test_a_peer_stands_within_no_other_peer(folder: Path) -> None:
    inner = "{any_peer: {role: replica, holds: {fact: slots, above: 1}}}"
    raw = RULE.replace(
        "{setting: page_size, above: 1}", f"any_peer: {{role: replica, holds: {inner}}}"
    )
    assert message(folder, raw).startswith(
        "own.yaml:9: rules[0].when.all[1].any_peer.holds.any_peer: stands within another any_peer"
    )


PIECES = st.sampled_from(
    [
        *("all", "any", "not", "any_peer", "fact", "setting", "is", "in", "holds", "role"),
        *("own_fact", "version", "plus", "<1", "replica", "x"),
        *("{", "}", "[", "]", ":", "- ", "\n", "  ", "&a"),
    ]
)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | PIECES | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PIECES, inner, max_size=3),
    max_leaves=10,
)


def survive(folder: Path, text: str) -> None:
    """Load it; only a ``ConfigError`` may come out."""
    write(folder, text)
    with contextlib.suppress(ConfigError):
        load_rules(folder)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rules")


@given(TREES)
@settings(max_examples=40, deadline=None)
def test_any_predicate_is_read_or_refused(shared: Path, tree: object) -> None:
    data = yaml.safe_load(RULE)
    data["rules"][0] |= {"when": tree, "public": "2026-11-01", "reviewed": "2026-12-01"}
    survive(shared, yaml.safe_dump(data, allow_unicode=True, sort_keys=False))


@given(st.lists(st.tuples(st.integers(0, len(RULE)), PIECES, st.integers(0, 9)), max_size=4))
@settings(max_examples=40, deadline=None)
def test_any_mutation_of_a_rule_is_read_or_refused(
    shared: Path, cuts: list[tuple[int, str, int]]
) -> None:
    text = RULE
    for place, piece, dropped in cuts:
        text = text[:place] + piece + text[place + dropped :]
    survive(shared, text)
