"""Control tokens of chat templates, and pieces of vocabularies, as they look when they leak.

The shapes are those of public templates and tokenizers of 2023 to 2026.
"""

from __future__ import annotations

import re

# Nobody writes these by chance.
STRONG = re.compile(
    # ChatML, Qwen with tools and pictures, Llama 3 and 4, harmony, GLM, Phi, Granite,
    # Kimi, Falcon, Command R, LFM; <|turn> and <turn|> (Gemma 4).
    r"<\|[A-Za-z0-9_/\u2581\"][A-Za-z0-9_ /.:\u2581-]{0,40}(?<! )\|>"
    r"|<\|[a-z_]{2,32}>"
    r"|<[a-z_]{2,32}\|>"
    # DeepSeek and Hunyuan, in full-width bars.
    r"|</?\uff5c(?:[^<>\n]{0,60}>)?"
    # EXAONE; MiniMax.
    r"|\[\|[a-z_]{2,24}\|\]"
    r"|\]~!?b\[|\]~b\]|\[e~\["
    # Llama 2, Mistral, GLM.
    r"|<</?SYS>>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CONTENT)\]"
    r"|\[/?(?:TOOL_CALLS|BEGIN_AUDIO|gMASK|sMASK)\]"
    # Gemma 2 and 3, GLM, ERNIE, Command R, Nemotron, T5.
    r"|</?(?:start|end)_of_(?:turn|image)>"
    r"|<\|?(?:begin|end|beginning)_of_(?:box|sentence|text|document)\|?>"
    r"|<(?:sop|eop|BOS_TOKEN|EOS_TOKEN|UNK_TOKEN|PAD_TOKEN)>"
    r"|<(?:unused|reserved_|extra_id_|SPECIAL_|special_token_)[0-9]{1,6}>"
    # Wrappers of thoughts and calls, some with the family's name.
    r"|</?(?:tool_calls?|tool_response|TOOLCALL|arg_key|arg_value|think)>"
    r"|</?(?:minimax|seed|longcat)[:_][a-z_]{1,24}>"
    r"|<(?:function|parameter)=[A-Za-z0-9_.-]{1,64}>"
    # Bytes for which a SentencePiece vocabulary has no piece.
    r"|<0x[0-9A-F]{2}>"
)
# These are also marks of HTML and SVG.
WEAK = re.compile(r"</?s>|<(?:pad|bos|eos|unk|mask)>")

# Terminal escapes and the like: C0 and C1 but tab and line breaks.
CHARACTER = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")

# How vocabularies keep their pieces: a space as Ġ (byte-level BPE) or ▁ (SentencePiece), a line
# break as Ċ, most bytes above 127 as letters from Ģ to Ń, the end of a word as </w>.
PIECE = re.compile(
    r"(?<=[a-z0-9.,;:!?|)\]\"'`])[\u0120\u010a]"
    r"|\u2581[A-Za-z0-9(\[*`\"'$\u4e00-\u9fff]"
    r"|[\u00e0-\u00ef](?:[\u0122-\u0143][\u00a1-\u00bf\u0122-\u0143]|[\u00a1-\u00bf][\u0122-\u0143])"
    r"|(?<=[a-z])</w>"
)
# Maltese has Ġ and Ċ too, but small ones within its words.
LEAST_PIECES = 3

# Who asks about these gets them in the answer.
ABOUT_TOKENS = re.compile(
    r"special token|control token|chat ?template|ChatML|tokeni[sz]er|byte[- ]pair|SentencePiece"
    r"|(?-i:\b(?:BOS|EOS|BERT)\b)|end[- ]of[- ](?:sequence|text|turn)",
    re.IGNORECASE,
)
ABOUT_MARKUP = re.compile(r"\b(?:X?HTML|SVG|XML|markup|tags?|strike-?through)\b", re.IGNORECASE)
_TAG = re.compile(r"</?(?:[a-z][a-z0-9]{0,15})(?: [^<>\n]{0,200})?/?>")
_QUOTES = {"`": "`", '"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u300c": "\u300d"}
# A line is looked at so far on both sides: else many tokens in an endless one take for ever.
LINE_CHARACTERS = 2_000
# Other tags an answer about markup holds beside the ambiguous ones.
LEAST_TAGS = 2


def is_quoted(text: str, start: int, end: int) -> bool:
    """True if this place is spoken of: alone between quotes, or within code of its line."""
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if before and _QUOTES.get(before) == after:
        return True
    first, last = max(0, start - LINE_CHARACTERS), end + LINE_CHARACTERS
    line = max(first, text.rfind("\n", first, start) + 1)
    ends = text.find("\n", end, last)
    code = text.count("`", line, start) % 2 == 1
    return code and text.find("`", end, ends if ends >= 0 else last) >= 0


def is_markup(text: str) -> bool:
    """True if the text holds several tags that are no control tokens: HTML, SVG, XML."""
    found = 0
    for match in _TAG.finditer(text):
        found += not (WEAK.fullmatch(match.group()) or STRONG.fullmatch(match.group()))
        if found >= LEAST_TAGS:
            return True
    return False
