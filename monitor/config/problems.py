"""Turn what pydantic says into plain words with file, line, path and remedy."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from monitor.config.positions import Loc, Positions, path_of
from monitor.config.secrets import SECRET_KEYS, quoted
from monitor.errors import ConfigError

Words = tuple[str, str]


class ConfigErrors(ConfigError):  # noqa: N818 - it holds several
    """Everything that is wrong with some files, one line each, in the order of file and line."""

    def __init__(self, errors: Iterable[ConfigError]) -> None:
        self.errors = tuple(sorted(errors, key=lambda error: (error.file, error.line or 0)))
        first = self.errors[0]
        super().__init__(
            first.problem,
            file=first.file,
            line=first.line,
            path=first.path,
            remedy=first.remedy,
        )

    def _render(self) -> str:
        return "\n".join(str(error) for error in self.errors)


def wrong(problem: str, remedy: str) -> PydanticCustomError:
    """Return the error a validator of ours raises: already in plain words."""
    return PydanticCustomError("plain", "{problem}", {"problem": problem, "remedy": remedy})


def translate(
    error: ValidationError,
    model: type[BaseModel],
    base_path: str,
    positions: Positions,
    file: Path,
) -> Iterator[ConfigError]:
    """Yield one ``ConfigError`` for each thing pydantic found."""
    found = error.errors(include_url=False)
    meant = {_meant(details, model) for details in found}
    for details in found:
        loc = _loc(details)
        if details["type"] == "missing" and loc in meant:
            continue
        problem, remedy = _words(details, model, loc)
        path = path_of(loc, base_path)
        yield ConfigError(
            problem, file=file, line=positions.line(path), path=path or None, remedy=remedy
        )


def _loc(details: ErrorDetails) -> Loc:
    """Return where it stands, without the names pydantic gives to alternatives.

    An unknown key comes last and is the user's own, whatever it looks like.
    """
    steps = details["loc"]
    own = len(steps) - 1 if details["type"] == "extra_forbidden" else len(steps)
    return tuple(step for place, step in enumerate(steps) if place == own or not _is_tag(step))


def _is_tag(step: int | str) -> bool:
    return str(step).startswith("<") and str(step).endswith(">")


def _meant(details: ErrorDetails, model: type[BaseModel]) -> Loc | None:
    """Return the key that a misspelt one was likely meant to be: it is not missing then."""
    if details["type"] != "extra_forbidden":
        return None
    *above, key = _loc(details)
    close = _closest(str(key), _keys_at(model, tuple(above)))
    return None if close is None else (*above, close)


def _closest(name: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)), None)


def near_miss(name: str, known: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the likeliest one meant, else all there are."""
    names = sorted(set(known))
    close = _closest(name, names)
    if close is not None:
        return f"did you mean '{close}'?"
    return f"use one of: {', '.join(names)}" if names else "there are none to choose from"


def _words(details: ErrorDetails, model: type[BaseModel], loc: Loc) -> Words:
    kind = details["type"]
    if kind == "extra_forbidden":
        return _unknown_key(str(loc[-1]), _keys_at(model, loc[:-1]))
    if kind == "missing":
        return "is missing", _example(str(loc[-1]), _field_at(model, loc))
    return _about_value(kind, details.get("ctx", {}), details["input"])


def _about_value(kind: str, context: Mapping[str, Any], value: object) -> Words:
    if kind == "plain":
        return str(context["problem"]), str(context["remedy"])
    if kind == "value_error":
        return _short(str(context["error"])), "see the reference of this key"
    if kind in ("literal_error", "enum"):
        return f"unknown value {quoted(value)}", f"use one of: {_choices(context)}"
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        limit = context[bound]
        return f"{words} {limit:_}" if isinstance(limit, int) else f"{words} {limit}", "change it"
    shape = _SHAPES.get(kind, "a usable value")
    return f"must be {shape}, not {quoted(value)}", _SHAPE_REMEDIES[shape]


def _short(text: str) -> str:
    """Return a plug's own words, on one line."""
    return " ".join(text.split())[:300]


def _unknown_key(key: str, known: Sequence[str]) -> Words:
    if key.lower().replace("-", "_") in SECRET_KEYS:
        return secret_key_words(key, known)
    return f"unknown key {quoted(key)}", near_miss(key, known)


def secret_key_words(key: str, known: Sequence[str] = ()) -> Words:
    """Return the words for a secret written as itself."""
    name = key.lower().replace("-", "_")
    refs = [ref for ref in (f"{name}_env", f"{name}_file") if ref in known] or list(
        filter(lambda ref: ref.endswith(("_env", "_file")), known)
    )
    names = " or ".join(refs) or f"{name}_env or {name}_file"
    return "secrets are never written in this file", f"name it with {names}"


def _example(key: str, field: FieldInfo | None) -> str:
    example = field.examples[0] if field is not None and field.examples else "…"
    return f"add it, for example {key}: {example}"


def _choices(context: Mapping[str, Any]) -> str:
    return str(context.get("expected", "")).replace("'", "").replace(" or ", ", ")


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _models(part)


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _field_at(model: type[BaseModel], loc: Loc) -> FieldInfo | None:
    names = [step for step in loc if isinstance(step, str)]
    field: FieldInfo | None = None
    models: list[type[BaseModel]] = [model]
    for name in names:
        field = next((_fields(each)[name] for each in models if name in _fields(each)), None)
        models = [] if field is None else list(_models(field.annotation))
    return field


def _keys_at(model: type[BaseModel], loc: Loc) -> list[str]:
    if not any(isinstance(step, str) for step in loc):
        return list(_fields(model))
    field = _field_at(model, loc)
    return [] if field is None else [k for each in _models(field.annotation) for k in _fields(each)]


_SHAPES: Mapping[str, str] = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "model_type": "a section of keys",
    "model_attributes_type": "a section of keys",
    "dict_type": "a section of keys",
    "mapping_type": "a section of keys",
    "tuple_type": "a list",
    "list_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
}
_SHAPE_REMEDIES = {
    "text": "put it in quotes",
    "a whole number": "write digits only, underscores allowed: 16_384",
    "a number": "write digits, for example 0.1",
    "true or false": "write true or false without quotes",
    "a section of keys": "write keys under it, each followed by a colon",
    "a list": "begin each item with a dash",
    "a usable value": "see the reference of this key",
}
_BOUNDS = {
    "greater_than": ("must be more than", "gt"),
    "greater_than_equal": ("must be at least", "ge"),
    "less_than": ("must be less than", "lt"),
    "less_than_equal": ("must be at most", "le"),
    "multiple_of": ("must be a multiple of", "multiple_of"),
    "too_short": ("must have entries, at least", "min_length"),
    "too_long": ("has too many entries, at most", "max_length"),
    "string_too_short": ("must have characters, at least", "min_length"),
    "string_too_long": ("has too many characters, at most", "max_length"),
}
