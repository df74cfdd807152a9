"""Presidio as we use it, without the engines of others that it looks for.

Presidio and spaCy ask whether torch and transformers are there, by importing them. Nothing of ours
in them needs either, and each process that looks for personal data would spend five seconds of
processor time and hundreds of megabytes on that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import cast


@contextmanager
def _absent(*names: str) -> Iterator[None]:
    """Let these modules not be found. One that is loaded already stays, for it costs no more."""
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = cast("ModuleType", None)  # how Python writes "not to be imported"
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)


with _absent("torch", "transformers"):
    from presidio_analyzer import (
        AnalyzerEngine,
        ContextAwareEnhancer,
        EntityRecognizer,
        Pattern,
        PatternRecognizer,
        RecognizerRegistry,
        RecognizerResult,
    )
    from presidio_analyzer.nlp_engine import (
        NerModelConfiguration,
        NlpEngine,
        NoOpNlpEngine,
        SpacyNlpEngine,
    )
    from presidio_analyzer.predefined_recognizers import (
        CreditCardRecognizer,
        EmailRecognizer,
        IbanRecognizer,
        IpRecognizer,
        PhoneRecognizer,
        SpacyRecognizer,
        UsSsnRecognizer,
    )

__all__ = [
    "AnalyzerEngine",
    "ContextAwareEnhancer",
    "CreditCardRecognizer",
    "EmailRecognizer",
    "EntityRecognizer",
    "IbanRecognizer",
    "IpRecognizer",
    "NerModelConfiguration",
    "NlpEngine",
    "NoOpNlpEngine",
    "Pattern",
    "PatternRecognizer",
    "PhoneRecognizer",
    "RecognizerRegistry",
    "RecognizerResult",
    "SpacyNlpEngine",
    "SpacyRecognizer",
    "UsSsnRecognizer",
]
