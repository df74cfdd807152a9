"""What readers may ask, and what they may not: corpora of both, against the real engine."""

from __future__ import annotations

import re
from typing import Any

import chdb
import pytest

from monitor.sqlhttp.failures import RefusedError, SqlError
from tests.unit.sqlhttp.conftest import PARAMETERS, SECRET, Served, error_of
from tests.unit.sqlhttp.corpora import Attack, attacks, honest

ATTACKS = attacks()
AIMED_AT_PARAMETERS = {"t": "processes", "d": "system", "c": "dummy"}
# Of these the engine itself says that they are no statement, before we see them.
_NO_STATEMENT = {62, 167, 306}


def test_the_corpora_are_large() -> None:
    assert len(ATTACKS) >= 120
    assert len({attack.template for attack in ATTACKS}) == len(ATTACKS)
    assert len(honest()) >= 120


def test_honest_statements_are_answered(served: Served) -> None:
    errors = {statement: error_of(served, statement) for statement in honest()}
    assert not {statement: str(error) for statement, error in errors.items() if error}


def test_attacks_are_refused_and_nothing_of_them_happens(served: Served) -> None:
    through = {attack.why: wrong for attack in ATTACKS if (wrong := what_happened(served, attack))}
    assert not through


def what_happened(served: Served, attack: Attack) -> str:
    """Carry out an attack; return what went wrong with refusing it, nothing if all is well."""
    statement = attack.aimed(served.secret, served.out, served.trap.getsockname()[1])
    error = error_of(served, statement, **AIMED_AT_PARAMETERS, p=str(served.secret))
    if error is None:
        return "it was answered"
    if not isinstance(error, RefusedError) and error.code not in _NO_STATEMENT:
        return f"the engine ran it: {error}"
    if SECRET in str(error):
        return "the error tells the secret"
    if served.out.exists():
        return "a file was written"
    return "somebody was called" if served.was_called() else ""


def test_the_store_is_as_it_was(served: Served) -> None:
    assert served.rows() == served.rows_at_first
    tables = served.ask("SHOW TABLES").decode().split()
    assert set(tables) >= {"verdicts", "trials", "bodies"}
    assert not {"t", "v", "d", "other"} & set(tables)


def test_the_engine_alone_would_let_them_through(served: Served) -> None:
    """So that the corpus is about something: a connection that is merely read-only does this."""
    connect: Any = chdb.connect
    bare = connect(str(served.store.location.path))
    try:
        bare.query("SET readonly = 1")
        read = bare.query(f"SELECT file('{served.secret}')").bytes()
        assert SECRET.encode() in read
        bare.query(f"SELECT 1 INTO OUTFILE '{served.out}'")
        assert served.out.exists()
        served.out.unlink()
        assert bare.query("SELECT 1; SELECT 2", "TSV").bytes() == b"1\n2\n"
        assert bare.query("SELECT query FROM system.processes").bytes()
        bare.query("KILL QUERY WHERE query_id = 'none'")
    finally:
        bare.close()


def test_a_connection_of_readers_is_read_only_also_without_us(served: Served) -> None:
    """What would come past the judge still meets the engine's own limits."""
    for statement in (
        "INSERT INTO verdicts (id) VALUES ('x')",
        "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString', 'a String')",
        "SELECT * FROM file('/etc/hostname', 'LineAsString')",
        "SET readonly = 0",
        "DROP TABLE verdicts",
    ):
        with pytest.raises(RuntimeError, match="readonly mode"):
            served.engine._connections[0].query(statement)


def test_what_runs_is_what_was_judged(served: Served) -> None:
    tricky = "SELECT /* file('x') */ 'a''b' AS \"c`d\" -- ; DROP TABLE x\nFORMAT JSONCompact;"
    assert b"a'b" in served.ask(tricky)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("SELECT file('x')", "Function file is not offered to readers"),
        ("SELECT * FROM nothing", "Table nothing does not exist or is not offered"),
        ("SELECT * FROM system.processes", "Table system.processes is not offered to readers"),
        ("SELECT * FROM url('x')", "Table function url is not offered to readers"),
        ("SELECT 1 SETTINGS final = 1", "Cannot modify 'final' setting in readonly mode"),
        ("SELECT 1 INTO OUTFILE 'x'", "INTO OUTFILE is not offered"),
        ("SELECT {x:Identifier}", "names of tables and columns must be written out"),
        ("DROP TABLE verdicts", "Only SELECT, SHOW, DESCRIBE, EXISTS and EXPLAIN"),
        ("SHOW TABLES FROM other", "Database other is not served; the store's is `default`"),
        ("SELECT 1 FORMAT Nope", "Format 'Nope' is not offered"),
        ("SELECT 1; SELECT 2", "Multi-statements are not allowed"),
    ],
)
def test_a_refusal_says_what_is_wrong(served: Served, statement: str, words: str) -> None:
    with pytest.raises(SqlError) as caught:
        served.ask(statement, x="y")
    assert words in str(caught.value)
    assert "unhex" not in str(caught.value)


def test_tables_that_come_later_are_known(served: Served) -> None:
    with pytest.raises(RefusedError, match="arrived"):
        served.ask("SELECT * FROM arrived")
    served.store.writer.run(
        lambda client: client.command("CREATE TABLE arrived (a Int8) ENGINE = MergeTree ORDER BY a")
    )
    assert served.ask("SELECT count() FROM arrived") == b"0\n"
    served.store.writer.run(lambda client: client.command("DROP TABLE arrived"))


_VARIES = re.compile(
    r"now|today|yesterday|rand|UUID|settings|parts|functions|version|uptime|getSetting|hostName"
    r"|FORMAT|;$|--|SHOW|DESC|EXPLAIN|EXISTS T|EXISTS d|EXISTS V|any",
    re.IGNORECASE,
)


def test_answers_are_those_of_the_statement_as_it_was_sent(served: Served) -> None:
    """Names of columns too: written out anew, a statement says the same."""
    connect: Any = chdb.connect
    bare = connect(str(served.store.location.path))
    different = {}
    compared = 0
    try:
        for statement in honest():
            if _VARIES.search(statement):
                continue
            asked = f"{statement.partition(' SETTINGS ')[0]}\nFORMAT TSVWithNames"
            plain = bare.query(asked, "TSV", params=PARAMETERS).bytes() or b""
            ours = served.ask(statement, "TSVWithNames")
            compared += 1
            if sorted(ours.splitlines()) != sorted(plain.splitlines()):
                different[statement] = (ours[:200], plain[:200])
    finally:
        bare.close()
    assert compared > 100
    assert not different
