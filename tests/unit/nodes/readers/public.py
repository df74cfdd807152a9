"""Pages that operators made public, where somebody laid them beside the checkout.

They are their authors' texts, so they are no part of the repository; ``shapes`` has figures of our
own in the same shapes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_CHECKOUT = Path(__file__).resolve().parents[4]


def folder() -> Path | None:
    """Return the folder ``samples`` of a neighbour of the checkout, ``None`` if there is none."""
    mark = "samples/sglang_issue30233_pd_facts.json"
    found = sorted(_CHECKOUT.parent.glob(f"*/{mark}"))
    return found[0].parent if found else None


def text(name: str) -> str:
    """Return one sample as it is."""
    where = folder()
    assert where is not None
    return (where / name).read_text(encoding="utf-8")


def document(name: str) -> Any:
    """Return one JSON sample."""
    return json.loads(text(name))
