"""Rules as data: those that come with Davylamp, and a user's own, read strictly.

A rule is one block of YAML; docs/node-rules.md says how to read and write one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from packaging.specifiers import SpecifierSet
from pydantic import AfterValidator, Field, model_validator

from monitor.config.load import load_document
from monitor.config.problems import ConfigErrors, near_miss, wrong
from monitor.config.secrets import quoted
from monitor.config.section import Section
from monitor.config.values import HttpUrl, IsoDate, Label, Text
from monitor.errors import ConfigError
from monitor.nodes.predicate import AllOf, Predicate, Released, subjects_of
from monitor.nodes.predicate_parsing import Loc, PredicateError, parse_predicate, parse_versions
from monitor.nodes.readers import NODE_ENGINES
from monitor.nodes.record import Conformity
from monitor.nodes.view import GATEWAY, Kind
from monitor.nodes.why import settings_in, template_problem

SHIPPED = Path(__file__).with_name("rules")
MOST_FILES = 64
MOST_RULES_A_FILE = 200
ANY_ENGINE = "any"
ENGINES = tuple(sorted(NODE_ENGINES))
"""The engines a rule may speak of: those that can be read."""

_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}[a-z0-9]", re.ASCII)
_SEVERITIES = {"fail": Conformity.FAIL, "warn": Conformity.WARN}

Severity = Literal["fail", "warn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: of which nodes it speaks, when, how bad that is, and where one reads about it.

    ``severity`` is ``None`` for a rule that counts in strict mode only. ``condition`` is ``when``
    and the range of versions together.
    """

    id: str
    engine: str
    versions: SpecifierSet | None
    condition: Predicate
    severity: Conformity | None
    strict_severity: Conformity | None
    why: str
    link: str
    public: date | None
    shape: str | None
    reviewed: date

    def applies_to(self, engine: str) -> bool:
        """Return true if it speaks of nodes of this engine."""
        return self.engine in (ANY_ENGINE, engine)

    @property
    def needs_gateway(self) -> bool:
        """True if it speaks of what a gateway states."""
        return GATEWAY in subjects_of(self.condition)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """All rules that were loaded.

    ``dated`` is the newest day on which one of those that come along was reviewed: a rule of one's
    own makes none of the others younger. ``sha256`` is of the files' names and bytes, so that two
    installations can tell whether they hold the same rules.
    """

    rules: tuple[Rule, ...]
    strict: bool
    dated: date
    sha256: str

    @property
    def ids(self) -> frozenset[str]:
        """The names of all rules, those that count in strict mode only included."""
        return frozenset(rule.id for rule in self.rules)

    def severity(self, rule: Rule) -> Conformity | None:
        """Return what a rule makes of a node that it holds of; ``None`` if it does not count."""
        return (rule.strict_severity if self.strict else None) or rule.severity


def _rule_id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise wrong("is not a rule's name", "use up to 64 lower-case letters, digits, '-' and '.'")
    return value


def _engine(value: str) -> str:
    if value not in (ANY_ENGINE, *ENGINES):
        raise wrong("is not an engine that is read", near_miss(value, (ANY_ENGINE, *ENGINES)))
    return value


def _template(value: str) -> str:
    problem = template_problem(value)
    if problem is not None:
        raise wrong(*problem)
    return value


class RuleShape(Section):
    """One rule as it is written."""

    id: Annotated[Text, AfterValidator(_rule_id)] = Field(
        description="Unique; what an acceptance names.", examples=["sglang-pd-over-length"]
    )
    engine: Annotated[Text, AfterValidator(_engine)] = Field(
        description="Whose nodes it speaks of; `any` for all.", examples=["sglang"]
    )
    versions: Text | None = Field(default=None, description="A range of releases, as in PEP 440.")
    when: dict[str, object] = Field(
        description="What must hold.", examples=["{fact: role, is: prefill}"]
    )
    severity: Severity | None = Field(
        default=None,
        description="What it makes of a node. Left out, it counts in strict mode only.",
    )
    strict_severity: Severity | None = Field(
        default=None, description="The same where `nodes.strict` is set; left out, `severity`."
    )
    why: Annotated[Text, AfterValidator(_template)] = Field(
        description="One sentence; {enforced_tokens} and the like are filled in."
    )
    link: HttpUrl | None = Field(default=None, description="Where one reads about it, if public.")
    public: IsoDate | None = Field(
        default=None, description="The day it was made public, if known."
    )
    shape: Label | None = Field(default=None, description="The probe that shows it.")
    reviewed: IsoDate = Field(description="The day somebody last compared it with its source.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.severity is None and self.strict_severity is None:
            raise wrong("never counts", "add severity, strict_severity or both")
        return self


def _some(value: tuple[RuleShape, ...]) -> tuple[RuleShape, ...]:
    if not 0 < len(value) <= MOST_RULES_A_FILE:
        problem = f"has {len(value)} rules, not 1 to {MOST_RULES_A_FILE}"
        raise wrong(problem, "share them out among files")
    return value


class RulesFile(Section):
    """One file of rules."""

    version: Literal[1]
    rules: Annotated[tuple[RuleShape, ...], AfterValidator(_some)]


def load_rules(
    extra: Path | None = None,
    *,
    strict: bool = False,
    shapes: Collection[str] | None = None,
) -> RuleSet:
    """Return the rules that come with Davylamp and those of the folder ``extra``.

    ``shapes`` are the probes that exist, if the caller knows. Raises ``ConfigError`` (often a
    ``ConfigErrors``) that names file, line and path of what is wrong.
    """
    files = [*_files(SHIPPED), *(() if extra is None else _files(extra))]
    rules: list[Rule] = []
    reviewed: list[date] = []
    taken: dict[str, Path] = {}
    framed: list[bytes] = []
    for file in files:
        loaded = _load(file)
        _refuse_twice(loaded, file, taken)
        _refuse_unknown_shapes(loaded, shapes)
        rules += _rules_of(loaded)
        reviewed += [each.reviewed for each in loaded.rules if file.parent == SHIPPED]
        framed += _framed(file.name.encode(), file.read_bytes())
    return RuleSet(
        rules=tuple(rules),
        strict=strict,
        dated=max(reviewed),
        sha256=hashlib.sha256(b"".join(framed)).hexdigest(),
    )


def _load(file: Path) -> RulesFile:
    try:
        return load_document(RulesFile, file)
    except ConfigErrors:
        raise
    except ConfigError as error:
        remedy = "mend it, or take it out of the folder"
        raise ConfigError(error.problem, file=file, line=error.line, remedy=remedy) from None


def _framed(*parts: bytes) -> Iterator[bytes]:
    """Yield parts so that they cannot run into each other."""
    for part in parts:
        yield len(part).to_bytes(8)
        yield part


def _files(folder: Path) -> Sequence[Path]:
    if not folder.is_dir():
        raise ConfigError("no such folder", file=folder, remedy="name a folder of *.yaml files")
    stray = sorted(folder.glob("*.yml"))
    if stray:
        raise ConfigError("is not looked at", file=stray[0], remedy="let its name end in .yaml")
    files = sorted(file for file in folder.glob("*.yaml") if file.is_file())
    if not 0 < len(files) <= MOST_FILES:
        problem = f"has {len(files)} files of rules, not 1 to {MOST_FILES}"
        raise ConfigError(problem, file=folder, remedy="name a folder of *.yaml files")
    return files


def _refuse_twice(loaded: RulesFile, file: Path, taken: dict[str, Path]) -> None:
    for shape in loaded.rules:
        if shape.id in taken:
            problem = f"the rule '{shape.id}' is already in {taken[shape.id].name}"
            raise _error(shape, ("id",), problem, "give it another name, or remove one of them")
        taken[shape.id] = file


def _refuse_unknown_shapes(loaded: RulesFile, shapes: Collection[str] | None) -> None:
    for shape in loaded.rules:
        if shapes is not None and shape.shape is not None and shape.shape not in shapes:
            raise _error(
                shape, ("shape",), "is not a probe that exists", near_miss(shape.shape, shapes)
            )


def _rules_of(loaded: RulesFile) -> Iterator[Rule]:
    """Yield a file's rules; all predicates that are wrong are said at once."""
    problems: list[ConfigError] = []
    for shape in loaded.rules:
        try:
            yield _rule(shape)
        except PredicateError as error:
            problems.append(_error(shape, error.loc, error.problem, error.remedy))
    if problems:
        raise ConfigErrors(problems)


def _rule(shape: RuleShape) -> Rule:
    versions = None if shape.versions is None else parse_versions(shape.versions, ("versions",))
    condition = parse_predicate(shape.when, ("when",))
    _refuse_unread(shape, condition)
    if versions is not None:
        condition = AllOf((condition, Released(versions)))
    severity, strict_severity = shape.severity, shape.strict_severity
    return Rule(
        id=shape.id,
        engine=shape.engine,
        versions=versions,
        condition=condition,
        severity=None if severity is None else _SEVERITIES[severity],
        strict_severity=None if strict_severity is None else _SEVERITIES[strict_severity],
        why=shape.why,
        link=shape.link or "",
        public=shape.public,
        shape=shape.shape,
        reviewed=shape.reviewed,
    )


def _refuse_unread(shape: RuleShape, condition: Predicate) -> None:
    """Refuse a setting that no node could ever tell: its rule would never be told either."""
    readers = [NODE_ENGINES[each] for each in ENGINES if shape.engine in (ANY_ENGINE, each)]
    read = {name for reader in readers for name in reader.settings}
    named = [("when", each.name) for each in subjects_of(condition) if each.kind is Kind.SETTING]
    named += [("why", name) for name in settings_in(shape.why)]
    for key, name in named:
        if name not in read:
            problem = f"the setting {quoted(name)} is not read"
            raise PredicateError(problem, (key,), near_miss(name, read))


def _error(shape: RuleShape, loc: Loc, problem: str, remedy: str) -> ConfigError:
    place = shape.place_of(str(loc[0]), *loc[1:])
    return ConfigError(problem, file=place.file, line=place.line, path=place.path, remedy=remedy)
