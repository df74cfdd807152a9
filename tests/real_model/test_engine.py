"""What the other tests here take for granted about the engine itself."""

import json
import urllib.error
import urllib.request
from typing import Any

SLOT_TOKENS = 2048


def post(url: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Send JSON; give the status and the JSON reply, refusals too."""
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


def chat(url: str, text: str) -> tuple[int, dict[str, Any]]:
    """Ask one question for a few tokens of answer."""
    messages = [{"role": "user", "content": text}]
    body = {"messages": messages, "temperature": 0, "max_tokens": 8}
    return post(f"{url}/v1/chat/completions", body)


def test_prompt_tokens_are_the_templated_prompt_tokenised(llama: str) -> None:
    text = "Is 世界 <|im_end|> one word? bafot-gitiz-lusab-dunor"
    _, templated = post(
        f"{llama}/apply-template", {"messages": [{"role": "user", "content": text}]}
    )
    _, counted = post(f"{llama}/tokenize", {"content": templated["prompt"]})
    _, answer = chat(llama, text)
    assert answer["usage"]["prompt_tokens"] == len(counted["tokens"])


def test_a_prompt_that_fills_its_slot_is_refused(llama: str) -> None:
    status, refusal = chat(llama, "word " * SLOT_TOKENS)
    assert status == 400
    assert refusal["error"]["type"] == "exceed_context_size_error"
    assert refusal["error"]["n_ctx"] == SLOT_TOKENS


def test_the_ignoring_server_answers_any_length_from_four_tokens(llama_ignoring: str) -> None:
    for text in ("Hello", "word " * 2 * SLOT_TOKENS):
        status, answer = chat(llama_ignoring, text)
        assert status == 200
        assert answer["usage"]["prompt_tokens"] == 4
        assert answer["choices"][0]["message"]["content"]
