"""From the configuration to who measures answers, and to what must be installed for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from monitor.config import Config, ConfigErrors
from monitor.errors import ConfigError, InstrumentError
from monitor.scoring import NoScorer, Scorer, ScoringSettings, WorkerScorer, missing_extras
from monitor.scoring.topic.folder import PACKAGED, find_model

_KEYS = {"ENTITY": "pii", "TOPIC": "topic", "LANGUAGE": "language"}


def scoring_settings(config: Config) -> ScoringSettings:
    """Return the instruments that the configuration asks for, by signal code."""
    checks = config.settings.checks
    configured = {"ENTITY": checks.pii, "TOPIC": checks.topic, "LANGUAGE": checks.language}
    instruments = {code: s.model_dump() for code, s in configured.items() if s is not None}
    if "TOPIC" in instruments:
        instruments["TOPIC"]["model"] = _model(config, instruments["TOPIC"])
    return ScoringSettings(instruments=instruments)


def _model(config: Config, settings: Mapping[str, Any]) -> str:
    """Return the name of a packaged model, or a folder; a relative one is the file's neighbour."""
    name = str(settings["model"])
    return name if name in PACKAGED else str(config.file.parent / Path(name).expanduser())


def scorer_of(config: Config) -> Scorer:
    """Return who measures answers; its process starts with the first answer."""
    settings = scoring_settings(config)
    return WorkerScorer(settings) if settings.instruments else NoScorer()


def check_extras(config: Config) -> None:
    """Raise ``ConfigErrors`` for configured checks whose libraries or model are not installed."""
    instruments = scoring_settings(config).instruments
    missing = [
        _missing(config, f"checks.{_KEYS[code]}", extra)
        for code, settings in instruments.items()
        for extra in missing_extras(code, settings)
    ]
    if missing:
        raise ConfigErrors(missing)
    if "TOPIC" in instruments:
        _check_model(config, instruments["TOPIC"]["model"])


def _missing(config: Config, path: str, extra: str) -> ConfigError:
    return ConfigError(
        f"needs davylamp[{extra}], which is not installed",
        file=config.file,
        line=config.positions.line(path),
        path=path,
        remedy=f"pip install 'davylamp[{extra}]', or remove the section",
    )


def _check_model(config: Config, model: str) -> None:
    path = "checks.topic.model"
    try:
        find_model(model)
    except InstrumentError as error:
        line = config.positions.line(path)
        raise ConfigError(str(error), file=config.file, line=line, path=path) from error
