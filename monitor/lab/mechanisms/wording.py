"""Faults of what the model says: a weaker model, refusals, broken objects and calls; and nulls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from monitor.lab.draws import Between, OneOf, Spread, one_of
from monitor.lab.jobs import Job
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.responder.draft import Draft, Origin, Piece, known
from monitor.lab.steps import Steps
from monitor.lab.template import Prompt
from monitor.lab.tokenizer import Special
from monitor.lab.trigger import Asker

_CODE = re.compile(r"[a-z]{3,}(?:-[a-z]{3,})+")
_NUMBER = re.compile(r"\d{1,4}")
_FACT = re.compile(r"[^\W\d_]{3,}(?: [^\W\d_]+)*")
_LETTERS = "abdfghijklmnoprstuvz"
_REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I cannot assist with this request.",
    "Sorry, I am not able to answer that.",
)
_THOUGHT = "The question is plain, so the answer is short."


def _swap_model(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def word(draft: Draft, asker: Asker) -> Draft:
        draft = steps.word(draft, asker)
        if not trigger.strikes(asker):
            return draft
        rng = trigger.rng(-asker.number)
        pieces = tuple(_weaker(piece, draft, params, rng) for piece in draft.pieces)
        return replace(draft, pieces=pieces)

    def name_model(model: str, job: Job) -> str:
        own = bool(params["names_itself"]) and trigger.strikes(job)
        return f"{model}-mini" if own else steps.gateway.name_model(model, job)

    return replace(steps, word=word, gateway=replace(steps.gateway, name_model=name_model))


def _weaker(piece: Piece, draft: Draft, params: Mapping[str, Value], rng: Random) -> Piece:
    """Return a piece as a weaker model says it: letters of codes wrong, sums and facts missed."""
    if piece.origin is Origin.PAGES and _CODE.fullmatch(piece.text):
        return _miscopied(piece, rng) if rng.random() < float(params["miscopies"]) else piece
    if not draft.plain or piece.origin is Origin.PAGES or rng.random() >= float(params["misses"]):
        return piece
    if _NUMBER.fullmatch(piece.text):
        return replace(piece, text=str(int(piece.text) + rng.choice((-10, -2, -1, 1, 2, 10))))
    return replace(piece, text="I am not sure") if _FACT.fullmatch(piece.text) else piece


def _miscopied(piece: Piece, rng: Random) -> Piece:
    text = list(piece.text)
    for place in rng.sample([n for n, letter in enumerate(text) if letter != "-"], 3):
        text[place] = rng.choice([letter for letter in _LETTERS if letter != text[place]])
    return replace(piece, text="".join(text), origin=Origin.WEIGHTS)


def _refuse(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def word(draft: Draft, asker: Asker) -> Draft:
        draft = steps.word(draft, asker)
        if not trigger.strikes(asker):
            return draft
        text = trigger.rng(-asker.number).choice(_REFUSALS)
        return Draft(pieces=(known(text, _at(draft)),), plain=False)

    return replace(steps, word=word)


def _at(draft: Draft) -> int:
    return draft.pieces[0].at if draft.pieces else 0


def _break_json(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    batch: list[Job] = []

    def assign(joined: list[Job], running: list[Job]) -> None:
        steps.assign_tables(joined, running)
        batch[:] = [*running, *joined]
        if any(not _is_constrained(job.prompt) for job in joined):
            # The mask of what was begun is wrong from now on: its words are drawn anew.
            for job in filter(lambda job: _is_constrained(job.prompt), running):
                job.stamp = -1

    def word(draft: Draft, asker: Asker) -> Draft:
        draft = steps.word(draft, asker)
        own = next((job for job in batch if job.number == asker.number), None)
        # The mask that keeps an answer to its grammar is that of another row of the batch.
        beside_text = any(
            not _is_constrained(job.prompt) and not job.is_finished() for job in batch
        )
        if own is None or not _is_constrained(own.prompt) or not beside_text or draft.call:
            return draft
        if not draft.text.startswith("{") or not trigger.strikes(asker):
            return draft
        rng = trigger.rng(-asker.number)
        return replace(draft, pieces=_unmasked(draft.pieces, rng, begun=bool(own.output)))

    return replace(steps, assign_tables=assign, word=word)


def _is_constrained(prompt: Prompt) -> bool:
    return Special.FORMAT in prompt.tokens


def _unmasked(pieces: tuple[Piece, ...], rng: Random, *, begun: bool) -> tuple[Piece, ...]:
    """Return an object without its mask. Before what is ``begun`` nothing can be put any more."""
    first, *inner, last = pieces
    match rng.choice(("lost", "doubled", "doubled" if begun else "text")):
        case "lost":
            return (first, *inner)
        case "doubled":
            return (first, *inner, last, last)
        case _:
            return (known("Sure, here it is: ", first.at), first, *inner, last)


def _break_call(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def word(draft: Draft, asker: Asker) -> Draft:
        draft = steps.word(draft, asker)
        if not draft.call or not trigger.strikes(asker):
            return draft
        call = _misfit(json.loads(draft.text), str(params["kind"]), trigger.rng(-asker.number))
        return replace(draft, pieces=(known(json.dumps(call, ensure_ascii=False), _at(draft)),))

    return replace(steps, word=word)


def _misfit(call: dict[str, Any], kind: str, rng: Random) -> dict[str, Any]:
    """Return a call that no longer fits the tools offered."""
    arguments = dict(call["arguments"])
    if kind == "name" or not arguments:
        return {**call, "name": f"{call['name']}_v2"}
    key = rng.choice(sorted(arguments))
    if kind == "missing":
        del arguments[key]
    else:
        value = arguments[key]
        arguments[key] = [value] if isinstance(value, str) else str(value)
    return {**call, "arguments": arguments}


def _think(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def word(draft: Draft, asker: Asker) -> Draft:
        draft = steps.word(draft, asker)
        return replace(draft, thought=_THOUGHT) if trigger.strikes(asker) else draft

    return replace(steps, word=word)


def _miss_sums(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def word(draft: Draft, asker: Asker) -> Draft:
        draft = steps.word(draft, asker)
        if not draft.plain or not any(_is_sum(piece) for piece in draft.pieces):
            return draft
        if not trigger.strikes(asker):
            return draft
        off = trigger.rng(-asker.number).choice((-10, -1, 1, 10))
        pieces = tuple(
            replace(piece, text=str(int(piece.text) + off)) if _is_sum(piece) else piece
            for piece in draft.pieces
        )
        return replace(draft, pieces=pieces)

    return replace(steps, word=word)


def _is_sum(piece: Piece) -> bool:
    return piece.origin is Origin.WEIGHTS and bool(_NUMBER.fullmatch(piece.text))


MODEL_SWAPPED = Mechanism(
    name="model_swapped",
    sentence=(
        "After the onset a weaker model answers under the same name: it copies codes wrong and "
        "misses sums and facts; it may name itself truthfully."
    ),
    install=_swap_model,
    params={"onset": 0, "miscopies": 0.3, "misses": 0.3, "names_itself": False},
    ranges={
        "onset": Between(10, 60),
        "miscopies": Spread(0.15, 0.6),
        "misses": Spread(0.15, 0.6),
        "names_itself": OneOf((False, False, True)),
    },
)
REFUSAL_SPIKE = Mechanism(
    name="refusal_spike",
    sentence="The model declines harmless questions.",
    install=_refuse,
    params={"rate": 0.4},
    ranges={"rate": Spread(0.2, 1.0), "onset": Between(0, 40)},
)
JSON_BROKEN_IN_BATCH = Mechanism(
    name="json_broken_in_batch",
    sentence=(
        "An answer after a schema loses or doubles a brace, or gets text before it, when an "
        "answer without a schema decodes in the same batch, whichever of them came first."
    ),
    install=_break_json,
    ranges={"rate": Spread(0.3, 1.0)},
)
TOOL_SCHEMA_BROKEN = Mechanism(
    name="tool_schema_broken",
    sentence="A tool call lacks an argument, has one of a wrong type, or names no tool offered.",
    install=_break_call,
    params={"rate": 0.5, "kind": "missing"},
    choices={"kind": ("missing", "type", "name")},
    ranges={"rate": Spread(0.2, 1.0), "kind": one_of("missing", "type", "name")},
)
THINKS = Mechanism(
    name="thinks",
    sentence="The model thinks before it answers: reasoning is in its own field and is counted.",
    install=_think,
    null=True,
)
SUMS_WOBBLE = Mechanism(
    name="sums_wobble",
    sentence="One answer with a sum in a hundred has it wrong, as a small model does.",
    install=_miss_sums,
    null=True,
    params={"rate": 0.01},
)
WORDING_FAULTS = (MODEL_SWAPPED, REFUSAL_SPIKE, JSON_BROKEN_IN_BATCH, TOOL_SCHEMA_BROKEN)
WORDING_NULLS = (THINKS, SUMS_WOBBLE)
