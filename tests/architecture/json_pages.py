"""Pages that document a JSON report, read so that they can be held against its records."""

from __future__ import annotations

import re
from types import ModuleType

from pydantic import BaseModel

_SECTION = re.compile(r"^## [^\n]*\((\w+)\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def fields_of(page: str) -> dict[str, list[str]]:
    """Return the fields of each record that a page documents, in its order."""
    return {
        name: re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
        for name, section in _SECTION.findall(page)
    }


def records_of(module: ModuleType, base: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """Return the records of a module by name, but what they all derive from."""
    return {
        name: each
        for name, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, base) and each is not base
    }
