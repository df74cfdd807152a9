"""The sink that keeps what was said: sealed to a public key, so that this machine cannot read it.

Only where ``storage.bodies`` is configured. A trial is kept whole, each exchange in a body of its
own, or not at all, and what was not kept is counted with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from monitor.config import Config
from monitor.conventions import BodyState
from monitor.errors import ConfigError
from monitor.model import Outcome, Trial, Verdict, VerdictClass
from monitor.store import Writer
from monitor.store.bodies import KEY_FILE_BYTES, KeyFileError, Sealer, TooLargeError
from monitor.store.exchange_text import Kept, kept_text
from monitor.store.rows import BodyRow

# All bodies of a trial are one line of the spool.
MOST_SEALED_CHARACTERS = 64 * 1024 * 1024
# Anything shorter is no key, and would be found in ordinary text.
_LEAST_SECRET = 8


class BodySink:
    """Seals the exchanges of trials and puts them into the store as rows that may be shed.

    ``secrets`` are the credentials of the installation: a trial in which one of them stands (a
    server may repeat a request's headers) is not kept. ``process`` names this run of Davylamp.
    ``count`` is told how many bodies came to what.
    """

    def __init__(
        self,
        writer: Writer,
        sealer: Sealer,
        *,
        only_not_good: bool,
        secrets: Collection[str],
        process: str,
        count: Callable[[BodyState, int], None],
    ) -> None:
        self._writer = writer
        self._sealer = sealer
        self._only_not_good = only_not_good
        self._secrets = frozenset(_as_written(s) for s in secrets if len(s) >= _LEAST_SECRET)
        self._process = process
        self._count = count

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        """Keep what was said in a trial, if it is wanted, can be, and there is room."""
        if self._only_not_good and _is_plain(verdict):
            return
        if trial.exchanges:
            self._count(self._keep(trial, verdict), len(trial.exchanges))

    def _keep(self, trial: Trial, verdict: Verdict) -> BodyState:
        texts = [kept_text(each) for each in self._kept(trial)]
        if any(secret in text for text in texts for secret in self._secrets):
            return BodyState.HOLDS_KEY
        try:
            rows = [
                BodyRow(
                    trial=trial.id,
                    exchange=exchange.index,
                    target=trial.target,
                    tenant=exchange.tenant,
                    stored_at=verdict.decided_at,
                    key_id=self._sealer.key_id,
                    sealed=self._sealer.seal(text, trial.id, exchange.index),
                    held=verdict.finding is not None,
                )
                for exchange, text in zip(trial.exchanges, texts, strict=True)
            ]
        except TooLargeError:
            return BodyState.TOO_LARGE
        if sum(len(row.sealed) for row in rows) > MOST_SEALED_CHARACTERS:
            return BodyState.TOO_LARGE
        return BodyState.KEPT if self._writer.put(rows, droppable=True) else BodyState.SHED

    def _kept(self, trial: Trial) -> Iterable[Kept]:
        alone, count = replace(trial, exchanges=()), len(trial.exchanges)
        return [
            Kept(trial=alone, exchange=exchange, count=count, process=self._process)
            for exchange in trial.exchanges
        ]

    def close(self) -> None:
        """Nothing of its own to finish: the store is closed by whoever opened it."""


def sealer_of(config: Config) -> Sealer | None:
    """Return what seals to the configured public key; ``None`` if no bodies are kept.

    Raises ``ConfigError`` that names place and remedy, and never what the file holds.
    """
    bodies = config.storage.bodies
    if bodies is None:
        return None
    place = bodies.place_of("public_key_file")
    name = bodies.public_key_file
    try:
        with (config.file.parent / name).open("rb") as file:
            pem = file.read(KEY_FILE_BYTES)
        return Sealer.of_pem(pem)
    except KeyFileError as error:
        problem, remedy = error.problem, error.remedy
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        problem = f"cannot be read: {reason.lower()}"
        remedy = "openssl pkey -in PRIVATE -pubout -out PUBLIC makes one"
    raise ConfigError(
        f"key file {name} {problem}",
        file=place.file,
        line=place.line,
        path=place.path,
        remedy=remedy,
    )


def _is_plain(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.GOOD and verdict.verdict_class is VerdictClass.NONE


def _as_written(secret: str) -> bytes:
    """Return a credential as it would stand in a text of an exchange."""
    return json.dumps(secret, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
