"""``davylamp nodes``: every serving node, and what the rules make of it. No tokens are spent."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.options import DEFAULT_CONFIG, ConfigOption, JsonOption, write_text
from monitor.clock import SystemClock
from monitor.config import Config, NodeTarget, Positions, validate_section
from monitor.config.nodes import NodeReading
from monitor.config.problems import near_miss
from monitor.config.secrets import Place, quoted
from monitor.configured import node_rules, read_config, selected_served, surveyor_of
from monitor.daemon.client import nodes_through_daemon
from monitor.errors import StoreBusyError, UsageError
from monitor.logs import set_up_logs
from monitor.nodes.discovery import NodeFinder
from monitor.nodes.readers import NODE_ENGINES
from monitor.nodes.ruleset import RuleSet, load_rules
from monitor.nodes.survey import Surveyor
from monitor.reports.nodes import NodesReport, nodes_report, selected_nodes
from monitor.reports.nodes_table import nodes_lines
from monitor.store import owner_of

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_NAMED = Path("--node")
"""Where a node stands that was named on the command line, for messages."""


@app.command()
def nodes(
    config: ConfigOption = DEFAULT_CONFIG,
    target: Annotated[
        list[str] | None, typer.Option(help="Only nodes of this target; repeatable.")
    ] = None,
    node: Annotated[
        list[str] | None,
        typer.Option(help="Read the node at this URL, without a configuration; repeatable."),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(help="unified, prefill or decode: of all named nodes, or one for each."),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(help="The engine of all named nodes, or one for each."),
    ] = None,
    token_env: Annotated[
        str | None, typer.Option(help="Variable that holds the token of the named nodes.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail what is below the version its vendor advises.")
    ] = False,
    json: JsonOption = None,
) -> int:
    """Read every node, hold it to the rules, and say what was found. No tokens are spent.

    Exit 0 good or a warning, 1 a node fails, 2 usage or configuration, 3 no node fails but one
    could not be told.
    """
    if node:
        if config != DEFAULT_CONFIG:
            msg = "--config has no part in reading nodes named with --node (give one of them)"
            raise UsageError(msg)
        if target:
            msg = "--target is of a configuration, --node is of none (give one of them)"
            raise UsageError(msg)
        named = named_target(node, roles=role or (), engines=engine or (), token_env=token_env)
        report = _read_named(named, load_rules(strict=strict))
    elif role or engine or token_env:
        msg = "--role, --engine and --token-env are of nodes named with --node (name one)"
        raise UsageError(msg)
    else:
        if not config.exists():
            msg = (
                f"{config} cannot be read: no such file (name nodes with --node URL, which needs "
                "none; or write one with `davylamp init`, or name another with --config)"
            )
            raise UsageError(msg)
        settings = read_config(str(config))
        set_up_logs(settings.log.level, settings.log.format)
        report = nodes_now(settings, tuple(target or ()), strict=strict)
    if json != "-":
        for line in nodes_lines(report, columns=_columns()):
            typer.echo(line)
    if json:
        write_text(json, report.model_dump_json(indent=2))
    return report.exit_code


def _columns() -> int | None:
    """Return how wide lines may be: of a terminal, or as ``COLUMNS`` says; else of any width."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size().columns
    return None


def nodes_now(config: Config, targets: Sequence[str], *, strict: bool) -> NodesReport:
    """Return the report of these targets' nodes, or of all.

    A daemon of the same configuration gives what it read last, for it has the tokens and has seen
    earlier readings. Else the nodes are read here, which needs no store.
    """
    served = selected_served(config, targets)
    rules = node_rules(config, strict=strict)
    if rules.strict == config.nodes.strict:
        report = _by_daemon(config)
        if report is not None:
            return selected_nodes(report, [each.name for each in served])
    surveyor = surveyor_of(config, served, rules, SystemClock())
    return _surveyed(surveyor, hash_=config.hash, environment=config.environment)


def _by_daemon(config: Config) -> NodesReport | None:
    """Return what the daemon read last; ``None``, and why on stderr, if it cannot be used."""
    owner = owner_of(config.storage_path)
    if owner is None or owner.url is None:
        return None
    try:
        report = nodes_through_daemon(config, owner)
    except (StoreBusyError, UsageError) as error:
        typer.echo(f"{error}: the nodes are read by this command", err=True)
        return None
    if report.configuration_hash != config.hash:
        typer.echo(
            f"the daemon runs configuration {report.configuration_hash}, {config.file} is now "
            f"{config.hash}: the nodes are read by this command",
            err=True,
        )
        return None
    return report


def named_target(
    urls: Sequence[str],
    *,
    roles: Sequence[str] = (),
    engines: Sequence[str] = (),
    token_env: str | None = None,
) -> NodeTarget:
    """Return nodes that are named on the command line, as a target of a configuration has them."""
    for engine in engines:
        if engine not in NODE_ENGINES:
            msg = f"unknown node engine {quoted(engine)} ({near_miss(engine, NODE_ENGINES)})"
            raise UsageError(msg)
    raw = [
        {
            "url": url if "://" in url else f"http://{url}",
            **({"role": role} if role else {}),
            **({"engine": engine} if engine else {}),
            **({"token_env": token_env} if token_env else {}),
        }
        for url, role, engine in zip(
            urls,
            _for_each(urls, roles, "--role"),
            _for_each(urls, engines, "--engine"),
            strict=True,
        )
    ]
    positions = Positions()
    given = {"name": "nodes", "nodes": raw}
    target = validate_section(NodeTarget, given, "", positions, _NAMED)
    target.stand_at(Place(file=_NAMED, line=None, path=""), positions)
    names = [each.name for each in target.nodes]
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None:
        msg = (
            f"two nodes named {quoted(twice)} (give one --node for it, or names in a configuration)"
        )
        raise UsageError(msg)
    return target


def _for_each(urls: Sequence[str], values: Sequence[str], option: str) -> Sequence[str | None]:
    """Return a value for each URL: the same for all, or one for each."""
    if len(values) in {0, 1}:
        return [values[0] if values else None] * len(urls)
    if len(values) != len(urls):
        msg = f"{len(values)} times {option} for {len(urls)} nodes (give one, or one for each)"
        raise UsageError(msg)
    return values


def _read_named(target: NodeTarget, rules: RuleSet) -> NodesReport:
    clock, reading = SystemClock(), NodeReading()
    finder = NodeFinder([target], reading, folder=Path(), clock=clock, engines=NODE_ENGINES)
    return _surveyed(Surveyor(finder, reading, rules, asked=(), clock=clock))


def _surveyed(surveyor: Surveyor, *, hash_: str = "", environment: str = "") -> NodesReport:
    read_at = SystemClock().now()
    survey = asyncio.run(surveyor.survey())
    return nodes_report(
        survey,
        surveyor.rules,
        read_at=read_at,
        configuration_hash=hash_,
        environment=environment,
    )
