"""The shape of a suite file: pydantic at the edge, records inside."""

import difflib
import json
import re
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from monitor.prompts.pattern import PatternError, check_pattern
from monitor.prompts.record import (
    AllOf,
    AnyOf,
    DateIs,
    Expectation,
    GoldenPrompt,
    JsonHolds,
    ListHas,
    NoneOf,
    NumberIs,
    PatternFits,
)
from monitor.prompts.text import normalise

MAX_PROMPT = 1_000  # characters
MAX_TOKENS = 256
MAX_REFERENCE = 600  # characters
LEAST_REFERENCES = 3  # fewer say too little of what right answers have in common
_MAX_NUMBER = 10**15
_KINDS = ("any", "all", "none", "number", "date", "items", "json", "pattern")
_README = "see golden_prompts/README.md"
_EXPECTED = {
    "string_type": ("text", "put quotes around it"),
    "list_type": ("a list", "write it as [a, b] or with '- '"),
    "int_type": ("a whole number", "write it without quotes"),
    "dict_type": ("a mapping", _README),
    "model_type": ("a mapping", _README),
}
_ISO_DAY = re.compile(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}\Z")
_NAME = r"^[a-z0-9][a-z0-9-]{0,47}$"


def _wrong(problem: str, remedy: str) -> PydanticCustomError:
    return PydanticCustomError("golden", "{problem}", {"problem": problem, "remedy": remedy})


def _visible(text: str) -> str:
    if not normalise(text):
        raise _wrong("the text is blank", "write at least one visible character")
    return text


def _exact(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(f"expected a number, found {_kind(value)}", "write it without quotes")
    if not abs(value) <= _MAX_NUMBER:
        raise _wrong("the number is too large", "ask for one of at most 15 digits")
    return Decimal(str(value))


def _day(value: object) -> date:
    if not isinstance(value, str) or not _ISO_DAY.match(value):
        raise _wrong(f"expected a date, found {_kind(value)}", "write it as 1969-07-20")
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise _wrong(f"{value} is not in the calendar", "mend the day or the month") from None


def _all_different(references: list[str]) -> list[str]:
    told: dict[str, int] = {}
    for place, reference in enumerate(references):
        same = told.setdefault(normalise(reference), place)
        if same != place:
            raise _wrong(
                f"references {same + 1} and {place + 1} say the same",
                "word them differently: case, signs of width and spaces do not count",
            )
    return references


def _safe_pattern(regex: str) -> str:
    try:
        check_pattern(regex)
    except PatternError as error:
        raise _wrong(
            f"bad pattern: {error}", "see 'Patterns' in golden_prompts/README.md"
        ) from None
    return regex


def _kind(value: object) -> str:
    names = {dict: "a mapping", list: "a list", str: "text", bool: "true/false", int: "a number"}
    names |= {float: "a number", type(None): "nothing"}
    return names.get(type(value), f"a {type(value).__name__}")


_Text = Annotated[str, Field(max_length=200), AfterValidator(_visible)]
_Texts = Annotated[list[_Text], Field(min_length=1, max_length=20)]
_Number = Annotated[Decimal, BeforeValidator(_exact)]
_Reference = Annotated[str, Field(max_length=MAX_REFERENCE), AfterValidator(_visible)]
_References = Annotated[
    list[_Reference],
    Field(min_length=LEAST_REFERENCES, max_length=12),
    AfterValidator(_all_different),
]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _ExpectShape(_Shape):
    any_of: _Texts | None = Field(None, alias="any")
    all_of: _Texts | None = Field(None, alias="all")
    none_of: _Texts | None = Field(None, alias="none")
    number: _Number | None = None
    tolerance: Annotated[_Number, Field(ge=0)] | None = None
    units: _Texts | None = None
    day: Annotated[date, BeforeValidator(_day)] | None = Field(None, alias="date")
    items: int | None = Field(None, ge=2, le=40)
    json_holds: dict[str, JsonValue] | None = Field(None, alias="json", min_length=1)
    pattern: Annotated[str, AfterValidator(_safe_pattern)] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        words = (self.any_of, self.all_of, self.none_of)
        given = (*words, self.number, self.day, self.items, self.json_holds, self.pattern)
        kinds = [kind for kind, value in zip(_KINDS, given, strict=True) if value is not None]
        if len(kinds) != 1:
            found = " and ".join(kinds) or "none of them"
            raise _wrong(
                f"an expectation is exactly one of {', '.join(_KINDS)}; found {found}",
                "make each its own list entry",
            )
        if self.number is None and (self.tolerance is not None or self.units is not None):
            raise _wrong("tolerance and units belong to a number", "remove them")
        return self

    def record(self) -> Expectation:
        made: Expectation = PatternFits(regex=self.pattern or "")
        if self.any_of is not None:
            made = AnyOf(strings=tuple(self.any_of))
        elif self.all_of is not None:
            made = AllOf(fragments=tuple(self.all_of))
        elif self.none_of is not None:
            made = NoneOf(strings=tuple(self.none_of))
        elif self.number is not None:
            tolerance, units = self.tolerance or Decimal(0), tuple(self.units or ())
            made = NumberIs(value=self.number, tolerance=tolerance, units=units)
        elif self.day is not None:
            made = DateIs(day=self.day)
        elif self.items is not None:
            made = ListHas(items=self.items)
        elif self.json_holds is not None:
            values = json.dumps(self.json_holds, sort_keys=True, ensure_ascii=False)
            made = JsonHolds(values=values)
        return made


class _PromptShape(_Shape):
    id: str = Field(pattern=_NAME)
    prompt: Annotated[str, Field(max_length=MAX_PROMPT), AfterValidator(_visible)]
    structure: Literal["text", "json", "code"] = "text"
    code_language: str | None = Field(None, pattern=_NAME)
    expect: list[_ExpectShape] = Field(min_length=1, max_length=8)
    references: _References | None = None
    max_output_tokens: int = Field(48, ge=1, le=MAX_TOKENS)
    tags: list[Annotated[str, Field(pattern=_NAME)]] = Field(default=[], max_length=10)

    @model_validator(mode="after")
    def _json_is_declared(self) -> Self:
        wants_json = any(one.json_holds is not None for one in self.expect)
        if wants_json != (self.structure == "json"):
            raise _wrong(
                "a json expectation and 'structure: json' need each other",
                "add the one that is missing",
            )
        return self

    @model_validator(mode="after")
    def _code_is_declared(self) -> Self:
        if (self.code_language is not None) != (self.structure == "code"):
            raise _wrong(
                "'code_language' and 'structure: code' need each other",
                "add the one that is missing",
            )
        return self


class SuiteShape(_Shape):
    """One file of a suite."""

    version: Literal[1]
    suite: str = Field(pattern=_NAME)
    language: str = Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$")
    prompts: list[_PromptShape] = Field(min_length=1, max_length=500)

    def records(self) -> tuple[GoldenPrompt, ...]:
        """Make the records, in the order of the file."""
        return tuple(
            GoldenPrompt(
                suite=self.suite,
                id=one.id,
                language=self.language,
                prompt=one.prompt,
                structure=one.structure,
                expectations=tuple(expected.record() for expected in one.expect),
                max_output_tokens=one.max_output_tokens,
                tags=tuple(one.tags),
                references=tuple(one.references or ()),
                code_language=one.code_language or "",
            )
            for one in self.prompts
        )


def explain(error: ErrorDetails) -> tuple[str, str]:
    """Turn pydantic's words into a problem and its remedy."""
    place, value = error["loc"], error["input"]
    key = place[-1] if place else ""
    match error["type"]:
        case "golden":
            return error["msg"], error["ctx"]["remedy"]
        case "extra_forbidden":
            return f"unknown key '{key}'", _nearest(str(key), len(place))
        case "missing":
            return f"missing key '{key}'", "add it"
        case "string_pattern_mismatch":
            return f"'{value}' is not a valid {_noun(place)}", "use lower case, digits and '-'"
        case kind if kind in _EXPECTED:
            wanted, remedy = _EXPECTED[kind]
            return f"expected {wanted}, found {_kind(value)}", remedy
        case _:
            return error["msg"].lower(), _README


def _noun(place: tuple[int | str, ...]) -> str:
    names = [step for step in place if isinstance(step, str)]
    return names[-1].removesuffix("s") if names[-1] == "tags" else names[-1]


def _nearest(key: str, depth: int) -> str:
    """Name the key that was meant, or those allowed there."""
    shapes: dict[int, type[_Shape]] = {1: SuiteShape, 3: _PromptShape}
    shape = shapes.get(depth, _ExpectShape)
    allowed = [field.alias or name for name, field in shape.model_fields.items()]
    near = difflib.get_close_matches(key, allowed, n=1)
    return f"did you mean '{near[0]}'?" if near else f"allowed: {', '.join(allowed)}"
