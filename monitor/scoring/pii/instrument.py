"""The instrument of ENTITY: Presidio, behind a cheap gate, and only what is vouched for.

Loaded in the scoring worker only. Presidio's loggers are switched off there: they would quote what
they could not read.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from monitor.errors import InstrumentError
from monitor.model import SAID_CHARACTERS, Entity
from monitor.scoring.base import Asked, Instrument, Reading
from monitor.scoring.pii import names, secrets, vouching
from monitor.scoring.pii.folding import Folded, fold
from monitor.scoring.pii.found import Found
from monitor.scoring.pii.gate import Gate, Pieces, cut
from monitor.scoring.pii.languages import Language, known
from monitor.scoring.pii.presidio import (
    AnalyzerEngine,
    NlpEngine,
    NoOpNlpEngine,
    RecognizerRegistry,
)
from monitor.scoring.pii.recognizers import (
    ASSIGNED_KEY,
    ONE_PASS,
    VENDOR_KEY,
    AsFound,
    recognizers,
)
from monitor.scoring.pii.telephone import Telephone

MOST_ENTITIES = 200
_LOGGERS = ("presidio-analyzer", "decision_process", "tldextract")


def build(settings: Mapping[str, Any]) -> Instrument:
    """Load what the settings of ``checks.pii`` ask for.

    Raises ``InstrumentError`` for a language nothing is known of, or a kind without a recogniser.
    """
    for name in _LOGGERS:
        logging.getLogger(name).disabled = True
    return PiiInstrument(
        known(settings["languages"]), names=names.load() if settings["engine"] == "spacy" else None
    )


class PiiInstrument:
    """Finds strong entities by format, and names and places if it was given a model for them.

    ``gated`` is false only where the gate itself is measured.
    """

    def __init__(
        self,
        languages: Sequence[Language],
        *,
        names: names.Names | None = None,
        gated: bool = True,
    ) -> None:
        phones = Telephone(languages)
        self._vouch = _vouching(languages, phones)
        self._analyzer = _analyzer(languages, phones)
        missing = set(self._vouch) ^ set(self._analyzer.get_supported_entities(ONE_PASS))
        if missing:
            raise InstrumentError(f"no recogniser, or nothing that vouches, for {sorted(missing)}")
        self._gate = Gate(languages) if gated else None
        self._names = names

    def measure(self, asked: Sequence[Asked]) -> list[Reading]:
        """Return the entities of each answer, strong ones first, 200 at most."""
        return [self.entities(each.written) for each in asked]

    def entities(self, text: str) -> tuple[Entity, ...]:
        """Return the entities of a text; what is beyond ``SAID_CHARACTERS`` is not looked at."""
        folded = fold(text[:SAID_CHARACTERS])
        strong = self._strong(folded)
        weak = self._names.find(folded.text) if self._names else ()
        free = [each for each in weak if not _overlaps(each, strong)]
        return tuple(_placed(each, folded) for each in (*strong, *free)[:MOST_ENTITIES])

    def _strong(self, folded: Folded) -> list[Entity]:
        places = self._gate.pieces(folded.text) if self._gate else ((0, len(folded.text)),)
        if not places:
            return []
        pieces = cut(folded.text, places)
        return _apart(self._vouched(pieces))

    def _vouched(self, pieces: Pieces) -> Iterable[Entity]:
        for result in self._analyzer.analyze(text=pieces.text, language=ONE_PASS):
            found = Found(result.entity_type, pieces.text, result.start, result.end)
            if not self._vouch[found.kind](found):
                continue
            kind, start = found.kind, found.start
            if kind == ASSIGNED_KEY:
                kind, start = VENDOR_KEY, found.end - len(secrets.assigned(found.value))
            start, end = pieces.origin(start, found.end)
            yield Entity(kind=kind, start=start, end=end)


def _analyzer(languages: Sequence[Language], phones: Telephone) -> AnalyzerEngine:
    registry = RecognizerRegistry(
        recognizers=recognizers(languages, phones), supported_languages=[ONE_PASS]
    )
    engine: NlpEngine = NoOpNlpEngine(models=[{"lang_code": ONE_PASS, "model_name": ""}])
    return AnalyzerEngine(
        registry=registry,
        nlp_engine=engine,
        supported_languages=[ONE_PASS],
        context_aware_enhancer=AsFound(),
    )


def _vouching(languages: Sequence[Language], phones: Telephone) -> dict[str, vouching.Vouch]:
    national = {
        each.kind: vouching.national_id(each.checker, each.words, alone=each.alone)
        for language in languages
        for each in language.ids
    }
    return national | {
        "EMAIL_ADDRESS": vouching.email,
        "PHONE_NUMBER": phones,
        "CREDIT_CARD": vouching.card,
        "IBAN_CODE": vouching.iban,
        "IP_ADDRESS": vouching.address,
        "US_SSN": vouching.ssn,
        VENDOR_KEY: secrets.vendor_key,
        ASSIGNED_KEY: secrets.assigned_key,
        "JWT": secrets.token,
        "PRIVATE_KEY": secrets.private_key,
    }


def _apart(entities: Iterable[Entity]) -> list[Entity]:
    """Return entities that do not overlap, longer ones kept, an unnamed key last; then by place."""
    kept: list[Entity] = []
    for each in sorted(entities, key=lambda e: (e.start - e.end, e.kind == VENDOR_KEY, e.start)):
        if not _overlaps(each, kept):
            kept.append(each)
        if len(kept) == MOST_ENTITIES:
            break
    return sorted(kept, key=lambda e: e.start)


def _overlaps(entity: Entity, others: Iterable[Entity]) -> bool:
    return any(entity.start < other.end and other.start < entity.end for other in others)


def _placed(entity: Entity, folded: Folded) -> Entity:
    start, end = folded.origin(entity.start, entity.end)
    return Entity(kind=entity.kind, start=start, end=end, strong=entity.strong)
