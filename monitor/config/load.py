"""Read ``davylamp.yaml``: everything that is wrong with it is said at once, each with its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from monitor.config.crosscheck import cross_check
from monitor.config.effective import Config, config_of
from monitor.config.forbidden import forbidden, written_secrets
from monitor.config.known import Known
from monitor.config.positions import Positions, read_yaml
from monitor.config.problems import ConfigErrors, translate
from monitor.config.schema import Settings
from monitor.config.secrets import Place
from monitor.config.section import Section
from monitor.errors import ConfigError

MAX_BYTES = 262_144

Model = TypeVar("Model", bound=BaseModel)
SectionModel = TypeVar("SectionModel", bound=Section)


def load_config(
    path: Path | str,
    *,
    engines: Collection[str],
    probes: Collection[str],
    node_engines: Collection[str] | None = None,
    sections: Collection[str] = (),
) -> Config:
    """Return the configuration in ``path``, or raise ``ConfigErrors`` with all that is wrong.

    ``engines``, ``probes`` and ``node_engines`` are the names that exist; ``sections`` are
    top-level keys that other parts own: they are kept raw in ``Config.sections``, to be read with
    ``validate_section``.
    """
    file = Path(path)
    known = Known(engines=engines, probes=probes, node_engines=node_engines)
    return parse_config(_text_of(file), file, known, sections)


def parse_config(text: str, file: Path, known: Known, sections: Collection[str] = ()) -> Config:
    """Return the configuration that ``text`` holds, as if it stood in ``file``."""
    document = read_yaml(text, file)
    data, positions = document.data, document.positions
    if not isinstance(data, dict):
        raise ConfigErrors([_not_a_section(data, file)])
    problems = [*document.problems, *_version_first(data, positions, file)]
    problems += forbidden(data, positions, file)
    raw = {key: value for key, value in data.items() if key not in sections}
    settings, found = _read_section(Settings, raw, "", positions, file, known)
    problems += [*found, *written_secrets(data, positions, file)]
    if settings is not None:
        settings.stand_at(Place(file=file, line=1, path=""), positions)
        problems += cross_check(settings)
    if settings is None or problems:
        raise ConfigErrors(_one_for_each_place(problems))
    kept = {key: data[key] for key in sections if key in data}
    return config_of(settings, file, positions, kept)


def load_document(model: type[SectionModel], file: Path) -> SectionModel:
    """Return what ``file``, one beside ``davylamp.yaml``, says; ``ConfigErrors`` as above."""
    document = read_yaml(_text_of(file), file)
    data, positions = document.data, document.positions
    if not isinstance(data, dict):
        raise ConfigErrors([_not_a_section(data, file)])
    problems = [*document.problems, *_version_first(data, positions, file)]
    problems += forbidden(data, positions, file)
    section, found = _read_section(model, data, "", positions, file)
    problems += found
    if section is None or problems:
        raise ConfigErrors(_one_for_each_place(problems))
    section.stand_at(Place(file=file, line=1, path=""), positions)
    return section


def validate_section(
    model: type[Model], raw: object, base_path: str, positions: Positions, file: Path
) -> Model:
    """Return ``raw`` read as ``model``, or raise ``ConfigErrors`` placed below ``base_path``.

    For what plugs own: a probe's ``params``, a sink's section. Same words as the rest of the file.
    """
    section, problems = _read_section(model, raw, base_path, positions, file)
    if section is None or problems:
        raise ConfigErrors(problems)
    return section


def _text_of(file: Path) -> str:
    try:
        with file.open("rb") as handle:
            raw = handle.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not a usable path").lower()
        remedy = "run `davylamp init` to write one, or name another with --config"
        raise ConfigError(f"cannot be read: {reason}", file=file, remedy=remedy) from None
    if len(raw) > MAX_BYTES:
        problem = f"larger than {MAX_BYTES // 1024} KiB"
        raise ConfigError(problem, file=file, remedy="split the targets over several installations")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            "not UTF-8 text", file=file, line=line, remedy="save it as UTF-8"
        ) from None


def _not_a_section(data: object, file: Path) -> ConfigError:
    problem = "the file is empty" if data is None else "the file is not a section of keys"
    return ConfigError(problem, file=file, line=1, remedy="begin with version: 1")


def _version_first(
    data: Mapping[str, object], positions: Positions, file: Path
) -> Iterator[ConfigError]:
    if "version" in data and next(iter(data)) != "version":
        line = positions.line("version")
        problem = "must be the first key"
        yield ConfigError(
            problem, file=file, line=line, path="version", remedy="move it to the top"
        )


def _read_section(
    model: type[Model],
    raw: object,
    base_path: str,
    positions: Positions,
    file: Path,
    known: Known | None = None,
) -> tuple[Model | None, list[ConfigError]]:
    try:
        return model.model_validate(raw, context=known), []
    except ValidationError as error:
        return None, list(translate(error, model, base_path, positions, file))


def _one_for_each_place(problems: list[ConfigError]) -> Iterator[ConfigError]:
    """Drop what only repeats an earlier problem of the same place."""
    seen: set[str] = set()
    for problem in problems:
        if problem.path is None or problem.path not in seen:
            yield problem
        if problem.path is not None:
            seen.add(problem.path)
