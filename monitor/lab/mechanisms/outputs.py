"""Faults on the way out of the model: sampling, parsing, counting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.lab.jobs import Job, OutputToken, Usage
from monitor.lab.mechanisms.base import Chance, Mechanism, Value
from monitor.lab.steps import END, Reading, Steps
from monitor.lab.tokenizer import BASE_PIECES, FIRST_PIECE_ID


def _no_end_of_reasoning(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    def read(job: Job) -> Reading:
        struck = chance.hits(job.number, float(params["rate"]))
        return Reading(starts_in_reasoning=struck) if struck else steps.read_output(job)

    return replace(steps, read_output=read)


def _show_specials(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    def read(job: Job) -> Reading:
        struck = chance.hits(job.number, float(params["rate"]))
        return Reading(shows_specials=struck) if struck else steps.read_output(job)

    return replace(steps, read_output=read)


def _loop(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    size = int(params["ngram"])

    def sample(job: Job) -> OutputToken:
        token = steps.sample(job)
        stuck = chance.hits(job.number, float(params["rate"]))
        # Where the end token would come, the last words come once more, and so on for ever.
        if stuck and token.token == END and job.output:
            return job.output[-min(size, len(job.output))]
        return token

    return replace(steps, sample=sample)


def _mix_scripts(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    def sample(job: Job) -> OutputToken:
        token = steps.sample(job)
        after = int(params["after"])
        struck = chance.hits(job.number, float(params["rate"]))
        if not struck or token.token < FIRST_PIECE_ID or len(job.output) < after:
            return token
        # Ids of a damaged output layer: some other row of the vocabulary, whatever is there.
        rng = chance.rng(job.number * 4096 + len(job.output))
        return replace(token, token=FIRST_PIECE_ID + rng.randrange(BASE_PIECES))

    return replace(steps, sample=sample)


def _stop_early(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    def sample(job: Job) -> OutputToken:
        token = steps.sample(job)
        struck = chance.hits(job.number, float(params["rate"]))
        over = len(job.output) >= int(params["tokens"])
        return replace(token, token=END) if struck and over else token

    return replace(steps, sample=sample)


def _halve(steps: Steps, params: Mapping[str, Value], chance: Chance) -> Steps:
    del params, chance

    def report(usage: Usage) -> Usage:
        usage = steps.report(usage)
        return replace(usage, prompt_tokens=usage.prompt_tokens // 2)

    return replace(steps, report=report)


EMPTY_ANSWER = Mechanism(
    name="empty_answer",
    sentence=(
        "The reasoning parser waits for an end of thinking that never comes: the content is "
        "empty, tokens are counted, the finish reason is stop."
    ),
    install=_no_end_of_reasoning,
    params={"rate": 1.0},
)
LOOPS = Mechanism(
    name="loops",
    sentence="The sampler never takes the end token and repeats its last words to the limit.",
    install=_loop,
    params={"rate": 1.0, "ngram": 6},
)
SPECIAL_TOKENS_LEAK = Mechanism(
    name="special_tokens_leak",
    sentence="Template tokens are not stripped from the content.",
    install=_show_specials,
    params={"rate": 1.0},
)
MIXED_TOKENS = Mechanism(
    name="mixed_tokens",
    sentence="After some good tokens the sampler picks random rows of the vocabulary.",
    install=_mix_scripts,
    params={"rate": 1.0, "after": 6},
)
STOPS_EARLY = Mechanism(
    name="stops_early",
    sentence="Answers end after a few tokens although the finish reason says stop.",
    install=_stop_early,
    params={"rate": 1.0, "tokens": 4},
)
USAGE_HALF = Mechanism(
    name="usage_half",
    sentence="The reported prompt tokens are half of what was read.",
    install=_halve,
)
