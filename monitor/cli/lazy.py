"""A group of verbs that loads a verb's module when the verb is used, not before."""

from __future__ import annotations

import importlib
from typing import Any

import typer
from typer.core import TyperGroup

# verb -> (module with a typer ``app``, what --help says)
VerbTable = dict[str, tuple[str, str]]


def lazy_group(verbs: VerbTable) -> type[TyperGroup]:
    """Return a group of these verbs, in this order, for ``typer.Typer(cls=...)``."""

    class LazyGroup(TyperGroup):
        def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
            return list(verbs)

        def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
            if cmd_name not in verbs:
                return None
            module = importlib.import_module(verbs[cmd_name][0])
            command = typer.main.get_command(module.app)
            command.name = cmd_name
            return command

        def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
            with formatter.section("Commands"):
                formatter.write_dl([(verb, words) for verb, (_, words) in verbs.items()])

    return LazyGroup
