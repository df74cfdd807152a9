"""What looks like a control token, and what is only spoken of."""

# ruff: noqa: RUF001 - look-alikes of other scripts are what is tested

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.writing.control import PIECE, STRONG, WEAK, is_markup, is_quoted

TOKENS = [
    *["<|im_start|>", "<|eot_id|>", "<|channel|>", "<|observation|>", "<|END_OF_TURN_TOKEN|>"],
    *["<|turn>", "<turn|>", '<|"|>', "<\uff5cUser\uff5c>", "<\uff5cDSML\uff5cinvoke", "[gMASK]"],
    *["[INST]", "[/INST]", "[TOOL_CALLS]", "<<SYS>>", "<start_of_turn>", "<unused12>", "]~b]"],
    *["[e~[", "[|assistant|]", "<minimax:tool_call>", "<seed:think>", "<0x0A>", "<extra_id_3>"],
    *["<function=get_weather>", "</tool_call>", "<|tool_calls_section_begin|>", "<sop>"],
]


@pytest.mark.parametrize("token", TOKENS)
def test_tokens_of_today(token: str) -> None:
    assert STRONG.search(f"The capital is Paris.{token}")


@pytest.mark.parametrize("token", ["<s>", "</s>", "<unk>", "<pad>", "<bos>", "<eos>", "<mask>"])
def test_tokens_that_are_tags_too(token: str) -> None:
    assert WEAK.fullmatch(token)
    assert not STRONG.search(token)


@pytest.mark.parametrize(
    "text",
    [
        *[
            "a <| b |> c",
            "list |> map (f <| x)",
            "x <y> z",
            "<div>a</div>",
            "[INSTALL]",
            "[PREFIX]",
        ],
        *[
            "a < b | c > d",
            "<https://example.com>",
            "0x0A",
            "<0x1F600>",
            "~/.bashrc",
        ],
        *["<string>", "<table>", "std::vector<int>", "<thinking about it>", "[e~f]", "<!-- -->"],
    ],
)
def test_what_is_no_token(text: str) -> None:
    assert not STRONG.search(text)
    assert not WEAK.search(text)


@pytest.mark.parametrize(
    "text",
    ["theĠcatĠsatĠonĠthe", "▁The▁cat▁sat", "Well,ĊĊthen", "itâĢĻs", "ä¸ŃæĸĩæĺŁ", "the</w>cat</w>"],
)
def test_pieces_of_vocabularies(text: str) -> None:
    assert PIECE.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "L-Ġimgħa fil-Ġnien, Ċentru, aċċess, triġi, ĠENERALI LOĠIKA",
        "▁▂▃▅▇ ▁▁▂",
        "kráľ, Łódź, ģimene",
    ],
)
def test_languages_and_sparklines_are_no_pieces(text: str) -> None:
    assert not PIECE.search(text)


@pytest.mark.parametrize(
    ("text", "spoken_of"),
    [
        ("The token `<s>` begins it.", True),
        ("The token \u201c<s>\u201d begins it.", True),
        ("It is `<s> X </s>` then.", True),
        ("a `b` <s> `c`", False),
        ("a ` b\n<s>\nc `", False),
        ("<s>", False),
        ('"<s>text', False),
        ("x\"<s>'", False),
    ],
)
def test_a_token_in_quotes_or_code_is_spoken_of(text: str, spoken_of: bool) -> None:
    start = text.index("<s>")
    assert is_quoted(text, start, start + 3) is spoken_of


def test_markup_is_told_by_its_other_tags() -> None:
    assert is_markup("<p>Old <s>price</s></p>")
    assert not is_markup("<s>price</s></s> <unk>")
    assert not is_markup("a <b and c> d")


@given(st.text(alphabet="<|>/s [INST]~be`\uff5c", max_size=200))
def test_any_text_is_searched(text: str) -> None:
    for match in STRONG.finditer(text):
        is_quoted(text, *match.span())
    is_markup(text)
