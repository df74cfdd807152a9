"""Code, fences and lists in answers, and strict JSON."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import warnings
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.prompts import AnyOf, GoldenPrompt, ListHas, broken_forms, has_form, missing_facts
from monitor.prompts.fences import Block, blocks
from monitor.prompts.lists import list_lengths
from monitor.prompts.snippets import MAX_CODE, parses, snippets
from monitor.prompts.strict_json import NOT_JSON, parse_json

CODE = "bafot-gitiz-lusab-dunor"
ADD = "def add(a, b):\n    return a + b"
FENCED = f"```python\n{ADD}\n```"


def a_prompt(*expectations, **fields) -> GoldenPrompt:
    base = {"suite": "s", "id": "i", "language": "en", "prompt": "?", "max_output_tokens": 64}
    return GoldenPrompt(expectations=expectations, **(base | fields))


# --- Fences


def shape(text: str) -> list[tuple[str, str, bool]]:
    return [(block.language, block.text, block.closed) for block in blocks(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no fence", []),
        ("```\nx\n```", [("", "x", True)]),
        ("~~~ Python\nx\n~~~", [("python", "x", True)]),
        ("Here:\n```c++\nx\ny\n```\nDone.", [("c++", "x\ny", True)]),
        ("2. ```python\n   x\n   ```", [("python", "   x", True)]),
        ("Here it is: ```python\nx\n```", [("python", "x", True)]),
        ("```\nx```", [("", "x", True)]),
        ("```python\nx", [("python", "x", False)]),
        ("```\nx\n```\n```\ny", [("", "x", True), ("", "y", False)]),
        ("```\nx\n````", [("", "x", True)]),
        ("````\n```\nx\n```\n````", [("", "```\nx\n```", True)]),
        ("~~~\n```\n~~~", [("", "```", True)]),
        ("```md\n```python\nx\n```\n```", [("md", "```python\nx\n```", True)]),
        ("```python\nx\n```python\ny\n```", [("python", "x\n```python\ny\n```", False)]),
        ("Use `x` or ```x``` inline.", []),
        ("A block begins with ```", []),
        ("``` is a fence, said in a sentence", []),
        ("` ``", []),
    ],
)
def test_fenced_blocks(text: str, found: list[tuple[str, str, bool]]) -> None:
    assert shape(text) == found


@given(st.lists(st.sampled_from(["```", "```python", "~~~", "x", "", "2. ```py", "`", "````"])))
def test_any_lines_are_read(lines: list[str]) -> None:
    found = blocks("\n".join(lines))
    assert all(block.closed for block in found[:-1])
    assert all(isinstance(block, Block) for block in found)


@given(st.lists(st.text(alphabet="abc =()\n", max_size=30), max_size=5), st.booleans())
def test_whole_blocks_are_given_back(texts: list[str], cut: bool) -> None:
    written = "\n".join(f"```python\n{text}\n```" for text in texts)
    found = blocks(written[:-4] if cut and texts else written)
    assert [block.text.strip() for block in found] == [
        "\n".join(text.splitlines()).strip() for text in texts
    ]
    assert [block.closed for block in found] == [True] * (len(texts) - 1) + [
        not cut for _ in texts[:1]
    ]


@pytest.mark.parametrize(
    "text", ["`" * 200_000, "```\n" * 50_000, "``` " * 50_000, "~" * 900 + "!"]
)
def test_many_fences_are_read(text: str) -> None:
    assert all(isinstance(block, Block) for block in blocks(text))


# --- Code


@pytest.mark.parametrize(
    "answer",
    [
        FENCED,
        f"{CODE}\n{FENCED}",
        f"1. {CODE}\n2. {FENCED}",
        f"1. {CODE}\n2. ```python\n   def add(a, b):\n       return a + b\n   ```",
        f"Here is the function:\n\n{FENCED}\n\nIt adds two numbers.",
        f"```\n{ADD}\n```",
        f"```py\n{ADD}\n```\nThe output:\n```\n3 and so on\n```",
        ADD,
        f"{CODE}\n\n{ADD}",
        f"1. {CODE}\n2. {ADD}",
        f"Answer: {ADD}",
        f"Sure, here it is:\n\n{ADD}\n\nThis function adds a and b.",
        "```python\n>>> def add(a, b):\n...     return a + b\n>>> add(1, 2)\n3\n```",
        f"```text\nnothing here\n```\n{FENCED}",
        f"{FENCED}\n```bash\npip install --user nothing && exit\n```",
    ],
)
def test_code_is_found_and_parses(answer: str) -> None:
    prompt = a_prompt(AnyOf(strings=("return a + b",)), structure="code", code_language="python")
    assert broken_forms(prompt, answer) == {}
    assert missing_facts(prompt, answer) == ()


@pytest.mark.parametrize(
    "code",
    [
        "def add(a, b)\n    return a + b",
        "def add(a, b):\nreturn a + b",
        "def add(a, b:\n    return a + b",
        "def add(a, b):\n    return a +",
        "def add(a, b):\n    return 'a",
        "function add(a, b) { return a + b; }",
        "",
    ],
)
@pytest.mark.parametrize("wrapped", ["```python\n{}\n```", "{}", "1. " + CODE + "\n2. {}"])
def test_code_that_does_not_parse(code: str, wrapped: str) -> None:
    prompt = a_prompt(AnyOf(strings=("a",)), structure="code", code_language="python")
    assert set(broken_forms(prompt, wrapped.format(code))) == {"code"}


def test_a_fact_in_the_words_around_the_code_does_not_count() -> None:
    prompt = a_prompt(AnyOf(strings=("a + b",)), structure="code", code_language="python")
    wrong = FENCED.replace("a + b", "a - b") + "\nIt returns a + b."
    assert missing_facts(prompt, wrong) != ()
    assert missing_facts(prompt, "It returns a + b.") == ()
    assert broken_forms(prompt, "It returns a + b.") == {"code": "no python code found"}


def test_a_single_word_is_no_code_unless_it_is_fenced() -> None:
    assert snippets("Sorry", "python") == ()
    assert snippets("```\nSorry\n```", "python") == ("Sorry",)


def test_json_is_parsed_strictly_and_other_languages_are_not() -> None:
    prompt = a_prompt(AnyOf(strings=("a",)), structure="code", code_language="json")
    assert broken_forms(prompt, '```json\n{"a": 1}\n```') == {}
    assert broken_forms(prompt, f'{CODE}\n{{"a": 1}}') == {}
    assert set(broken_forms(prompt, '```json\n{"a": 1,}\n```')) == {"code"}
    assert has_form(prompt)
    other = a_prompt(AnyOf(strings=("a",)), structure="code", code_language="go")
    assert broken_forms(other, "nothing") == {}
    assert not has_form(other)


@pytest.mark.parametrize(
    "code",
    [
        "\x00",
        "\ud800",
        "(" * 5_000,
        "(" * 59 + ")" * 59,
        "-" * (MAX_CODE - 1) + "1",
        "not " * 1_900 + "1",
        "lambda:" * 1_100 + "1",
        "a" + ".a" * 3_900,
        "1" + "+1" * 3_900,
        "".join(" " * level + "if a:\n" for level in range(101)),
        "9" * 5_000,
        "x" * (MAX_CODE + 1),
        "f'{" * 200,
        r"'\d'",
        "a" + "[1]" * 2_000,
        "'''" * 1_000,
        "\\" * 5_000,
        "if a:\n p\n" + "elif a:\n p\n" * 600,
    ],
)
def test_hostile_code_neither_crashes_nor_warns(code: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parses(code, "python") in {True, False}


def test_the_parser_stays_within_a_small_stack() -> None:
    """What is let through fits into 1 MB, whatever it nests: each in a thread, in a process."""
    code = """
import threading
from monitor.prompts.snippets import MAX_CODE, MAX_NESTING, parses
half = MAX_CODE // 2 - 1
texts = ["-" * (2 * half) + "1", "not " * (half // 2) + "1", "lambda:" * (half // 4) + "1",
         "a" + ".a" * half, "1" + "+1" * half, "1" + "**1" * (half * 2 // 3),
         "a if a else " * (half // 6) + "1", "(" * MAX_NESTING + ")" * MAX_NESTING,
         "f(" * MAX_NESTING + ")" * MAX_NESTING, "{" * MAX_NESTING, "a[" * MAX_NESTING,
         "(lambda:not -" * MAX_NESTING, "if a:\\n p\\n" + "elif a:\\n p\\n" * (half // 6)]
threading.stack_size(1024 * 1024)
for text in texts:
    thread = threading.Thread(target=parses, args=(text, "python"))
    thread.start()
    thread.join()
print("alive")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "alive\n"


@given(st.text(max_size=300), st.sampled_from(["python", "json", "go"]))
def test_any_text_parses_or_does_not(text: str, language: str) -> None:
    assert parses(text, language) in {True, False}
    for snippet in snippets(text, language):
        assert isinstance(snippet, str)
    prompt = a_prompt(ListHas(items=3), structure="code", code_language=language)
    assert set(broken_forms(prompt, text)) <= {"code", "list"}


@given(st.text(alphabet="abdef (),:=+\n'\"#[]", max_size=120))
def test_what_parses_is_what_python_parses(code: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            right = bool(ast.parse(code).body)
    except (SyntaxError, ValueError):
        right = False
    assert parses(code, "python") is right


# --- Lists

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905
MARKS = {
    "numbers": lambda n: f"{n}. ",
    "brackets": lambda n: f"{n}) ",
    "round brackets": lambda n: f"({n}) ",
    "ideographic comma": lambda n: f"{n}、",
    "bold": lambda n: f"**{n}.** ",
    "escaped": lambda n: f"{n}\\. ",
    "wide": lambda n: f"{chr(0xFF10 + n)}\uff0e",
    "circled": lambda n: chr(0x245F + n),
    "chinese": lambda n: f"{'一二三四五六七'[n - 1]}、",
    "dashes": lambda _: "- ",
    "stars": lambda _: "* ",
    "dots": lambda _: "\u2022 ",
    "from zero": lambda n: f"{n - 1}. ",
}


def listed(mark: str, count: int = 7) -> str:
    return "\n".join(f"{MARKS[mark](n)}{day}" for n, day in enumerate(DAYS[:count], 1))


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    "wrapped",
    [
        "{}",
        CODE + "\n{}",
        "1. " + CODE + "\n2. Here are the days:\n{}",
        "The days of the week are:\n\n{}\n\nThat is all.",
    ],
)
def test_lists_of_every_mark_are_counted(mark: str, wrapped: str) -> None:
    assert 7 in list_lengths(wrapped.format(listed(mark)))
    assert 7 not in list_lengths(wrapped.format(listed(mark, 6)))


@pytest.mark.parametrize(
    ("answer", "complete"),
    [
        (", ".join(DAYS), True),
        (", ".join(DAYS[:6]) + " and Sunday", True),
        (", ".join(DAYS[:6]) + ", and Sunday.", True),
        ("、".join(f"周{day}" for day in "一二三四五六日"), True),
        ("\n".join(DAYS), True),
        ("The days:\n" + "\n".join(DAYS), True),
        (", ".join(DAYS[:6]), False),
        ("\n".join(DAYS[:6]), False),
        (" ".join(f"{n}. {day}" for n, day in enumerate(DAYS, 1)), True),
        (" ".join(f"{n}. {day}" for n, day in enumerate(DAYS[:5], 1)), False),
        ("\n".join(f"{n}. {day}\n   - the {n}th day" for n, day in enumerate(DAYS, 1)), True),
        ("\n".join(f"{n}. {day}\n   1. a\n   2. b" for n, day in enumerate(DAYS, 1)), True),
        (listed("numbers").replace("4. Thursday\n", ""), False),
        (listed("numbers").replace("4. Thursday", "3. Thursday"), False),
        (listed("numbers") + "\n8. Monday", False),
        (listed("dashes") + "\n- Monday", False),
        ("\n".join(f"{n}. {line}" for n, line in enumerate([CODE, *DAYS], 1)), True),
        ("", False),
        ("I cannot.", False),
    ],
)  # fmt: skip
def test_a_list_of_seven(answer: str, *, complete: bool) -> None:
    fault = broken_forms(a_prompt(ListHas(items=7)), answer)
    assert set(fault) == (set() if complete else {"list"})


def test_the_words_hold_counts_only() -> None:
    assert broken_forms(a_prompt(ListHas(items=7)), listed("numbers", 5)) == {
        "list": "a list of 7 items was asked for, the longest found has 5"
    }


def test_the_length_of_a_list_is_no_fact() -> None:
    assert missing_facts(a_prompt(ListHas(items=7)), "") == ()


@given(st.integers(2, 40), st.integers(0, 40), st.sampled_from(["{n}. x", "- x", "({n}) x"]))
def test_as_many_as_were_asked_for(wanted: int, given_items: int, mark: str) -> None:
    answer = "\n".join(mark.format(n=n) for n in range(1, given_items + 1))
    assert (broken_forms(a_prompt(ListHas(items=wanted)), answer) == {}) is (wanted == given_items)


@given(st.text(alphabet="0123456789.)(-* 一二十、\nab,and"))
def test_no_marks_break_the_counter(text: str) -> None:
    assert all(length > 0 for length in list_lengths(text) - {0})


@pytest.mark.parametrize(
    "text",
    ["\n" * 200_000, "\n " * 100_000, "` " * 100_000, "(" * 200_000, "\n2. " * 50_000,
     "def f(\n" * 30_000, "1. x\n" * 40_000, "bafot " * 30_000],
)  # fmt: skip
def test_long_answers_are_judged(text: str) -> None:
    code = a_prompt(
        AnyOf(strings=("absent",)), ListHas(items=3), structure="code", code_language="python"
    )
    assert set(broken_forms(code, text)) == {"code", "list"}
    assert missing_facts(code, text) != ()


# --- Strict JSON


@pytest.mark.parametrize(
    ("text", "value"),
    [("null", None), ('{"a": [1, 2.5]}', {"a": [1, 2.5]}), (' "x" \n', "x"), ("1e999", inf)],
)  # fmt: skip
def test_json(text: str, value: object) -> None:
    assert parse_json(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", "[Infinity]", '{"a": -Infinity}', '{"a": 1, "a": 1}', "{'a': 1}", "[1,]",
     '[{"b": {"a": 1, "a": 2}}]', "\ufeff{}", "[" * 100_000, "9" * 10_000, "{} {}",
     '"' + "a" * 200_001 + '"'],
)  # fmt: skip
def test_what_is_no_json(text: str) -> None:
    assert parse_json(text) is NOT_JSON


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)


@given(json_values)
def test_whatever_is_written_as_json_is_read(value: object) -> None:
    text = json.dumps(value)
    expected = NOT_JSON if "Infinity" in text and "Infinity" not in str(value) else value
    assert parse_json(text) == expected


@given(st.text())
def test_any_text_is_json_or_not(text: str) -> None:
    parse_json(text)


@pytest.mark.parametrize(
    "written",
    [
        "\n".join(f"1. {day}" for day in DAYS),
        "| day |\n|---|\n" + "\n".join(f"| {day} |" for day in DAYS),
        "<ol>" + "".join(f"<li>{day}</li>" for day in DAYS) + "</ol>",
    ],
    ids=["Markdown counts", "a table", "HTML"],
)
def test_a_list_that_is_counted_by_whoever_shows_it(written) -> None:
    assert 7 in list_lengths(written)
