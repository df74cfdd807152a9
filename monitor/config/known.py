"""The names that exist, given by whoever loads a file: the schema itself knows none."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from monitor.config.problems import near_miss, wrong
from monitor.config.secrets import quoted
from monitor.config.values import Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The names of what is installed; ``None`` means: not checked here."""

    engines: Collection[str] | None = None
    probes: Collection[str] | None = None
    node_engines: Collection[str] | None = None


def _checked(what: str, name: str, known: Collection[str] | None) -> str:
    if known is not None and name not in known:
        raise wrong(f"unknown {what} {quoted(name)}", near_miss(name, known))
    return name


def _known(info: ValidationInfo) -> Known:
    return info.context if isinstance(info.context, Known) else Known()


def _engine(name: str, info: ValidationInfo) -> str:
    return _checked("engine", name, _known(info).engines)


def _probe(name: str, info: ValidationInfo) -> str:
    return _checked("probe", name, _known(info).probes)


def _node_engine(name: str, info: ValidationInfo) -> str:
    return _checked("node engine", name, _known(info).node_engines)


EngineName = Annotated[Label, AfterValidator(_engine)]
ProbeName = Annotated[Label, AfterValidator(_probe)]
NodeEngineName = Annotated[Label, AfterValidator(_node_engine)]
