"""Rules as records, and the file that Prometheus reads, made to be read by people too."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

HEAD = "# Made by `davylamp rules build`; do not edit. "
_WIDTH = 100
_UNFOLDED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingRule:
    """A series that is computed: its name, its expression, labels it gets besides."""

    record: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return what stands in the file."""
        rule: dict[str, Any] = {"record": self.record, "expr": self.expr}
        return rule | ({"labels": dict(self.labels)} if self.labels else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRule:
    """An alert: fires while ``expr`` gives anything for ``wait`` (a PromQL duration)."""

    alert: str
    expr: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    wait: str = ""

    def data(self) -> dict[str, Any]:
        """Return what stands in the file."""
        rule: dict[str, Any] = {"alert": self.alert, "expr": self.expr}
        rule |= {"for": self.wait} if self.wait else {}
        return rule | {"labels": dict(self.labels), "annotations": dict(self.annotations)}


Rule = RecordingRule | AlertRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rules that are evaluated together, in order; ``notes`` are comments above them."""

    name: str
    rules: tuple[Rule, ...]
    notes: tuple[str, ...] = ()
    interval: str = ""


class _Dumper(yaml.SafeDumper):
    """Text of several lines as a block, everything else as usual."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def rule_file(purpose: str, groups: tuple[Group, ...]) -> str:
    """Return the text of a rules file."""
    lines = [_comment(f"{HEAD[2:]}{purpose}"), "groups:\n"]
    return "".join([*lines, *(_group(group) for group in groups)])


def _group(group: Group) -> str:
    data: dict[str, Any] = {"name": group.name}
    data |= {"interval": group.interval} if group.interval else {}
    data |= {"rules": [rule.data() for rule in group.rules]}
    text = yaml.dump([data], Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_UNFOLDED)
    notes = "".join(_comment(note, hanging="  ") for note in group.notes)
    return textwrap.indent(f"{notes}{text}", "  ", lambda line: bool(line.strip())) + "\n"


def _comment(words: str, hanging: str = "") -> str:
    wrapped = textwrap.wrap(
        words,
        _WIDTH - 2,
        initial_indent="# ",
        subsequent_indent=f"# {hanging}",
        break_on_hyphens=False,
        break_long_words=False,
    )
    return "".join(f"{line}\n" for line in wrapped)
