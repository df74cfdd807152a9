"""``davylamp init``: write a first configuration, commented, or one made of what a URL tells."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path

from monitor.cli.config_commands import Estimate, Report, price_words
from monitor.cli.proposal import propose, usable_models
from monitor.config import Config, Target
from monitor.config.known import Known
from monitor.config.load import parse_config
from monitor.config.proofs import impossible_proofs
from monitor.engines import engine_at
from monitor.engines.base import Discovery, Limit
from monitor.errors import UsageError
from monitor.http import origin_of

TEMPLATE = Path(__file__).parent.parent / "config" / "davylamp.template.yaml"


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
    known: Known,
    key_env: str | None = None,
    force: bool = False,
    estimate: Estimate | None = None,
) -> Report:
    """Ask ``url`` what it serves and write a target for each model, with what it will cost."""
    refuse_to_overwrite(path, force=force)
    url = _usable(url)
    url, found = await _look(url, _key(key_env), discover)
    models, left_out = usable_models(found)
    if not models:
        message = _nothing_there(url, found)
        raise UsageError(message)
    node_engine = _node_engine(found, known.node_engines or ())
    text = propose(url, key_env, models, engine=engine_at(url), node_engine=node_engine)
    config = parse_config(text, path, known)
    write_new(path, text, force=force)
    lines = [*_found_lines(url, found, left_out), f"wrote {path}"]
    for target, model in zip(config.targets, models, strict=True):
        lines += ["", *_target_lines(config, target, model.limits, estimate)]
    lines += ["", "next: read the file, then run", f"  davylamp doctor --config {path}"]
    if node_engine is not None:
        lines.append(f"  davylamp nodes --config {path}    # spends no tokens")
    targets = [target.name for target in config.targets]
    return Report(text="\n".join(lines) + "\n", data={"file": str(path), "targets": targets})


async def _look(url: str, key: str | None, discover: Discover) -> tuple[str, Discovery]:
    """Look at ``url``, and at its ``/v1`` if there is nothing there: people leave it out."""
    found = await discover(url, key)
    if found.models or url.endswith("/v1"):
        return url, found
    below = await discover(f"{url}/v1", key)
    return (f"{url}/v1", below) if below.models else (url, found)


def _node_engine(found: Discovery, node_engines: Collection[str]) -> str | None:
    """Return the engine if the endpoint is a serving node itself: it states its own version."""
    return found.engine if found.engine in node_engines and found.version else None


def _key(key_env: str | None) -> str | None:
    if key_env is None:
        return None
    key = os.environ.get(key_env, "").strip()
    if not key:
        message = f"environment variable {key_env} is not set: export the key in it first"
        raise UsageError(message)
    return key


def _nothing_there(url: str, found: Discovery) -> str:
    why = f" ({found.notes[0]})" if found.notes else ""
    remedy = "give the root of the API, /v1 included, and --key-env if it wants a key"
    return f"{url} lists no model we can use{why}, so there is nothing to watch: {remedy}"


def _usable(url: str) -> str:
    try:
        origin_of(url)
    except ValueError as error:
        message = f"--from: {error}: give the root of the API, such as https://host/v1"
        raise UsageError(message) from None
    return url.rstrip("/")


def _found_lines(url: str, found: Discovery, left_out: int) -> list[str]:
    engine = found.engine or "an engine it does not name"
    version = f" {found.version}" if found.version else ""
    count = len(found.models)
    lines = [f"{url}: {engine}{version}, {count} model{'' if count == 1 else 's'}"]
    if left_out:
        lines.append(f"  {left_out} of them left out: add those you want by hand")
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
