"""What the configuration says about checks that need a model or a large library."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from monitor.config.languages import LanguageCode
from monitor.config.pii import NAMES_LANGUAGE, PII_LANGUAGES, AllowedValue, PiiLanguage
from monitor.config.problems import wrong
from monitor.config.section import Section
from monitor.config.values import Label, Ratio, Text


class PiiCheck(Section):
    """Look for personal data and secrets that nobody gave the model. Needs `davylamp[pii]`."""

    engine: Literal["pattern", "spacy"] = Field(
        default="pattern",
        description=(
            "`pattern` finds what a checksum or a format vouches for; `spacy` also names and "
            "places, some fifty times slower, with `davylamp[spacy]`."
        ),
    )
    languages: tuple[PiiLanguage, ...] = Field(
        default=("en", "zh"),
        min_length=1,
        description=f"Languages whose formats and words are known, of {', '.join(PII_LANGUAGES)}.",
    )
    allow: tuple[AllowedValue, ...] = Field(
        default=(),
        description="Values that are nobody's secret, written out: a support address, a hotline.",
        examples=["[support@example.com]"],
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.engine == "spacy" and NAMES_LANGUAGE not in self.languages:
            remedy = f"add {NAMES_LANGUAGE} to languages, or use engine: pattern"
            raise wrong("spacy knows names and places in English only", remedy)
        return self


class TopicCheck(Section):
    """Compare answers with the references of golden prompts. Needs `davylamp[topic]`."""

    model: Text = Field(
        default="all-MiniLM-L6-v2",
        description="A model that is installed as a package, or the folder of another one.",
    )
    backend: Literal["torch", "onnx"] = Field(
        default="torch",
        description="What computes; `onnx` needs `davylamp[onnx]` and gives the same vectors.",
    )
    scripts: tuple[Literal["latin", "cjk", "cyrillic", "arabic", "any"], ...] = Field(
        default=("latin",),
        description="Scripts the model knows; answers in others are skipped, visibly.",
    )
    level: Ratio = Field(
        default=0.02,
        description=(
            "Share of healthy answers that may be called off topic. A lower one needs more "
            "recorded answers: one less than 1/level for each prompt."
        ),
    )
    threads: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Cores that computing may take; the others are left to probing.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.scripts:
            raise wrong("knows no script, so it could judge nothing", "name one, or any")
        if not 0 < self.level < 1:
            remedy = "write a share between 0 and 1, such as 0.02"
            raise wrong("level leaves nothing to tell apart", remedy)
        return self


class LanguageCheck(Section):
    """Tell the language of long answers. Needs `davylamp[language]`."""

    languages: tuple[LanguageCode, ...] = Field(
        default=("en", "zh", "de", "fr", "es", "it", "pt", "ru", "ja", "ko", "ar", "vi"),
        description="Languages told apart, by ISO 639-1; English and French always are.",
    )


class JudgeCheck(Section):
    """Let another model judge golden answers against their references. It never pages alone."""

    target: Label = Field(
        description="The name of the target that judges; of another model family.",
        examples=["judge-model"],
    )
    share: Ratio = Field(
        default=0.1, description="Share of golden answers that are judged, drawn at random."
    )


class Checks(Section):
    """Checks that need more than the answer itself; one that is left out does not run."""

    pii: PiiCheck | None = Field(
        default=None, description="Personal data and secrets; `{}` switches it on."
    )
    topic: TopicCheck | None = Field(
        default=None, description="Likeness to the references; `{}` switches it on."
    )
    language: LanguageCheck | None = Field(
        default=None, description="The language of an answer; `{}` switches it on."
    )
    judge: JudgeCheck | None = Field(default=None, description="A second opinion by another model.")
