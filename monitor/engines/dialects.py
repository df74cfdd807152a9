"""How each engine and gateway says that a prompt is too long: data, one row per wording.

Searched, ignoring case, in the flat text that ``refusals`` makes of an error, where each scalar
is a line ``key: value``. ``limit`` and ``prompt`` are the numbers as stated: SGLang's scheduler
refuses at its limit, the others above it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_N = r"[\d,_]{1,16}(?:\.\d)?"
_LIMIT = rf"(?P<limit>{_N})"
_PROMPT = rf"(?P<prompt>{_N})"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One wording. ``only_status`` is for codes that mean something else elsewhere."""

    name: str
    pattern: re.Pattern[str]
    only_status: int | None = None


def _dialect(name: str, pattern: str, only_status: int | None = None) -> Dialect:
    return Dialect(name, re.compile(pattern, re.IGNORECASE | re.MULTILINE), only_status)


DIALECTS = (
    _dialect(
        "sglang tokenizer",
        rf"the input \({_PROMPT} tokens\) is longer than the model's context length"
        rf" \({_LIMIT} tokens\)",
    ),
    _dialect(
        "sglang total",
        rf"requested token count exceeds the model's maximum context length of {_LIMIT} tokens"
        rf"(?:\. you requested a total of {_N} tokens: {_PROMPT} tokens from the input)?",
    ),
    _dialect(
        "sglang scheduler",
        rf"input length \({_PROMPT} tokens\) exceeds the maximum allowed length"
        rf" \({_LIMIT} tokens\)",
    ),
    _dialect(
        "vllm prompt",
        rf"prompt \((?:total )?length {_PROMPT}\) is (?:longer than|too long to fit into)"
        rf" the (?:maximum )?model (?:length of |\(context length ){_LIMIT}",
    ),
    _dialect(
        "vllm input",
        rf"input length \({_PROMPT}\) exceeds (?:the )?model's maximum context length"
        rf" \({_LIMIT}\)",
    ),
    _dialect("openai", rf"maximum context length is {_LIMIT} tokens"),
    _dialect(
        "openai limit",
        rf"input tokens exceed the configured limit of {_LIMIT} tokens"
        rf"(?:\. your messages resulted in {_PROMPT} tokens)?",
    ),
    _dialect("openai window", r"input exceeds the context window of this model"),
    _dialect(
        "llama.cpp",
        rf"request \({_PROMPT} tokens\) exceeds the available context size \({_LIMIT} tokens\)",
    ),
    _dialect("llama.cpp", r"exceed_context_size_error|exceeds the available context size"),
    _dialect("tgi input", rf"inputs`? must have less than {_LIMIT} tokens\. given: {_PROMPT}"),
    _dialect(
        "tgi total",
        rf"inputs`? tokens \+ `?max_new_tokens`? must be <= {_LIMIT}\. given: {_PROMPT}",
    ),
    _dialect(
        "trt-llm",
        rf"sum of prompt length \({_PROMPT}\)[^\n]{{0,80}}should not exceed"
        rf" max_(?:num_tokens|seq_len) \({_LIMIT}\)",
    ),
    _dialect(
        "workers-ai",
        rf"estimated number of input and maximum output tokens \({_N}\) exceeded this model"
        rf" context window limit \({_LIMIT}\)",
    ),
    _dialect("workers-ai code", r"^(?:code|message): (?:5021|3010|3006)\b", 413),
    _dialect("anthropic", rf"prompt is too long: {_PROMPT} tokens > {_LIMIT}"),
    _dialect(
        "anthropic total",
        rf"input length and `max_tokens` exceed context limit: {_PROMPT} \+ {_N} > {_LIMIT}",
    ),
    _dialect(
        "gemini",
        rf"input token count \(?{_PROMPT}\)? exceeds the maximum number of tokens allowed"
        rf" \(?{_LIMIT}",
    ),
    _dialect(
        "mistral",
        rf"prompt contains {_PROMPT} tokens[^\n]{{0,80}}too large for model with {_LIMIT} maximum",
    ),
    _dialect("z.ai", r"^code: 1261$|prompt exceeds max length"),
    _dialect("litellm", r"ContextWindowExceededError"),
    _dialect("code", r"\bcontext[_ ]length[_ ]exceeded\b"),
    _dialect("ollama", r"input length exceeds (?:the |maximum )?context length"),
)

PROMPT_TOKENS = re.compile(
    rf"\({_PROMPT}\)? in the messages"
    rf"|requested (?P<messages>{_N}) tokens in the messages"
    rf"|(?:messages resulted in|prompt contains(?: at least)?|request has)"
    rf" (?P<input>{_N}) (?:input )?tokens"
    rf'|n_prompt_tokens\\?"?: ?(?P<field>{_N})',
    re.IGNORECASE,
)
"""Where a wording that states the limit alone says elsewhere how long the prompt was."""

LIMIT_TOKENS = re.compile(rf'n_ctx\\?"?: ?{_LIMIT}', re.IGNORECASE)

OUTPUT_TOKENS = re.compile(
    rf"max_(?:completion_|new_|output_)?tokens['`\"]? is too large: (?P<output>{_N})"
    rf"|requested (?P<requested>{_N}) output tokens"
    rf"|(?P<completion>{_N}) (?:in|tokens for) the completion",
    re.IGNORECASE,
)
"""The output that was asked for: if it alone fills the context, the prompt is not to blame."""
