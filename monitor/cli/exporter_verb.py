"""``davylamp exporter``: GPUs of this machine as metrics, without a configuration file."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from monitor.clock import SystemClock
from monitor.config import ConfigErrors, Positions, SecretRef, resolve_secret, validate_section
from monitor.config.gpu import Gpus
from monitor.config.secrets import Place
from monitor.config.values import in_clear
from monitor.errors import ConfigError, UsageError
from monitor.exporter import Exporter, run_exporter
from monitor.gpu import UnknownShapeError, UnreadableShapeError, read_shape
from monitor.http import Origin, origin_of
from monitor.logs import set_up_logs
from monitor.nodes.reading import NodeAddress

log = logging.getLogger(__name__)

app = typer.Typer(add_completion=False, rich_markup_mode=None)

DEFAULT_LISTEN = "127.0.0.1:18152"
_HERE = Path("davylamp exporter")
_HIGHEST_PORT = 65_535
# Where a key goes by another name than its option.
_OPTIONS = {"dcgm_url": "--dcgm", "source": "GPUs", "gpus": "GPUs", "pools[0]": "--model-config"}


@app.command()
def exporter(  # noqa: PLR0913, PLR0917 - each is an option
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where to serve /metrics and /healthz.")
    ] = DEFAULT_LISTEN,
    env: Annotated[str, typer.Option(help="Label env of every metric.")] = "default",
    interval: Annotated[str, typer.Option(help="Time between readings.")] = "15s",
    dcgm: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Read this DCGM exporter instead of the driver."),
    ] = None,
    token_env: Annotated[
        str | None, typer.Option(help="Variable that holds the DCGM exporter's token.")
    ] = None,
    node: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="The engine on this machine; may be repeated."),
    ] = None,
    node_token_env: Annotated[
        str | None, typer.Option(help="Variable that holds the engine's token.")
    ] = None,
    target: Annotated[str, typer.Option(help="Label target of the engine's KV pool.")] = "local",
    model_config: Annotated[
        Path | None, typer.Option(help="The config.json of the model that the engine serves.")
    ] = None,
    bytes_per_token: Annotated[
        float | None, typer.Option(help="Your own figure for each GPU instead.")
    ] = None,
    tp_size: Annotated[int | None, typer.Option(help="Where the engine does not say it.")] = None,
    pp_size: Annotated[int | None, typer.Option(help="Likewise.")] = None,
    dp_size: Annotated[int | None, typer.Option(help="Likewise.")] = None,
    kv_cache_dtype: Annotated[str | None, typer.Option(help="Likewise.")] = None,
) -> None:
    """Serve what the GPUs of this machine say, as Prometheus metrics, until SIGTERM.

    It serves also where no driver is: that is a state in the metrics. With --node, the tokens of
    the engine's KV pool are told as bytes. Exit 2 for usage.
    """
    set_up_logs("info", "text")
    host, port = host_and_port(listen)
    pools = {
        "model_config": str(model_config.absolute()) if model_config is not None else None,
        "bytes_per_token": bytes_per_token,
        "tp_size": tp_size,
        "pp_size": pp_size,
        "dp_size": dp_size,
        "kv_cache_dtype": kv_cache_dtype,
    }
    with _said_of_options():
        gpus = section(interval, dcgm, token_env, pools)
        nodes = tuple(_address(url, target, node_token_env) for url in node or ())
        if model_config is not None:
            _understood(model_config)
        does = Exporter(host=host, port=port, env=env, gpus=gpus, folder=Path.cwd(), nodes=nodes)
        asyncio.run(run_exporter(does, SystemClock(), lambda url: typer.echo(f"serving {url}")))


def section(interval: str, dcgm: str | None, token_env: str | None, pools: dict[str, Any]) -> Gpus:
    """Return the options as the section ``gpus`` that they stand for. Raises as loading does."""
    if dcgm:
        _is_url("--dcgm", dcgm, "http://127.0.0.1:9400/metrics")
    told = {key: value for key, value in pools.items() if value is not None}
    raw: dict[str, Any] = {"source": "dcgm" if dcgm else "nvml", "interval": interval}
    raw |= {"dcgm_url": dcgm} if dcgm else {}
    raw |= {"token_env": token_env} if token_env else {}
    raw |= {"pools": [told]} if told else {}
    positions = Positions()
    gpus = validate_section(Gpus, raw, "gpus", positions, _HERE)
    gpus.stand_at(Place(file=_HERE, line=None, path="gpus"), positions)
    return gpus


def host_and_port(listen: str) -> tuple[str, int]:
    """Return both of ``HOST:PORT``; an IPv6 address stands in brackets. Raises ``UsageError``."""
    host, colon, port = listen.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    plain = bool(colon) and bool(bare) and (":" not in bare or bare != host)
    if not plain or not (port.isascii() and port.isdigit()) or int(port) > _HIGHEST_PORT:
        msg = f"--listen: not HOST:PORT (write {DEFAULT_LISTEN})"
        raise UsageError(msg)
    return bare, int(port)


def _address(url: str, target: str, token_env: str | None) -> NodeAddress:
    _, host, port = _is_url("--node", url, "http://127.0.0.1:30000")
    if token_env is not None and in_clear(url):
        msg = "--node: would send the token in clear (read an engine of this machine, or https)"
        raise UsageError(msg)
    credential = None
    if token_env is not None:
        place = Place(file=_HERE, line=None, path="--node-token-env")
        credential = resolve_secret(SecretRef(kind="env", name=token_env, place=place))
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return NodeAddress(node=name, target=target, url=url, credential=credential)


def _is_url(option: str, url: str, example: str) -> Origin:
    try:
        return origin_of(url)
    except ValueError as error:
        raise UsageError(f"{option}: {error} (write {example})") from None


def _understood(file: Path) -> None:
    """Say why a model's file is not understood. Raises ``UsageError`` if it is no such file."""
    try:
        read_shape(file)
    except UnreadableShapeError as error:
        msg = f"--model-config: {file}: {error} (name the config.json of the model)"
        raise UsageError(msg) from None
    except UnknownShapeError as error:
        why = f"{error}; without --bytes-per-token its KV pool is unattributed"
        log.warning("--model-config: %s: %s", file, why)


@contextlib.contextmanager
def _said_of_options() -> Iterator[None]:
    """Let what is wrong with a section be said of the options that it was made of."""
    try:
        yield
    except ConfigErrors as found:
        raise UsageError("\n".join(_of_option(each) for each in found.errors)) from None
    except ConfigError as error:
        raise UsageError(_of_option(error)) from None


def _of_option(error: ConfigError) -> str:
    key = (error.path or "").rpartition(".")[2]
    option = _OPTIONS.get(key, f"--{key.lstrip('-').replace('_', '-')}")
    remedy = f" ({error.remedy})" if error.remedy else ""
    return f"{option}: {error.problem}{remedy}"
