"""A museum of broken suites, each with its exact message."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.errors import ConfigError
from monitor.prompts import AllOf, AnyOf, DateIs, ListHas, NoneOf, NumberIs, load_suites
from monitor.prompts.pattern import PatternError, check_pattern, fits

HEAD = "version: 1\nsuite: facts\nlanguage: en\nprompts:\n"
FRANCE = '  - id: capital-france\n    prompt: "Capital of France?"\n'
EXPECT = FRANCE + "    expect:\n"
GOOD = HEAD + EXPECT + '      - any: ["Paris"]\n'

MUSEUM = {
    "unknown key": (
        HEAD + '  - id: a\n    promt: "x"\n    expect: [{any: [y]}]\n',
        ":6: prompts[0].promt: unknown key 'promt' (did you mean 'prompt'?)",
    ),
    "missing key": (
        HEAD + '  - id: a\n    prompt: "x"\n',
        ":5: prompts[0].expect: missing key 'expect' (add it)",
    ),
    "unknown key of a prompt": (
        GOOD + "    tag: [geography]\n",
        ":9: prompts[0].tag: unknown key 'tag' (did you mean 'tags'?)",
    ),
    "unknown key of the file": (
        "temperature: 0\n" + GOOD,
        ":1: temperature: unknown key 'temperature' (allowed: version, suite, language, prompts)",
    ),
    "unknown kind": (
        HEAD + EXPECT + "      - xyz: [Paris]\n",
        (
            ":8: prompts[0].expect[0].xyz: unknown key 'xyz' (allowed: any, all, none, number,"
            " tolerance, units, date, items, json, pattern)"
        ),
    ),
    "repeated key": (
        GOOD + "    id: again\n",
        ":9: prompts[0]: key 'id' occurs twice (keep one of them)",
    ),
    "repeated id": (
        GOOD + EXPECT.removeprefix(HEAD) + "      - any: [Paris]\n",
        (
            ":9: prompts[1].id: id 'capital-france' is taken by prompts[0] of en.yaml"
            " (give each prompt of a suite its own id)"
        ),
    ),
    "bad pattern": (
        HEAD + EXPECT + "      - pattern: '(Paris'\n",
        (
            ":8: prompts[0].expect[0].pattern: bad pattern: unbalanced '('"
            " (see 'Patterns' in golden_prompts/README.md)"
        ),
    ),
    "unquoted text": (
        HEAD + EXPECT + "      - any: [Paris, 1969]\n",
        ":8: prompts[0].expect[0].any[1]: expected text, found a number (put quotes around it)",
    ),
    "unquoted no": (
        HEAD + EXPECT + "      - none: [no]\n",
        ":8: prompts[0].expect[0].none[0]: expected text, found true/false (put quotes around it)",
    ),
    "quoted number": (
        HEAD + EXPECT + '      - number: "42"\n',
        ":8: prompts[0].expect[0].number: expected a number, found text (write it without quotes)",
    ),
    "infinite number": (
        HEAD + EXPECT + "      - number: .nan\n",
        (
            ":8: prompts[0].expect[0].number: the number is too large"
            " (ask for one of at most 15 digits)"
        ),
    ),
    "string for a list": (
        HEAD + EXPECT + "      - any: Paris\n",
        (
            ":8: prompts[0].expect[0].any: expected a list, found text"
            " (write it as [a, b] or with '- ')"
        ),
    ),
    "two kinds in one": (
        HEAD + EXPECT + "      - any: [Paris]\n        number: 3\n",
        (
            ":8: prompts[0].expect[0]: an expectation is exactly one of any, all, none, number,"
            " date, items, json, pattern; found any and number (make each its own list entry)"
        ),
    ),
    "tolerance of a string": (
        HEAD + EXPECT + "      - any: [Paris]\n        tolerance: 3\n",
        ":8: prompts[0].expect[0]: tolerance and units belong to a number (remove them)",
    ),
    "blank string": (
        HEAD + EXPECT + '      - any: ["\\u200b"]\n',
        ":8: prompts[0].expect[0].any[0]: the text is blank (write at least one visible character)",
    ),
    "json of a text prompt": (
        HEAD + EXPECT + "      - json: {city: Paris}\n",
        (
            ":5: prompts[0]: a json expectation and 'structure: json' need each other"
            " (add the one that is missing)"
        ),
    ),
    "no expectations": (
        HEAD + FRANCE + "    expect: []\n",
        (
            ":7: prompts[0].expect: list should have at least 1 item after validation, not 0"
            " (see golden_prompts/README.md)"
        ),
    ),
    "bad id": (
        GOOD.replace("capital-france", "Capital France"),
        ":5: prompts[0].id: 'Capital France' is not a valid id (use lower case, digits and '-')",
    ),
    "too many tokens": (
        GOOD + "    max_output_tokens: 4096\n",
        (
            ":9: prompts[0].max_output_tokens: input should be less than or equal to 256"
            " (see golden_prompts/README.md)"
        ),
    ),
    "met by nothing": (
        HEAD + EXPECT + "      - none: [Lyon]\n",
        (
            ":7: prompts[0].expect: an empty answer would meet every expectation"
            " (add an any, all, number, date, json or pattern)"
        ),
    ),
    "a length and no fact": (
        HEAD + EXPECT + "      - items: 7\n",
        (
            ":7: prompts[0].expect: an empty answer would meet every expectation"
            " (add an any, all, number, date, json or pattern)"
        ),
    ),
    "a list of one": (
        GOOD + "      - items: 1\n",
        (
            ":9: prompts[0].expect[1].items: input should be greater than or equal to 2"
            " (see golden_prompts/README.md)"
        ),
    ),
    "date in words": (
        HEAD + EXPECT + "      - date: 20 July 1969\n",
        ":8: prompts[0].expect[0].date: expected a date, found text (write it as 1969-07-20)",
    ),
    "date with a time": (
        HEAD + EXPECT + "      - date: 1969-07-20 20:17:40\n",
        ":8: prompts[0].expect[0].date: expected a date, found text (write it as 1969-07-20)",
    ),
    "year for a date": (
        HEAD + EXPECT + "      - date: 1969\n",
        ":8: prompts[0].expect[0].date: expected a date, found a number (write it as 1969-07-20)",
    ),
    "no such day": (
        HEAD + EXPECT + "      - date: 1969-02-30\n",
        (
            ":8: prompts[0].expect[0].date: 1969-02-30 is not in the calendar"
            " (mend the day or the month)"
        ),
    ),
    "tolerance of a date": (
        HEAD + EXPECT + "      - date: 1969-07-20\n        tolerance: 3\n",
        ":8: prompts[0].expect[0]: tolerance and units belong to a number (remove them)",
    ),
    "code of no language": (
        GOOD + "    structure: code\n",
        (
            ":5: prompts[0]: 'code_language' and 'structure: code' need each other"
            " (add the one that is missing)"
        ),
    ),
    "language of no code": (
        GOOD + "    code_language: python\n",
        (
            ":5: prompts[0]: 'code_language' and 'structure: code' need each other"
            " (add the one that is missing)"
        ),
    ),
    "odd language of code": (
        GOOD + "    structure: code\n    code_language: C++\n",
        (
            ":10: prompts[0].code_language: 'C++' is not a valid code_language"
            " (use lower case, digits and '-')"
        ),
    ),
    "two references": (
        GOOD + "    references: [Paris, It is Paris.]\n",
        (
            ":9: prompts[0].references: list should have at least 3 items after validation, not 2"
            " (see golden_prompts/README.md)"
        ),
    ),
    "blank reference": (
        GOOD + '    references: [Paris, It is Paris., " "]\n',
        (":9: prompts[0].references[2]: the text is blank (write at least one visible character)"),
    ),
    "repeated reference": (
        GOOD + "    references:\n      - Paris\n      - It is Paris.\n      - PARIS\n",
        (
            ":9: prompts[0].references: references 1 and 3 say the same"
            " (word them differently: case, signs of width and spaces do not count)"
        ),
    ),
    "wrong reference": (
        GOOD + "    references:\n      - Paris\n      - It is Paris.\n      - It is Lyon.\n",
        (
            ":12: prompts[0].references[2]: reference 3 of 'capital-france' is not right: fact 1 of"
            " 1 (any of 1 string) not found (mend the reference, or widen what is expected)"
        ),
    ),
    "reference of another form": (
        GOOD + '      - items: 2\n    references: ["Paris, Lyon", "1. Paris\\n2. Nice", Paris]\n',
        (
            ":10: prompts[0].references[2]: reference 3 of 'capital-france' is not right: a list of"
            " 2 items was asked for, the longest found has 1 (mend the reference, or widen what is"
            " expected)"
        ),
    ),
    "long reference": (
        GOOD + f"    references: [Paris, It is Paris., Paris {'x' * 600}]\n",
        (
            ":9: prompts[0].references[2]: string should have at most 600 characters"
            " (see golden_prompts/README.md)"
        ),
    ),
    "met by an echo": (
        HEAD + EXPECT + "      - any: [France]\n",
        (
            ":7: prompts[0].expect: an echo of the question would meet every expectation"
            " (add a pattern, a json or a none of other words in the question)"
        ),
    ),
    "wrong folder": (
        GOOD.replace("suite: facts", "suite: fact"),
        ":2: suite: suite 'fact' is in the folder 'facts' (make the two the same)",
    ),
    "wrong version": (
        GOOD.replace("version: 1", "version: 2"),
        ":1: version: input should be 1 (see golden_prompts/README.md)",
    ),
    "empty suite": (
        "version: 1\nsuite: facts\nlanguage: en\nprompts: []\n",
        (
            ":4: prompts: list should have at least 1 item after validation, not 0"
            " (see golden_prompts/README.md)"
        ),
    ),
    "empty file": ("# nothing\n", ": the file is empty (add a suite or delete it)"),
    "a list": (
        "- a\n",
        ":1: expected a mapping, found a list (see golden_prompts/README.md)",
    ),
    "anchor": (
        GOOD.replace("[", "&capital ["),
        ":8: anchors and aliases are not allowed (write it out)",
    ),
    "deep": (
        "a: " + "[" * 10_000 + "\n",
        ":1: nested more than 16 deep (flatten it)",
    ),
    "syntax": (
        HEAD + "  - id: [\n",
        ":6: not valid YAML: expected the node content, but found '<stream end>' (mend the syntax)",
    ),
    "python object": (
        "version: !!python/name:os.system\n",
        (
            ":1: not valid YAML: could not determine a constructor for the tag"
            " 'tag:yaml.org,2002:python/name:os.system' (mend the syntax)"
        ),
    ),
    "list as a key": (
        "? [a]\n: 1\n",
        ":1: not valid YAML: found unhashable key (mend the syntax)",
    ),
    "control character": ("a: \x01\n", ": not valid YAML (mend the syntax)"),
    "too large": ("#" * 300_000, ": larger than 256 KiB (split the file)"),
}


def write(folder: Path, text: str, name: str = "en.yaml") -> Path:
    file = folder / "facts" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("exhibit", MUSEUM)
def test_broken_suite(exhibit: str, tmp_path: Path) -> None:
    text, message = MUSEUM[exhibit]
    file = write(tmp_path, text)

    with pytest.raises(ConfigError) as caught:
        load_suites(tmp_path)

    assert str(caught.value) == f"{file}{message}"


def test_not_utf_8(tmp_path: Path) -> None:
    write(tmp_path, "").write_bytes(b"\xff\xfe")

    with pytest.raises(ConfigError, match=r"en\.yaml: not UTF-8 text \(save it as UTF-8\)"):
        load_suites(tmp_path)


def test_id_taken_in_another_file(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    write(tmp_path, GOOD, "fr.yaml")

    with pytest.raises(ConfigError, match=r"fr\.yaml:5: .* taken by prompts\[0\] of en\.yaml"):
        load_suites(tmp_path)


def test_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected 1 to 200 suite files"):
        load_suites(tmp_path)
    with pytest.raises(ConfigError, match="no such folder"):
        load_suites(tmp_path / "absent")
    (tmp_path / "facts").mkdir()
    with pytest.raises(ConfigError, match="facts: the suite is empty"):
        load_suites(tmp_path)


@pytest.mark.parametrize("name", ["top.yaml", "facts/en.yml"])
def test_a_file_that_would_be_overlooked(name: str, tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    (tmp_path / name).write_text(GOOD)

    with pytest.raises(ConfigError, match="not where suites are looked for"):
        load_suites(tmp_path)


def test_records(tmp_path: Path) -> None:
    text = GOOD + "      - none: [Lyon]\n      - number: 2.50\n        units: [km]\n"
    write(tmp_path, text + "    tags: [geography]\n")

    (prompt,) = load_suites(tmp_path)

    assert prompt.name == "facts/capital-france"
    assert (prompt.language, prompt.structure, prompt.max_output_tokens) == ("en", "text", 48)
    assert prompt.tags == ("geography",)
    any_of, none_of, number = prompt.expectations
    assert any_of == AnyOf(strings=("Paris",))
    assert none_of == NoneOf(strings=("Lyon",))
    assert isinstance(number, NumberIs)
    assert str(number.value) == "2.5"
    assert hash(prompt) == hash(replace(prompt))


def test_records_of_lists_dates_and_code(tmp_path: Path) -> None:
    lines = [
        "      - all: [Paris, France]",
        "      - date: 1969-07-20",
        "      - date: '1970-01-02'",
        "      - items: 3",
        "    structure: code",
        "    code_language: go",
        "    references:",
        "      - Paris, France, July 20, 1969, 2 January 1970",
        "      - |",
        "        - Paris, France",
        "        - 20 July 1969",
        "        - 1970-01-02",
        "      - 2 January 1970; 20 July 1969; Paris, France",
    ]
    write(tmp_path, HEAD + EXPECT + "\n".join(lines) + "\n")

    with pytest.raises(ConfigError, match=r"reference 1 .* a list of 3 items"):
        load_suites(tmp_path)

    write(tmp_path, HEAD + EXPECT + "\n".join(lines).replace("items: 3", "items: 5") + "\n")
    with pytest.raises(ConfigError, match=r"reference 2 .* a list of 5 items"):
        load_suites(tmp_path)

    write(tmp_path, HEAD + EXPECT + "\n".join([*lines[:3], *lines[4:]]) + "\n")
    (prompt,) = load_suites(tmp_path)
    assert prompt.expectations == (
        AllOf(fragments=("Paris", "France")),
        DateIs(day=date(1969, 7, 20)),
        DateIs(day=date(1970, 1, 2)),
    )
    assert (prompt.structure, prompt.code_language) == ("code", "go")
    assert len(prompt.references) == 3
    assert hash(prompt) == hash(replace(prompt))


def test_an_edit_makes_a_new_version(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    (prompt,) = load_suites(tmp_path)
    edits = [
        replace(prompt, prompt="Capital of France, please?"),
        replace(prompt, expectations=(AnyOf(strings=("Paris", "paname")),)),
        replace(prompt, expectations=(NoneOf(strings=("Paris",)),)),
        replace(prompt, max_output_tokens=32),
        replace(prompt, structure="json"),
        replace(prompt, id="other"),
        replace(prompt, expectations=(DateIs(day=date(1969, 7, 20)),)),
        replace(prompt, expectations=(AllOf(fragments=("Paris",)),)),
        replace(prompt, expectations=(ListHas(items=3),)),
        replace(prompt, references=("Paris", "It is Paris.", "Paris, of course.")),
        replace(prompt, structure="code", code_language="python"),
        replace(prompt, structure="code", code_language="json"),
    ]

    assert prompt.version == "e2ab853011d1"
    assert len({prompt.version, *(edit.version for edit in edits)}) == len(edits) + 1
    assert replace(prompt, tags=("new",)).version == prompt.version


@pytest.mark.parametrize(
    ("regex", "problem"),
    [
        ("a" * 201, "longer than 200 characters"),
        ("(a+)+", "too many ways"),
        ("(?:a|b)*", "too many ways"),
        (".*.*.*.*x", "too many ways"),
        (".{1,20}" * 20, "too many ways"),
        ("(?=a)", "look-around"),
        ("(?i)a", "look-around"),
        (r"(a)\1", "not allowed"),
        (r"\bx", "not allowed"),
        ("a)", "unbalanced"),
        ("(a", "unbalanced"),
        ("[a", "unbalanced"),
        ("[]", "empty class"),
        ("[[a]", "must be written"),
        ("*a", "repeats nothing"),
        ("a{,3}", "repeats nothing"),
        ("a++", "a repeat of a repeat"),
        ("a{3,2}", "must count up"),
        ("a{999}", "must count up"),
        ("[z-a]", "bad character range"),
        ("a\\", "not allowed"),
    ],
)
def test_refused_patterns(regex: str, problem: str) -> None:
    with pytest.raises(PatternError, match=problem):
        check_pattern(regex)


@pytest.mark.parametrize(
    ("regex", "body"),
    [
        (r"[a-z]+, [a-z]+, [a-z]+\.?", "red, green, blue"),
        (r"(?:ab){2,3}", "abab"),
        (r"^[\w-]{1,9}$", "a-b"),
        (r"\[8\]|\(8\)", "[8]"),
    ],
)
def test_accepted_patterns(regex: str, body: str) -> None:
    check_pattern(regex)

    assert fits(body, regex)


@given(st.text(alphabet="ab.*+?()[]{}|\\^$12,-:dw&~"), st.text(alphabet="ab12", max_size=40))
def test_a_pattern_is_refused_or_runs(regex: str, body: str) -> None:
    try:
        check_pattern(regex)
    except PatternError:
        return
    fits(body, regex)
