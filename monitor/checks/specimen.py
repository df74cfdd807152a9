"""Short ways to specimens: records of no real target, by which a check shows it is not blind."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

from monitor.canaries import InstallationKey, MarkerRegistry, Minter
from monitor.checks.base import Specimen
from monitor.history import History
from monitor.model import (
    Calibration,
    Exchange,
    Expectation,
    Message,
    Owner,
    Part,
    Request,
    Response,
    Timing,
    Trial,
    Usage,
    ValueKind,
)
from monitor.prompts import GoldenPrompt

_WHEN = datetime(2000, 1, 1, tzinfo=UTC)


class Scene:
    """A place of its own for specimens: a key, a registry and a minter, all from one seed."""

    def __init__(self, rng: Random) -> None:
        key = InstallationKey(rng.randbytes(32))
        self.registry = MarkerRegistry(key)
        self._minter = Minter(key, self.registry, random_bits=rng.getrandbits)

    def mint(self, tenant: str = "tenant-a", *, trial: str = "specimen", exchange: int = 0) -> str:
        """Return a marker of this owner."""
        return self._minter.mint(_owner(tenant, trial, exchange), _WHEN).text

    def plant(self, kind: ValueKind, tenant: str = "tenant-a", *, trial: str = "earlier") -> str:
        """Return a planted value of this owner."""
        return self._minter.mint(_owner(tenant, trial, 0), _WHEN, kind=kind).text

    def specimen(
        self, *exchanges: Exchange, fails: str = "", judged: int | None = None, **past: Any
    ) -> Specimen:
        """Return the specimen of a trial of these exchanges; the last is judged unless said.

        ``past`` are fields of its ``History``.
        """
        numbered = tuple(replace(each, index=i) for i, each in enumerate(exchanges))
        return Specimen(
            trial=a_trial(*numbered),
            exchange=len(numbered) - 1 if judged is None else judged,
            history=History(registry=self.registry, **past),
            variant=fails,
        )


def _owner(tenant: str, trial: str, exchange: int) -> Owner:
    return Owner(
        target="specimen",
        tenant=tenant,
        isolation=tenant,
        trial=trial,
        exchange=exchange,
        epoch="2000-01-01",
        stratum_key=f"specimen/{tenant}/{trial}",
    )


def an_exchange(
    answer: str,
    *,
    prompt: str = "What is the capital of France?",
    tenant: str = "tenant-a",
    expects: Expectation | None = None,
    request: dict[str, Any] | None = None,
    response: dict[str, Any] | None = None,
    **fields: Any,
) -> Exchange:
    """Return a whole, unremarkable exchange but for what is given."""
    asked: dict[str, Any] = {
        "messages": (Message(role="user", content=prompt),),
        "max_output_tokens": 64,
    }
    said: dict[str, Any] = {
        "text": answer,
        "finish_reason": "stop",
        "model": "specimen",
        "usage": Usage(input_tokens=len(prompt) // 4 + 8, output_tokens=len(answer) // 4 + 1),
    }
    base: dict[str, Any] = {
        "index": 0,
        "part": Part.CONTROL,
        "tenant": tenant,
        "isolation": tenant,
        "request": Request(**(asked | (request or {}))),
        "expectation": expects or Expectation(),
        "timing": Timing(started_at=_WHEN, total_seconds=1.0, first_token_seconds=0.5),
        "response": Response(**(said | (response or {}))),
        "http_status": 200,
    }
    return Exchange(**(base | fields))


def a_trial(*exchanges: Exchange, **fields: Any) -> Trial:
    """Return a trial of these exchanges."""
    base: dict[str, Any] = {
        "id": "specimen",
        "target": "specimen",
        "model": "specimen",
        "probe": "specimen",
        "shape": "specimen",
        "stratum": "short/c1/cold/plain/one",
        "started_at": _WHEN,
        "purpose": "a specimen",
    }
    return Trial(exchanges=exchanges, **(base | fields))


def a_golden_prompt(**fields: Any) -> GoldenPrompt:
    """Return a golden prompt in English that expects nothing but what is given."""
    base: dict[str, Any] = {
        "suite": "specimen",
        "id": "specimen",
        "language": "en",
        "prompt": "What is the capital of France?",
        "expectations": (),
        "max_output_tokens": 64,
    }
    return GoldenPrompt(**(base | fields))


def a_calibration(**fields: Any) -> Calibration:
    """Return a calibration that nobody signed, of a target that did what is given."""
    base: dict[str, Any] = {
        "id": "specimen",
        "target": "specimen",
        "model": "specimen",
        "made_at": _WHEN,
        "made_by": "specimen",
        "reason": "a specimen",
        "subject": "",
        "checks_version": "",
        "tolerance": 0.1,
    }
    return Calibration(**(base | fields))
