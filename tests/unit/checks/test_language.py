"""LANGUAGE: what the instrument read is held against the golden prompt's language."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.checks import judge_trial
from monitor.checks.language import CHECK
from monitor.model import Measurement, Signal, Status
from monitor.prompts import GoldenPrompt
from tests.builders import Bench, a_trial, an_exchange


def signal(
    language: str, reading: Measurement | None, golden: str | None = "a/b", **expected: str
) -> Signal:
    prompt = GoldenPrompt(
        suite="a", id="b", language=language, prompt="?", expectations=(), max_output_tokens=99
    )
    measured = {} if reading is None else {0: reading}
    history = replace(Bench().history, golden={"a/b": prompt}, measured=measured)
    [only] = judge_trial(
        a_trial(an_exchange("?", "!", golden=golden, **expected)), history, [CHECK]
    )
    return only


def test_another_language_is_told_by_codes() -> None:
    found = signal("en", Measurement(language="fr"))
    assert (found.status, found.variant) == (Status.FAIL, "other_language")
    assert found.explanation == "in fr, asked in en"


@pytest.mark.parametrize(("asked", "read"), [("zh", "zh"), ("nb", "nn"), ("sr", "hr")])
def test_the_same_language_passes(asked: str, read: str) -> None:
    assert signal(asked, Measurement(language=read)).status is Status.PASS


@pytest.mark.parametrize(
    ("asked", "read"), [("zh", "ja"), ("ja", "zh"), ("ko", "ja"), ("de", "nl")]
)
def test_neighbours_are_told_apart(asked: str, read: str) -> None:
    assert signal(asked, Measurement(language=read)).status is Status.FAIL


def test_what_was_not_read_is_said_and_never_passed() -> None:
    assert signal("en", None).status is Status.SKIP
    assert signal("en", Measurement()).explanation.startswith("not configured")
    skipped = signal("en", Measurement(skipped={"LANGUAGE": "unsure"}))
    assert (skipped.status, skipped.explanation) == (Status.SKIP, "unsure")
    broken = signal("en", Measurement(broken={"LANGUAGE": "ValueError"}))
    assert broken.status is Status.ERROR
    assert signal("en", Measurement(language="fr"), golden=None).status is Status.SKIP
    edited = signal("en", Measurement(language="fr"), golden_version="000000000000")
    assert edited.status is Status.SKIP
