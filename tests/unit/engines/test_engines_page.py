"""The page on engines names every engine, every option and every wording there is."""

from __future__ import annotations

import json
import re
import typing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from monitor.engines import ENGINES
from monitor.engines.dialects import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

PAGE = (Path(__file__).parents[3] / "docs" / "engines.md").read_text("utf-8")


def section(heading: str) -> str:
    """Return the part of the page under ``heading``."""
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(options: type[BaseModel]) -> Iterator[str]:
    """Yield the rows of the table of ``options``."""
    for name, field in options.model_fields.items():
        default = json.dumps(field.default).replace('"', "")
        yield f"| `{name}` | {_values(field)} | `{default}` | {field.description} |"


def _values(field: FieldInfo) -> str:
    choices = typing.get_args(field.annotation)
    if all(isinstance(choice, str) for choice in choices) and choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    if field.annotation is bool:
        return "true or false"
    return "text" if field.annotation is str else "section"


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_has_its_section_with_its_options(name: str) -> None:
    written = [row for row in section(f"`{name}`").splitlines() if row.startswith("| `")]
    assert written == list(rows(ENGINES[name].options))


def test_no_engine_is_made_up() -> None:
    assert re.findall(r"^## `(\w+)`$", PAGE, re.MULTILINE) == list(ENGINES)


def test_every_wording_is_named() -> None:
    named = set(re.findall(r"`([^`]+)`", section("Refusals")))
    assert named >= {dialect.name for dialect in DIALECTS}
