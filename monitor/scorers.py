"""From the configuration to who measures answers, and to what must be installed for it."""

from __future__ import annotations

from monitor.config import Config
from monitor.errors import ConfigError
from monitor.scoring import NoScorer, Scorer, ScoringSettings, WorkerScorer, missing_extras

_KEYS = {"ENTITY": "pii", "TOPIC": "topic", "LANGUAGE": "language"}


def scoring_settings(config: Config) -> ScoringSettings:
    """Return the instruments that the configuration asks for, by signal code."""
    checks = config.settings.checks
    configured = {"ENTITY": checks.pii, "TOPIC": checks.topic, "LANGUAGE": checks.language}
    return ScoringSettings(
        instruments={code: s.model_dump() for code, s in configured.items() if s is not None}
    )


def scorer_of(config: Config) -> Scorer:
    """Return who measures answers; its process starts with the first answer."""
    settings = scoring_settings(config)
    return WorkerScorer(settings) if settings.instruments else NoScorer()


def check_extras(config: Config) -> None:
    """Raise ``ConfigError`` for a configured check whose libraries are not installed."""
    for code, settings in scoring_settings(config).instruments.items():
        for extra in missing_extras(code, settings):
            path = f"checks.{_KEYS[code]}"
            raise ConfigError(
                f"needs davylamp[{extra}], which is not installed",
                file=config.file,
                line=config.positions.line(path),
                path=path,
                remedy=f"pip install 'davylamp[{extra}]', or remove the section",
            )
