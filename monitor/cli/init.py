"""``davylamp init``: write a first configuration, commented, or one made of what a URL tells."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from monitor.cli.config_commands import Estimate, Report, price_words
from monitor.cli.proposal import MAX_TARGETS, propose
from monitor.config import Config, Target
from monitor.config.crosscheck import Known
from monitor.config.load import parse_config
from monitor.config.proofs import impossible_proofs
from monitor.errors import UsageError

TEMPLATE = Path(__file__).parent.parent / "config" / "davylamp.template.yaml"


class Limit(Protocol):
    """A limit on prompt size and who states it."""

    @property
    def tokens(self) -> int:
        """How many tokens."""

    @property
    def source(self) -> str:
        """Which endpoint and field say so."""


class DiscoveredModel(Protocol):
    """A model an endpoint offers."""

    @property
    def id(self) -> str:
        """Its name in the API."""

    @property
    def limits(self) -> Sequence[Limit]:
        """What is stated about its limits; often nothing, sometimes contradicting."""


class Discovery(Protocol):
    """What an endpoint tells about itself."""

    @property
    def engine(self) -> str:
        """The engine it seems to be, such as ``vllm``."""

    @property
    def version(self) -> str | None:
        """Its version, if told."""

    @property
    def models(self) -> Sequence[DiscoveredModel]:
        """The models it offers."""

    @property
    def notes(self) -> Sequence[str]:
        """What else is worth knowing, in our own words."""

    @property
    def can_tokenize(self) -> bool:
        """True if it counts tokens for us."""


Discover = Callable[[str, str | None], Awaitable[Discovery]]


def init(path: Path, *, force: bool = False) -> Report:
    """Write the commented template to ``path``; never over a file that is there, unless forced."""
    write_new(path, TEMPLATE.read_text(encoding="utf-8"), force=force)
    text = (
        f"wrote {path}\n"
        "next: fill in the lines marked CHANGE, export the keys it names, then run\n"
        f"  davylamp config check --config {path}\n"
        f"  davylamp doctor --config {path}\n"
    )
    return Report(text=text, data={"file": str(path)})


async def init_from(
    url: str,
    path: Path,
    *,
    discover: Discover,
    engines: Collection[str],
    probes: Collection[str],
    key_env: str | None = None,
    force: bool = False,
    estimate: Estimate | None = None,
) -> Report:
    """Ask ``url`` what it serves and write a target for each model, with what it will cost."""
    refuse_to_overwrite(path, force=force)
    found = await discover(url, _key(key_env))
    if not found.models:
        message = f"{url} lists no model, so there is nothing to watch (is the path to /v1 right?)"
        raise UsageError(message)
    text = propose(url, key_env, found)
    config = parse_config(text, path, Known(engines=engines, probes=probes))
    write_new(path, text, force=force)
    lines = [*_found_lines(url, found), f"wrote {path}"]
    for target, model in zip(config.targets, found.models, strict=False):
        lines += ["", *_target_lines(config, target, model.limits, estimate)]
    lines += ["", "next: read the file, then run", f"  davylamp doctor --config {path}"]
    targets = [target.name for target in config.targets]
    return Report(text="\n".join(lines) + "\n", data={"file": str(path), "targets": targets})


def _key(key_env: str | None) -> str | None:
    if key_env is None:
        return None
    key = os.environ.get(key_env, "").strip()
    if not key:
        message = f"environment variable {key_env} is not set: export the key in it first"
        raise UsageError(message)
    return key


def _found_lines(url: str, found: Discovery) -> list[str]:
    version = f" {found.version}" if found.version else ""
    count = len(found.models)
    lines = [f"{url}: {found.engine}{version}, {count} model{'' if count == 1 else 's'}"]
    if count > MAX_TARGETS:
        lines.append(f"  only the first {MAX_TARGETS} are written; add others by hand")
    if not found.can_tokenize:
        lines.append("  it does not count tokens for us, so sizes near a limit are uncertain")
    return lines + [f"  {note}" for note in found.notes]


def _target_lines(
    config: Config, target: Target, limits: Sequence[Limit], estimate: Estimate | None
) -> list[str]:
    day = None if estimate is None else estimate(config, target)
    lines = [f"{target.name}", f"  a day costs: {price_words(day, target.price)}"]
    lines += [f"  limit {limit.tokens:,} tokens, stated by {limit.source}" for limit in limits]
    if not limits:
        lines.append("  limits unknown: declare context_tokens, or the limit is not probed")
    return lines + [f"  will not cover: {proof}" for proof in impossible_proofs(target)]


def refuse_to_overwrite(path: Path, *, force: bool) -> None:
    """Raise if a file is there already and nobody said to replace it."""
    if path.exists() and not force:
        message = f"{path} exists already: choose another name, or replace it with --force"
        raise UsageError(message)


def write_new(path: Path, text: str, *, force: bool) -> None:
    """Write ``text`` to ``path``, never over another file unless forced."""
    refuse_to_overwrite(path, force=force)
    try:
        with path.open("w" if force else "x", encoding="utf-8") as handle:
            handle.write(text)
    except OSError as error:
        message = f"{path} cannot be written: {(error.strerror or 'unknown reason').lower()}"
        raise UsageError(message) from None
