"""``docs/node-rules.md``: how rules of nodes are read and written, and every one there is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from monitor.config.reference import default_of_key, kind_of_key
from monitor.nodes import NodeCounter
from monitor.nodes.predicate import Operator
from monitor.nodes.readers import NODE_ENGINES
from monitor.nodes.ruleset import ANY_ENGINE, ENGINES, Rule, RuleShape, load_rules
from monitor.nodes.view import FACTS

_TEMPLATE = Path(__file__).with_name("node_rules.template.md")
_COMPARISONS = {
    Operator.IS: "the same; texts in any case",
    Operator.IS_NOT: "not the same",
    Operator.IN: "one of a list",
    Operator.NOT_IN: "none of a list",
    Operator.BELOW: "less than a number",
    Operator.AT_MOST: "a number or less",
    Operator.ABOVE: "more than a number",
    Operator.AT_LEAST: "a number or more",
    Operator.HAS: "a text, or one of several texts, with this in it",
    Operator.IS_SET: "`true`: has a value; `false`: the node says that it has none",
}
_FACTS = {
    "engine": "which serving engine it is",
    "version": "its version, as a text; for ranges there is `version`",
    "role": "`unified`, `prefill` or `decode`; untold if an engine that says its role said none",
    "models": "the names of the models it serves",
    "advertised_tokens": "the context that it states",
    "enforced_tokens": "the limit of a prompt by the engine's own number",
    "admitted_tokens": "the same on the rank that admits least; of a decode node, on the one that "
    "admits most",
    "pool_tokens": "what its KV pool holds",
    "pool_bound": "`true` if the pool, not the context, limits a prompt",
    "slots": "how many requests share its context, in llama.cpp",
    "gateway_tokens": "the context that the target's gateway states, if it has one",
}
_TITLES = {ANY_ENGINE: "Any engine", "sglang": "SGLang", "vllm": "vLLM", "ollama": "Ollama"}
_TABLE = """
| rule | versions | severity | public since | probe | says |
|---|---|---|---|---|---|
"""


def page() -> str:
    """Return the page."""
    made = {
        "keys": "\n".join(_keys()),
        "comparisons": "\n".join(f"| `{each}` | {_COMPARISONS[each]} |" for each in Operator),
        "facts": "\n".join(f"| `{fact}` | {_FACTS[fact]} |" for fact in FACTS),
        "counters": ", ".join(f"`{each}`" for each in NodeCounter),
        "settings": "\n".join(_settings()),
        "rules": "".join(_section(engine) for engine in (*sorted(ENGINES), ANY_ENGINE)),
    }
    text = _TEMPLATE.read_text("utf-8")
    for name, part in made.items():
        text = text.replace(f"@{name}@", part)
    return text


def _settings() -> Iterator[str]:
    for engine, reader in sorted(NODE_ENGINES.items()):
        names = ", ".join(f"`{each}`" for each in sorted(reader.settings))
        yield f"- {_TITLES.get(engine, engine)}: {names or 'none'}."


def _keys() -> Iterator[str]:
    for name, field in RuleShape.model_fields.items():
        kind = kind_of_key(RuleShape, name).replace("|", "\\|")
        yield f"| `{name}` | {kind} | {default_of_key(field)} | {field.description} |"


def _section(engine: str) -> str:
    rules = [rule for rule in load_rules().rules if rule.engine == engine]
    rows = "".join(f"{_row(rule)}\n" for rule in sorted(rules, key=lambda rule: rule.id))
    return f"\n### {_TITLES.get(engine, engine)}\n{_TABLE}{rows}"


def _row(rule: Rule) -> str:
    name = f"[`{rule.id}`]({rule.link})" if rule.link else f"`{rule.id}`"
    strict = f" ({rule.strict_severity})" if rule.strict_severity else ""
    cells = (
        name,
        f"`{_range(rule)}`" if rule.versions else "all",
        f"{rule.severity or '–'}{strict}",  # noqa: RUF001 - a dash for none
        rule.public.isoformat() if rule.public else "",
        f"`{rule.shape}`" if rule.shape else "",
        rule.why.replace("|", "\\|"),
    )
    return f"| {' | '.join(cells)} |"


def _range(rule: Rule) -> str:
    """Return a range with its lower end first."""
    return ",".join(sorted(str(rule.versions).split(","), key=lambda each: each[0] != ">"))
