"""Calibrations as canonical text, the same bytes for the same record, and back.

What is signed is this text without the signature. A version stands in it, so that a record of an
older Davylamp is read as what it was.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from monitor.errors import StoreError
from monitor.model import Calibration, FirstTokens, GroupBaseline, PromptBaseline

TEXT_VERSION = 1


def calibration_text(calibration: Calibration) -> str:
    """Return the canonical JSON of a calibration, all but its signature.

    Keys are sorted, nothing is escaped needlessly, numbers are written as Python writes them.
    """
    record = asdict(calibration)
    del record["signature"]
    record["made_at"] = calibration.made_at.isoformat()
    return json.dumps(
        {"version": TEXT_VERSION, "calibration": record},
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    )


def calibration_of(text: str, signature: str) -> Calibration:
    """Return the record that a text was made of. Verify its signature first.

    Raises ``StoreError`` if the text is of a version this Davylamp does not know.
    """
    said = json.loads(text)
    if said["version"] != TEXT_VERSION:
        msg = (
            f"a calibration of format {said['version']} was written by a newer Davylamp "
            f"(this one knows {TEXT_VERSION}); use that version"
        )
        raise StoreError(msg)
    record: dict[str, Any] = said["calibration"]
    record["made_at"] = datetime.fromisoformat(record["made_at"])
    record["parts"] = _pairs(record["parts"])
    record["scripts"] = tuple(record["scripts"])
    record["prompts"] = tuple(_prompt(each) for each in record["prompts"])
    record["groups"] = tuple(GroupBaseline(**each) for each in record["groups"])
    record["first_tokens"] = tuple(
        FirstTokens(border_input=each["border_input"], seen=_pairs(each["seen"]))
        for each in record["first_tokens"]
    )
    known = {field.name for field in fields(Calibration)}
    return Calibration(**{k: v for k, v in record.items() if k in known}, signature=signature)


def _prompt(record: dict[str, Any]) -> PromptBaseline:
    lists = {
        "similarities": tuple(record["similarities"]),
        "fingerprints": _pairs(record["fingerprints"]),
    }
    return PromptBaseline(**(record | lists))


def _pairs(pairs: list[list[Any]]) -> tuple[tuple[Any, Any], ...]:
    return tuple((first, second) for first, second in pairs)
