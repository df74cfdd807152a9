"""Load a file the way the tests of this folder do."""

from __future__ import annotations

from pathlib import Path

from monitor.config import Config, load_config

ENGINES = ("openai",)
PROBES = ("boundary", "burst", "canary", "golden", "prefix", "tenant")
NODE_ENGINES = ("llama.cpp", "ollama", "sglang", "vllm")

GOOD = """\
version: 1
environment: prod
targets:
  - name: glm-prod
    engine: openai
    base_url: https://gateway.example.com/v1
    model: glm-5.3
    tenants:
      - {name: donor-a, api_key_env: DONOR_A_KEY, roles: [donor]}
      - {name: victim-b, api_key_file: victim-b.key, roles: [victim]}
"""


def load(path: Path) -> Config:
    """Load ``path`` with the names above."""
    return load_config(path, engines=ENGINES, probes=PROBES, node_engines=NODE_ENGINES)


def load_text(folder: Path, text: str) -> Config:
    """Load ``text`` as if it were a file in ``folder``."""
    file = folder / "davylamp.yaml"
    file.write_text(text, encoding="utf-8")
    return load(file)
