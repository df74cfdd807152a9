"""The product's source as syntax trees, and what the architecture tests ask of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """One file of the product; ``path`` is relative to the repository."""

    path: str
    text: str
    tree: ast.Module

    def functions(self) -> Iterator[Function]:
        """Yield every function, nested ones and methods included."""
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                yield node


@cache
def product() -> tuple[Module, ...]:
    """Return every module under ``monitor``."""
    files = sorted((ROOT / "monitor").rglob("*.py"))
    texts = [(file.relative_to(ROOT).as_posix(), file.read_text("utf-8")) for file in files]
    return tuple(Module(path, text, ast.parse(text)) for path, text in texts)


def imported(node: ast.AST) -> tuple[str, ...]:
    """Return the modules an import statement names; a relative one is ``monitor``'s."""
    match node:
        case ast.Import(names=names):
            return tuple(alias.name for alias in names)
        case ast.ImportFrom(level=0, module=str(module)):
            return (module,)
        case ast.ImportFrom():
            return ("monitor",)
    return ()


def top(module: str) -> str:
    """Return the package a module belongs to."""
    return module.partition(".")[0]
