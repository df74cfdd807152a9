"""Faults on the way out of the model: sampling, parsing, counting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.lab.draws import Between, Spread
from monitor.lab.jobs import Job, OutputToken, Usage
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.steps import END, Reading, Steps
from monitor.lab.tokenizer import BASE_PIECES, FIRST_PIECE_ID, Special
from monitor.lab.trigger import Asker


def _no_end_of_reasoning(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def read(job: Job) -> Reading:
        if trigger.strikes(job):
            return replace(steps.read_output(job), starts_in_reasoning=True)
        return steps.read_output(job)

    return replace(steps, read_output=read)


def _show_specials(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def read(job: Job) -> Reading:
        if trigger.strikes(job):
            return replace(steps.read_output(job), shows_specials=True)
        return steps.read_output(job)

    return replace(steps, read_output=read)


def _loop(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    size = int(params["ngram"])

    def sample(job: Job) -> OutputToken:
        token = steps.sample(job)
        # Where the end token would come, the last words come once more, and so on for ever.
        if token.token == END and job.output and trigger.strikes(job):
            return job.output[-min(size, len(job.output))]
        return token

    return replace(steps, sample=sample)


def _mix_scripts(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def sample(job: Job) -> OutputToken:
        token = steps.sample(job)
        after = int(params["after"])
        if token.token < FIRST_PIECE_ID or len(job.output) < after or not trigger.strikes(job):
            return token
        # Ids of a damaged output layer: some other row of the vocabulary, whatever is there.
        rng = trigger.rng(job.number * 4096 + len(job.output))
        return replace(token, token=FIRST_PIECE_ID + rng.randrange(BASE_PIECES))

    return replace(steps, sample=sample)


def _stop_early(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def sample(job: Job) -> OutputToken:
        token = steps.sample(job)
        over = len(job.output) >= int(params["tokens"]) and token.token != END
        return replace(token, token=END) if over and trigger.strikes(job) else token

    return replace(steps, sample=sample)


def _rot(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def sample(job: Job) -> OutputToken:
        token = steps.sample(job)
        # Every assistant turn of the prompt, and the one to write, damaged the state once.
        turns = job.prompt.tokens.count(Special.ASSISTANT) - int(params["turn"]) + 1
        if token.token < FIRST_PIECE_ID or turns < 1 or not trigger.strikes(job):
            return token
        rng = trigger.rng(job.number * 4096 + len(job.output))
        if rng.random() >= float(params["share"]) * turns:
            return token
        return replace(token, token=FIRST_PIECE_ID + rng.randrange(BASE_PIECES))

    return replace(steps, sample=sample)


def _halve(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def report(usage: Usage, asker: Asker) -> Usage:
        usage = steps.report(usage, asker)
        if not trigger.strikes(asker):
            return usage
        return replace(usage, prompt_tokens=usage.prompt_tokens // 2)

    return replace(steps, report=report)


EMPTY_ANSWER = Mechanism(
    name="empty_answer",
    sentence=(
        "The reasoning parser waits for an end of thinking that never comes: the content is "
        "empty, tokens are counted, the finish reason is stop."
    ),
    install=_no_end_of_reasoning,
    ranges={"rate": Spread(0.05, 1.0)},
    params={"rate": 1.0},
)
LOOPS = Mechanism(
    name="loops",
    sentence="The sampler never takes the end token and repeats its last words to the limit.",
    install=_loop,
    ranges={"rate": Spread(0.1, 1.0), "ngram": Between(3, 8)},
    params={"rate": 1.0, "ngram": 6},
)
SPECIAL_TOKENS_LEAK = Mechanism(
    name="special_tokens_leak",
    sentence="Template tokens are not stripped from the content.",
    install=_show_specials,
    ranges={"rate": Spread(0.1, 1.0)},
    params={"rate": 1.0},
)
MIXED_TOKENS = Mechanism(
    name="mixed_tokens",
    sentence="After some good tokens the sampler picks random rows of the vocabulary.",
    install=_mix_scripts,
    ranges={"rate": Spread(0.05, 1.0), "after": Between(4, 12)},
    params={"rate": 1.0, "after": 6},
)
STOPS_EARLY = Mechanism(
    name="stops_early",
    sentence="Answers end after a few tokens although the finish reason says stop.",
    install=_stop_early,
    ranges={"rate": Spread(0.1, 1.0), "tokens": Between(3, 8)},
    params={"rate": 1.0, "tokens": 4},
)
USAGE_HALF = Mechanism(
    name="usage_half",
    sentence="The reported prompt tokens are half of what was read.",
    install=_halve,
    deterministic=True,
)
TURNS_ROT = Mechanism(
    name="turns_rot",
    sentence=(
        "Every assistant turn of a conversation damages the state a little more: from a certain "
        "turn on, ever more tokens are random rows of the vocabulary."
    ),
    install=_rot,
    params={"turn": 3, "share": 0.3},
    ranges={"turn": Between(2, 4), "share": Spread(0.15, 0.6)},
)
