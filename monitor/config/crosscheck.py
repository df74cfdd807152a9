"""What one key alone cannot know: names that must exist, be unique, or fit together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from monitor.config.nodes import Node, NodeTarget
from monitor.config.pages import Drain, Window
from monitor.config.schema import Settings
from monitor.config.secrets import Place, quoted
from monitor.config.section import Section
from monitor.config.slos import Slo
from monitor.config.target import PROFILES, Target
from monitor.config.terms import repeated_terms
from monitor.errors import ConfigError


def cross_check(settings: Settings) -> Iterator[ConfigError]:
    """Yield what is wrong between the parts of a file whose parts are well formed."""
    if not settings.targets:
        yield _error(settings, "targets", "an empty list watches nothing", "add a target")
    yield from _unique(settings.targets, "name", "target")
    for target in settings.targets:
        yield from _nodes(target, settings)
        if isinstance(target, NodeTarget):
            continue
        yield from _target(target)
        yield from _terms(target)
        yield from _probes(target)
        yield from _money(target, settings)
    if settings.nodes.rules is not None:
        yield from _rules_folder(settings, settings.nodes.rules)
    yield from _kv_pools(settings)
    yield from _judge(settings)
    yield from _weights(settings)
    yield from _pages(settings)
    if isinstance(settings.slos, str):
        yield from _folder(settings, settings.slos)
    else:
        yield from slo_problems(settings.slos, [target.name for target in settings.targets])


def _target(target: Target) -> Iterator[ConfigError]:
    if not target.tenants:
        remedy = "add one; for an open server write [{name: any}]"
        yield _error(target, "tenants", "an empty list sends nothing", remedy)
    yield from _unique(target.tenants, "name", "tenant")
    if target.tags.header.lower() in {name.lower() for name in target.headers_env}:
        problem = "the header is also one of headers_env"
        yield _error(target.tags, "header", problem, "choose another name for the tag")
    limit, output = target.context_tokens, target.output_tokens
    if limit is not None and output is not None and output >= limit:
        problem = f"must be less than context_tokens, {limit:_}"
        yield _error(
            target, "output_tokens", problem, "the answer shares the context with the prompt"
        )


def _nodes(target: Target | NodeTarget, settings: Settings) -> Iterator[ConfigError]:
    yield from _unique(target.nodes, "url", "node")
    yield from _node_names(target)
    if isinstance(target, NodeTarget) and not (
        target.nodes or target.node_sources or target.gateway
    ):
        yield _error(target, "nodes", "an empty list reads nothing", "add a node, or a source")
    if target.node_sources and not settings.nodes.addresses:
        problem = "found nodes are read only where nodes.addresses allows it, and it is empty"
        remedy = "add nodes: {addresses: [10.0.0.0/8]} at the top level"
        yield _error(target, "node_sources", problem, remedy)
    for reached in (*target.nodes, *target.node_sources):
        yield from _unique(reached.accepted, "rule", "acceptance of")


def _node_names(target: Target | NodeTarget) -> Iterator[ConfigError]:
    """Yield an error for each node that goes by the name of one at another URL."""
    seen: dict[str, Node] = {}
    for node in target.nodes:
        earlier = seen.setdefault(node.name, node)
        if earlier.url != node.url:
            line = earlier.place_of("url").line
            problem = f"a second node goes by {quoted(node.name)}"
            yield _error(node, "name", problem, f"name it otherwise; the first is on line {line}")


def _rules_folder(settings: Settings, given: str) -> Iterator[ConfigError]:
    if not (settings.place_of("nodes").file.parent / given).is_dir():
        remedy = "name a folder beside this file that holds files *.yaml"
        yield _error(settings.nodes, "rules", f"no such folder {quoted(given)}", remedy)


def _kv_pools(settings: Settings) -> Iterator[ConfigError]:
    known = {target.name for target in settings.targets}
    for pools in settings.gpus.pools:
        if pools.target is not None and pools.target not in known:
            remedy = "name a target of this file, or leave it out for any"
            yield _error(pools, "target", f"no target {quoted(pools.target)}", remedy)


def _terms(target: Target) -> Iterator[ConfigError]:
    for number, earlier in repeated_terms(target.sensitive_terms):
        line = target.place_of("sensitive_terms", earlier).line
        problem = "a second term that is found where an earlier one is"
        remedy = f"remove it; the first stands on line {line}"
        yield _error(target, "sensitive_terms", problem, remedy, number)


def _probes(target: Target) -> Iterator[ConfigError]:
    if target.profile is None and not target.entries:
        remedy = f"name a profile, {', '.join(PROFILES)}; or set disabled: true on each entry"
        yield _error(target, "probes", "an empty list asks nothing", remedy)
    yield from _unique(target.entries, "name", "probe")


def _money(target: Target, settings: Settings) -> Iterator[ConfigError]:
    if target.price is not None:
        return
    remedy = "add price, or remove the usd cap"
    for key in ("daily_budget", "boundary_budget"):
        if getattr(target, key).usd is not None:
            problem = "a cap in dollars needs the target's price"
            yield _error(getattr(target, key), "usd", problem, remedy)
        elif getattr(settings.defaults, key).usd is not None:
            problem = f"defaults.{key}.usd needs a price of every target"
            yield _error(target, "price", problem, remedy)
            return


def _judge(settings: Settings) -> Iterator[ConfigError]:
    """Yield what speaks against a judge: it must be there, and no judge of its own model."""
    judge = settings.checks.judge
    if judge is None:
        return
    asked = [each for each in settings.targets if isinstance(each, Target)]
    named = {target.name: target for target in asked}
    judging = named.get(judge.target)
    if judging is None:
        problem = f"no target {quoted(judge.target)}"
        yield _error(judge, "target", problem, f"name one of {', '.join(named)}")
        return
    judged = [target for target in asked if target is not judging]
    if not judged:
        problem = "the only target would judge itself"
        yield _error(judge, "target", problem, "add the model that judges as another target")
    for target in judged:
        if _model_name(target) == _model_name(judging):
            problem = f"{quoted(judging.name)} serves the same model as {quoted(target.name)}"
            remedy = "let a model of another family judge: errors of one model look right to it"
            yield _error(judge, "target", problem, remedy)


def _pages(settings: Settings) -> Iterator[ConfigError]:
    pages = settings.pages
    names = [target.name for target in settings.targets]
    yield from _unique(pages.webhooks, "name", "webhook")
    general = [each for each in pages.drain if not each.targets]
    for further in general[1:]:
        line = general[0].place_of("command").line
        problem = f"a second command for every target; the first stands on line {line}"
        yield _error(further, "command", problem, "name the targets it is for, or remove it")
    named: tuple[Drain | Window, ...] = (*pages.drain, *pages.windows)
    for section in named:
        for place, target in enumerate(section.targets):
            if target not in names:
                remedy = f"name one of {', '.join(names)}"
                yield _error(section, "targets", f"no target {quoted(target)}", remedy, place)


def _weights(settings: Settings) -> Iterator[ConfigError]:
    names = [target.name for target in settings.targets]
    for entry in settings.detection.weights:
        if entry.target is not None and entry.target not in names:
            problem = f"no target {quoted(entry.target)}"
            yield _error(entry, "target", problem, f"name one of {', '.join(names)}")


def _folder(settings: Settings, given: str) -> Iterator[ConfigError]:
    """Yield an error if the folder of objectives holds none."""
    folder = settings.place_of("slos").file.parent / given
    remedy = "name a folder beside this file that holds files *.yaml, or list objectives here"
    if not folder.is_dir():
        yield _error(settings, "slos", f"no such folder {quoted(given)}", remedy)
    elif not any(folder.glob("*.yaml")):
        yield _error(settings, "slos", f"no file *.yaml in {quoted(given)}", remedy)


def slo_problems(slos: Sequence[Slo], targets: Collection[str]) -> Iterator[ConfigError]:
    """Yield what is wrong between objectives, and between them and the targets there are."""
    yield from _unique(slos, "name", "objective")
    for slo in slos:
        if slo.target is not None and slo.target not in targets:
            problem = f"no target {quoted(slo.target)}"
            yield _error(slo, "target", problem, f"name one of {', '.join(targets)}")


def _model_name(target: Target) -> str:
    """Return a model's own name, whatever folder or owner an API puts in front of it."""
    return target.model.rstrip("/").rpartition("/")[2].casefold()


def _unique(sections: Iterable[Section], key: str, what: str) -> Iterator[ConfigError]:
    seen: dict[str, Place] = {}
    for section in sections:
        value, place = getattr(section, key), section.place_of(key)
        if value in seen:
            problem = f"a second {what} {quoted(value)}"
            first = seen[value]
            elsewhere = f" of {first.file.name}" if first.file != place.file else ""
            yield _error(section, key, problem, f"the first stands on line {first.line}{elsewhere}")
        else:
            seen[value] = place


def _error(section: Section, key: str, problem: str, remedy: str, *below: str | int) -> ConfigError:
    place = section.place_of(key, *below)
    return ConfigError(problem, file=place.file, line=place.line, path=place.path, remedy=remedy)
