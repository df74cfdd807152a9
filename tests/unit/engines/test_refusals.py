"""Every dialect of "too long" is a refusal, and nothing else is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.engines.refusals import classify_error_in_200, classify_refusal, classify_status
from monitor.model import FailureKind

VLLM = (
    "This model's maximum context length is 131072 tokens. However, you requested 16000 output"
    " tokens and your prompt contains at least 115073 input tokens, for a total of at least 131073"
    " tokens. Please reduce the length of the input prompt or reduce max_tokens."
)
LLAMA = (
    "request (19389 tokens) exceeds the available context size (16384 tokens), try increasing it"
)

REFUSALS: list[tuple[int, str, int | None, int | None]] = [
    (
        400,
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        8192,
        9000,
    ),
    (
        400,
        (
            "Requested token count exceeds the model's maximum context length of 256000 tokens. You"
            " requested a total of 256878 tokens: 31216 tokens from the input messages and 225662"
            " tokens for the completion."
        ),
        256000,
        31216,
    ),
    (
        400,
        (
            "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a"
            " shorter input or enable --allow-auto-truncate."
        ),
        59862,
        160062,
    ),
    (400, VLLM, 131072, 115073),
    (400, f"AiError: {VLLM}", 131072, 115073),
    (
        400,
        (
            "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens"
            " (9000 in the messages, 100 in the completion)."
        ),
        8192,
        9000,
    ),
    (
        400,
        (
            "This model's maximum context length is 4097 tokens. However, your messages resulted in"
            " 5000 tokens."
        ),
        4097,
        5000,
    ),
    (
        400,
        (
            "This model's maximum context length is 262144 tokens. However, your request has 372027"
            " input tokens. Please reduce the length of the input messages."
        ),
        262144,
        372027,
    ),
    (
        400,
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 16000. This"
            " model's maximum context"
            " length is 131072 tokens and your request has 120000 input tokens (16000 > 131072 -"
            " 120000)."
        ),
        131072,
        120000,
    ),
    (
        400,
        "The decoder prompt (length 12324) is longer than the maximum model length of 8192.",
        8192,
        12324,
    ),
    (400, LLAMA, 16384, 19389),
    (400, "the request exceeds the available context size, try increasing it", None, None),
    (
        422,
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
        1024,
        2000,
    ),
    (
        422,
        (
            "`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2000"
            " `inputs` tokens and 100"
            " `max_new_tokens`"
        ),
        2048,
        2000,
    ),
    (
        400,
        (
            "The sum of prompt length (72417.0), query length (0) should not exceed max_num_tokens"
            " (69632)"
        ),
        69632,
        72417,
    ),
    (
        413,
        (
            "5021: The estimated number of input and maximum output tokens (155740) exceeded this"
            " model context window limit (128000)."
        ),
        128000,
        None,
    ),
    (
        413,
        (
            "3010: AiError: The estimated number of input and maximum output"
            " tokens (35000) exceeded"
            " this model context window limit (24000)"
        ),
        24000,
        None,
    ),
    (400, "Prompt exceeds max length", None, None),
    (400, "prompt is too long: 210000 tokens > 200,000 maximum", 200000, 210000),
    (
        400,
        (
            "litellm.ContextWindowExceededError: litellm.BadRequestError:"
            " ContextWindowExceededError:"
            f" Hosted_vllmException - {VLLM}"
        ),
        131072,
        115073,
    ),
    (
        400,
        "litellm.ContextWindowExceededError: Lm_studioException - Error code: 400 - {'error': '"
        + json.dumps({"error": {"code": 400, "message": LLAMA, "n_ctx": 16384}}),
        16384,
        19389,
    ),
]
UNRELATED: list[tuple[int, object]] = [
    (
        400,
        {
            "error": {
                "message": "max_tokens is too large: 50000. This model supports at most 16384"
                " completion tokens, whereas you provided 50000."
            }
        },
    ),
    (
        400,
        {
            "error": {
                "message": "max_completion_tokens is too large: 262144. This model supports"
                " at most 256000 completion tokens."
            }
        },
    ),
    (
        400,
        {
            "error": {
                "message": "'max_tokens' is too large: 200000. This model's maximum context"
                " length is 131072 tokens and your request has 12 input tokens"
            }
        },
    ),
    (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. However, you"
                " requested 9000 tokens (10 in the messages, 8990 in the completion)."
            }
        },
    ),
    (400, {"error": {"message": "invalid model ID", "code": "invalid_model"}}),
    (400, {"error": {"code": "1211", "message": "unknown model"}}),
    (400, {"errors": [{"code": 5007, "message": "No such model"}]}),
    (400, {"errors": [{"code": 3010, "message": "a 400 says something else by this code"}]}),
    (400, {"detail": [{"loc": ["body"], "msg": "field required", "input": VLLM}]}),
    (429, {"error": {"message": VLLM}}),
    (500, {"error": {"message": VLLM}}),
    (401, {"error": {"message": "context_length_exceeded"}}),
    (400, b""),
    (400, b"\xff\xfe"),
]


def _envelopes(message: str) -> list[object]:
    return [
        {"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}},
        {"object": "error", "message": message, "type": "BadRequest", "code": 400},
        {"success": False, "errors": [{"code": 7000, "message": message}], "result": None},
        {"error": message, "error_type": "validation"},
        {"detail": message},
        message,
        message.encode(),
        json.dumps({"error": {"message": message}}).encode(),
    ]


@pytest.mark.parametrize(("status", "message", "limit", "prompt"), REFUSALS)
def test_each_dialect_in_each_envelope_is_a_refusal(
    status: int, message: str, limit: int | None, prompt: int | None
) -> None:
    for body in _envelopes(message):
        failure = classify_refusal(status, body)
        assert failure is not None, body
        assert failure.kind is FailureKind.REFUSED
        assert (failure.limit_tokens, failure.prompt_tokens) == (limit, prompt), body
        assert failure.code == status


@pytest.mark.parametrize(
    ("status", "body", "limit", "prompt"),
    [
        (
            400,
            {
                "error": {
                    "code": 400,
                    "type": "exceed_context_size_error",
                    "message": "too long",
                    "n_prompt_tokens": 9000,
                    "n_ctx": 4096,
                }
            },
            4096,
            9000,
        ),
        (400, {"error": {"code": "context_length_exceeded", "message": "no"}}, None, None),
        (400, {"object": "error", "type": "CONTEXT_LENGTH_EXCEEDED", "code": 400}, None, None),
        (413, {"success": False, "errors": [{"code": 5021, "message": "x"}]}, None, None),
        (413, {"success": False, "errors": [{"code": 3006, "message": "too large"}]}, None, None),
        (400, {"error": {"code": "1261", "message": "x"}}, None, None),
    ],
)
def test_codes_alone_are_refusals(
    status: int, body: object, limit: int | None, prompt: int | None
) -> None:
    failure = classify_refusal(status, body)
    assert failure is not None
    assert (failure.limit_tokens, failure.prompt_tokens) == (limit, prompt)


@pytest.mark.parametrize(("status", "body"), UNRELATED)
def test_another_error_is_no_refusal(status: int, body: object) -> None:
    assert classify_refusal(status, body) is None
    failure = classify_status(status, body)
    assert (failure.kind, failure.code) == (FailureKind.HTTP_STATUS, status)


@pytest.mark.parametrize(
    ("status", "body", "detail"),
    [
        (401, b"", "unauthorised: the credential was not accepted"),
        (402, b"", "payment required: the account has no credit"),
        (403, b"", "forbidden: the credential does not allow this"),
        (429, b"", "rate limited"),
        (429, {"error": {"code": "1302"}}, "rate limited (error code 1302)"),
        (429, {"error": {"code": "insufficient_quota"}}, "the quota is used up"),
        (429, {"errors": [{"code": 3036}]}, "the quota is used up (error code 3036)"),
        (503, b"<html>", "server error"),
        (400, {"error": {"code": 400, "message": "secret words"}}, "request not accepted"),
        (418, b"", "request not accepted"),
    ],
)
def test_details_are_our_own_words(status: int, body: object, detail: str) -> None:
    assert classify_status(status, body).detail == detail


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from([VLLM, LLAMA, "1261", "error"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["error", "errors", "message", "code", "choices", "detail"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(document=JSON, status=st.integers(200, 599), name=st.sampled_from(["message", "error"]))
def test_no_document_breaks_the_classifiers(document: object, status: int, name: str) -> None:
    assert classify_status(status, document).kind in (FailureKind.REFUSED, FailureKind.HTTP_STATUS)
    classify_refusal(status, json.dumps(document))
    classify_error_in_200(document, event_name=name)


@given(body=st.binary(max_size=300) | st.text(max_size=300), status=st.integers(400, 599))
def test_no_bytes_break_the_classifiers(body: bytes | str, status: int) -> None:
    assert len(classify_status(status, body).detail) < 100
