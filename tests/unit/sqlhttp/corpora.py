"""The statements that must run and those that must not, from their files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
_DEPTH = 400


@dataclass(frozen=True, slots=True)
class Attack:
    """A statement that must be refused, and what it is after."""

    why: str
    template: str

    def aimed(self, secret: Path, out: Path, port: int) -> str:
        """Return the statement with its targets filled in."""
        made = {
            "{secret}": str(secret),
            "{secret_hex}": str(secret).encode().hex(),
            "{out}": str(out),
            "{port}": str(port),
            "{deep}": f"SELECT {'(' * _DEPTH}1{')' * _DEPTH}",
            "{deep_functions}": f"SELECT {'abs(' * _DEPTH}1{')' * _DEPTH}",
            "{long}": f"SELECT '{'x' * 300_000}'",
            "{long_pattern}": f"SELECT 'aaa' LIKE '{'%a' * 501}'",
            "{long_joined}": f"SELECT match('aaa', concat('{'a?' * 300}', lower('{'a?' * 300}')))",
            "{long_columns}": f"SELECT COLUMNS('{'a?' * 501}') FROM verdicts",  # noqa: S608
            "{long_show}": f"SHOW TABLES LIKE '{'%a' * 501}'",
            "{doubling}": _doubling("SELECT l.x FROM {0} AS l, {0} AS r"),
            "{doubling_in}": _doubling("SELECT 1 AS x WHERE 1 IN {0} OR 2 IN {0}"),
            "⏎": "\n",
        }
        statement = self.template
        for place, value in made.items():
            statement = statement.replace(place, value)
        return statement


def _doubling(twice: str) -> str:
    names = [f"a{n + 1} AS ({twice.format(f'a{n}')})" for n in range(12)]
    return f"WITH {', '.join(('a0 AS (SELECT 1 AS x)', *names))} SELECT count() FROM a12"  # noqa: S608


def honest() -> list[str]:
    """Return the statements that people and programs send."""
    lines = (HERE / "honest.sql").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("--")]


def attacks() -> list[Attack]:
    """Return the statements that must be refused."""
    lines = (HERE / "attacks.txt").read_text("utf-8").splitlines()
    return [Attack(*line.split("\t", 1)) for line in lines if line and not line.startswith("#")]
