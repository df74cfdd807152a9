"""The judge against statements that nobody wrote down: mixes of parts, odd spellings, noise."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.sqlhttp.failures import RefusedError, SqlError
from tests.unit.sqlhttp.conftest import SECRET, Served, error_of
from tests.unit.sqlhttp.corpora import attacks, honest

MIXES = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

BAD_VALUES = (
    *("file('{secret}')", "`file`('{secret}')", "sleep(1)", "getServerPort('tcp_port')"),
    *("dictGet('d', 'a', 1)", "joinGet('t', 'a', 1)", "aiGenerate('x')", "addressToLine(1)"),
    *("(SELECT * FROM file('{secret}', 'LineAsString'))", "('x' IN system.processes)"),
    *(
        "CAST('', 'AggregateFunction(uniq, UInt64)')",
        "hasColumnInTable('default', 'verdicts', 'x')",
    ),
)
BAD_TABLES = (
    *("file('{secret}', 'LineAsString')", "url('http://127.0.0.1:{port}/', 'LineAsString')"),
    *(
        '"{secret}"',
        "system.processes",
        "default.`{secret}`",
        "executable('id', 'TSV', 'a String')",
    ),
    *("remote('127.0.0.1:{port}', system.one)", "merge('system', '.*')", "Python(served)"),
    *("s3('http://127.0.0.1:{port}/b/k', 'CSV')", "dictionary('d')", "nowhere"),
)
FINE_VALUES = ("lower('A')", "toString(1)", "'it''s'", "concat('a', 'b')", "if(1, 'x', 'y')")
FINE_TABLES = ("verdicts", "default.trials", "numbers(3)", "system.one", "values('a UInt8', 1)")

AROUND_VALUES = (
    *("concat({}, 'a')", "(SELECT {})", "if(1, {}, '')", "CASE WHEN 1 THEN {} ELSE '' END"),
    *("arrayMap(y -> {}, [1])[1]", "tuple({}, 1).1", "[{}][1]", "coalesce(NULL, {})"),
    *("toString({})", "arrayJoin([{}])", "({})", "toLowCardinality(toString({}))"),
)
OF_VALUES = (
    *(
        "SELECT {}",
        "SELECT 1 WHERE {} != 'q'",
        "SELECT {} AS q ORDER BY q",
        "WITH {} AS q SELECT q",
    ),
    *("SELECT count() FROM numbers(2) GROUP BY {}", "SELECT max({})", "SELECT DISTINCT {}"),
    *(
        "SELECT any(1) FROM system.one HAVING {} != 'q'",
        "SELECT number FROM numbers(3) LIMIT 1 BY {}",
    ),
    *("SELECT * REPLACE ({} AS dummy) FROM system.one", "SELECT count() FILTER (WHERE {} != 'q')"),
    *("SELECT sum(number) OVER (PARTITION BY {}) FROM numbers(2)",),
)
OF_TABLES = (
    *("SELECT count() FROM {} AS f", "SELECT 1 FROM system.one AS v CROSS JOIN {} AS f LIMIT 1"),
    *("SELECT * FROM {} AS f LIMIT 1", "SELECT 1 WHERE 1 IN (SELECT 1 FROM {} AS f)"),
    *("WITH t AS (SELECT 1 FROM {} AS f) SELECT * FROM t",),
)
AROUND_SELECTS = (
    *("SELECT * FROM ({})", "WITH c AS ({}) SELECT * FROM c", "SELECT count() FROM view({})"),
    *("SELECT 1 WHERE 1 IN (SELECT 1 FROM ({}))", "SELECT (SELECT count() FROM ({}))"),
    *("{} UNION ALL {}", "SELECT 1 FROM ({}) AS a CROSS JOIN system.one AS b"),
)
AROUND_ALL = (
    "{}",
    "{}",
    "{}",
    "EXPLAIN {}",
    "EXPLAIN PIPELINE {}",
    "DESCRIBE ({})",
    "{} FORMAT CSV",
)
_WORDS = re.compile(
    r"""'(?:[^'\\]|\\.|'')*'|"[^"]*"|`[^`]*`|[A-Za-z_]\w*|\d[\w.]*|[<>=!|:]=?[>=|:]?|->|\S"""
)
_KEYWORDS = {"select", "from", "where", "with", "union", "all", "group", "by", "limit", "as", "in"}


@st.composite
def statements(draw: st.DrawFn, values: tuple[str, ...], tables: tuple[str, ...]) -> str:
    """Draw a statement with one of these values or tables somewhere in it."""
    if draw(st.booleans()):
        value = draw(st.sampled_from(values))
        for _ in range(draw(st.integers(0, 3))):
            value = draw(st.sampled_from(AROUND_VALUES)).format(value)
        select = draw(st.sampled_from(OF_VALUES)).format(value)
    else:
        select = draw(st.sampled_from(OF_TABLES)).format(draw(st.sampled_from(tables)))
    for _ in range(draw(st.integers(0, 2))):
        wrapper = draw(st.sampled_from(AROUND_SELECTS))
        select = wrapper.format(*[select] * wrapper.count("{}"))
    return draw(st.sampled_from(AROUND_ALL)).format(select)


@st.composite
def spelled(draw: st.DrawFn, statement: str) -> str:
    """Draw the same statement with other white space, comments and capitals."""
    gaps = st.sampled_from((" ", "  ", "\n", "\t", " /* , */ ", " -- ;\n", "/**/ "))
    parts = []
    for word in _WORDS.findall(statement):
        small = word.lower() in _KEYWORDS and draw(st.booleans())
        parts.append(word.lower() if small else word)
        parts.append(draw(gaps))
    return "".join(parts)


def aimed(served: Served, statement: str) -> str:
    port = str(served.trap.getsockname()[1])
    return statement.replace("{secret}", str(served.secret)).replace("{port}", port)


@MIXES
@given(data=st.data())
def test_what_may_not_be_asked_is_refused_wherever_it_stands(
    served: Served, data: st.DataObject
) -> None:
    bad_values = tuple(value.replace("{", "{{").replace("}", "}}") for value in BAD_VALUES)
    bad_tables = tuple(table.replace("{", "{{").replace("}", "}}") for table in BAD_TABLES)
    drawn = data.draw(statements(bad_values, bad_tables)).replace("{{", "{").replace("}}", "}")
    statement = aimed(served, drawn)
    with pytest.raises(RefusedError):
        served.ask(statement)
    assert not served.was_called()


@MIXES
@given(data=st.data())
def test_what_may_be_asked_is_refused_nowhere(served: Served, data: st.DataObject) -> None:
    statement = data.draw(statements(FINE_VALUES, FINE_TABLES))
    # The engine may find that types do not fit.
    assert not isinstance(error_of(served, statement), RefusedError), statement


# Not those with comments or strings that a change would change; `[1, 2]::T` is read as a text.
RESPELLED = [line for line in honest() if not re.search(r"\$\$|`|--|/\*|::", line)]


@MIXES
@given(data=st.data())
def test_spelling_makes_no_difference(served: Served, data: st.DataObject) -> None:
    statement = data.draw(st.sampled_from(RESPELLED))
    odd = data.draw(spelled(statement))
    assert outcome(served, odd) == outcome(served, statement), odd
    bad = data.draw(st.sampled_from([a.template for a in attacks() if "'{secret}'" in a.template]))
    with pytest.raises(SqlError):
        served.ask(data.draw(spelled(aimed(served, bad))))


def outcome(served: Served, statement: str) -> int:
    error = error_of(served, statement)
    return error.code if error else 0


NOISE = sorted({w for a in attacks() for w in _WORDS.findall(a.template) if len(w) < 60})


@settings(MIXES, max_examples=150)
@given(words=st.lists(st.sampled_from(NOISE), min_size=1, max_size=12), head=st.booleans())
def test_noise_has_no_effect(served: Served, words: list[str], head: bool) -> None:
    statement = aimed(served, " ".join(["SELECT", *words] if head else words))
    try:
        found = served.ask(statement)
    except SqlError as error:
        found = str(error).encode()
    assert SECRET.encode() not in found
    assert not served.out.exists()
    assert not served.was_called()


@MIXES
@given(text=st.text(max_size=40), times=st.integers(1, 3))
def test_values_come_back_as_they_were_sent(served: Served, text: str, times: int) -> None:
    """As clients write them: with backslashes before what would end them."""
    escaped = text.translate(ESCAPES)
    found = served.ask(
        "SELECT {a:String}, {n:UInt8} FORMAT JSONCompactEachRow", a=escaped, n=str(times)
    )
    assert json.loads(found) == [text, times]


@MIXES
@given(text=st.text(alphabet="'\\`\"\n\t;-/*() \0ax", max_size=30))
def test_values_that_nobody_escaped_stay_values(served: Served, text: str) -> None:
    error = error_of(served, b"SELECT {a:String}", a=text)
    assert error is None or error.code in (25, 26, 27, 36, 456, 457), str(error)


ESCAPES = {ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r", 0: "\\0"}


@MIXES
@given(sent=st.binary(max_size=60), head=st.sampled_from((b"", b"SELECT ", b"SELECT '", b"\\")))
def test_any_bytes_are_answered_or_refused(served: Served, sent: bytes, head: bytes) -> None:
    error = error_of(served, head + sent)
    assert error is None or error.code > 0
