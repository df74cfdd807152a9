"""How each engine and gateway says that a prompt is too long: data, one row per wording.

Searched, ignoring case, in the flat text that ``refusals`` makes of an error, where each scalar
is a line ``key: value``. ``limit`` and ``prompt`` are the numbers as stated: SGLang's scheduler
refuses at its limit, the others above it. The first row that matches decides.

A row is a wording seen in an engine's source, a vendor's reference or a report that quotes it. It
must be about the prompt: words that a limit on rate, output or money also uses stand in no row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_N = r"[\d,_]{1,16}(?:\.\d)?"
_LIMIT = rf"(?P<limit>{_N})"
_PROMPT = rf"(?P<prompt>{_N})"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One wording. ``only_status`` is for those that mean something else elsewhere."""

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
    _dialect(
        "vllm passed",
        rf"you passed (?:{_PROMPT} input tokens|{_N} input characters)[^\n]{{0,80}}"
        rf"context length is only {_LIMIT} tokens",
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
    _dialect(
        "llama.cpp batch",
        rf"input \({_PROMPT} tokens\) is larger than the max context size \({_LIMIT} tokens\)",
    ),
    _dialect(
        "llama-cpp-python", rf"requested tokens \({_PROMPT}\) exceed context window of {_LIMIT}"
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
    _dialect(
        "fireworks and ollama cloud",
        rf"prompt is too long: {_PROMPT}, model maximum context length: {_LIMIT}",
    ),
    _dialect("anthropic", rf"prompt is too long: {_PROMPT} tokens > {_LIMIT}"),
    _dialect("anthropic bytes", r"^type: request_too_large$", 413),
    _dialect(
        "anthropic total",
        rf"input length and `max_tokens` exceed context limit: {_PROMPT} \+ {_N} > {_LIMIT}",
    ),
    _dialect(
        "gemini",
        rf"input token count(?: \(?{_PROMPT}\)?)? exceeds the maximum number of tokens allowed"
        rf" \(?{_LIMIT}",
    ),
    _dialect(
        "vertex",
        rf"input token count is {_PROMPT} but model only supports up to {_LIMIT}"
        rf"|request contains {_N} tokens, which exceeds the limit of {_N}",
    ),
    _dialect(
        "mistral",
        rf"prompt contains {_PROMPT} tokens[^\n]{{0,80}}too large for model with {_LIMIT}",
    ),
    _dialect(
        "mistral prompt",
        rf"tokens in the prompt exceeds the model's maximum context length of {_LIMIT}",
    ),
    _dialect(
        "xai",
        rf"maximum prompt length is {_LIMIT} but the request contains {_PROMPT} tokens",
    ),
    _dialect(
        "copilot",
        rf"prompt token count of {_PROMPT} exceeds the limit of {_LIMIT}"
        r"|model_max_prompt_tokens_exceeded",
    ),
    _dialect(
        "openrouter",
        rf"input length {_PROMPT} exceeds (?:the )?maximum (?:allowed )?input length"
        rf"(?: of)? {_LIMIT}",
    ),
    _dialect(
        "cohere",
        r"too many tokens: total number of tokens (?:in the prompt|\(prompt and prediction\))"
        rf" cannot exceed {_LIMIT}(?: - received {_PROMPT})?",
    ),
    _dialect(
        "cohere size",
        rf"too many tokens: size limit exceeded by {_N} tokens"
        rf"(?:[^\n]{{0,120}}limit for this model is {_LIMIT})?",
    ),
    _dialect(
        "bedrock",
        rf"too many input tokens\. max input tokens: {_LIMIT}, request input token count: {_PROMPT}"
        r"|input is too long for requested model",
    ),
    _dialect(
        "bedrock characters",
        rf"malformed input request: expected maxlength: {_N}, actual: {_N}, please reformat",
    ),
    _dialect(
        "together", r"input token count \+ max_tokens[^\n]{0,20} must be less than the context"
    ),
    _dialect(
        "together",
        r"input token count \+ max_tokens[^\n]{0,20} must be less than the context",
        403,
    ),
    _dialect("dashscope", rf"range of input length should be \[\d+, ?{_LIMIT}\]"),
    _dialect("moonshot", rf"exceeded model token limit(?: ?: ?{_LIMIT})?"),
    _dialect("moonshot input", r"input token length too long"),
    _dialect("minimax", r"context window exceeds limit|prompt is too long \(2013\)"),
    _dialect(
        "mlc",
        rf"request prompt has {_PROMPT} tokens in total, larger than the model input length limit"
        rf" {_LIMIT}",
    ),
    _dialect("ark", r"total tokens of image and text exceed max message tokens"),
    _dialect("ernie", r"prompt tokens too long"),
    _dialect("spark", r"^code: 10907$|token数量超过上限"),
    _dialect("pangu", r"超出了模型最大token限制"),
    _dialect("z.ai", r"^code: 1261$|prompt exceeds max length|prompt ?超长"),
    _dialect(
        "chinese",
        r"输入(?:的)?(?:token|文本|内容|提示词)?s?总?长度超[过出]"
        r"|上下文(?:总)?长度超[过出限]|上下文超长"
        r"|超[过出]了?(?:模型)?的?(?:最大)?上下文(?:长度|窗口|限制)"
        r"|(?:输入|提示词|prompt)[^\n]{0,12}超[过出]了?(?:模型)?的?最大(?:输入)?(?:token|长度)",
    ),
    _dialect(
        "lm studio",
        rf"trying to keep the first {_PROMPT} tokens[^\n]{{0,80}}context length of only {_LIMIT}"
        r"|tokens to keep from the initial prompt is greater than the context length",
    ),
    _dialect(
        "ollama",
        r"input length exceeds (?:the |maximum )?context length"
        r"|prompt too long; exceeded (?:max )?context length"
        r"|prompt is longer than the context length currently available",
    ),
    _dialect("litellm", r"ContextWindowExceededError"),
    _dialect("openai characters", r"invalid 'messages\[\d+\]\.content': string too long"),
    _dialect("openai window size", rf"request exceeds the context window of {_LIMIT} tokens"),
    _dialect("code", r"\bcontext[_ ](?:length|window)[_ ]exceeded\b"),
    _dialect("code", r"^(?:code|type|error_type|error_code): (?:prompt|input)_too_long$"),
    _dialect("groq", r"^\w+: please reduce the length of the messages or completion"),
    _dialect(
        "pydantic",
        r"\A(?=[\s\S]*^loc: (?:messages|content|prompt|inputs)$)"
        r"[\s\S]*^(?:type: string_too_long$|msg: string should have at most \d+ characters)",
        422,
    ),
    _dialect(
        "a server's limit on bytes",
        r"413 (?:request entity|content|payload|request body) too large"
        r"|^\w+: (?:request entity|content|payload|request body)"
        r" (?:is )?too large",
        413,
    ),
)

NOT_ABOUT_LENGTH = re.compile(
    r"tokens per (?:minute|min|second|hour|day)\b|\b[TRI]P[MSD]\b|rate[_ -]?limit|throttl"
    r"|please wait before|每分钟|每秒|频率|速率|限流|余额"
    r"|max_tokens ?(?:参数)?超|输出(?:的)?(?:token|长度|内容)",
    re.IGNORECASE,
)
"""Words of a limit on something else, which makes even a known wording doubtful."""

PROMPT_TOKENS = re.compile(
    rf"\({_PROMPT}\)? in the messages"
    rf"|\((?P<part>{_N}) of text input"
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
    rf"|(?P<completion>{_N}) (?:in|tokens for) the completion"
    rf"|(?P<written>{_N}) in the output"
    rf"|(?P<new>{_N}) `max_new_tokens`",
    re.IGNORECASE,
)
"""The output that was asked for: if it alone fills the context, the prompt is not to blame."""
