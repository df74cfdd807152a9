"""Configurations of public models, as far as they say what a token takes: numbers, no text."""

from __future__ import annotations

from typing import Any

QWEN3_235B: dict[str, Any] = {
    "model_type": "qwen3_moe",
    "num_hidden_layers": 94,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "hidden_size": 4096,
    "torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "fp8"},
}
KIMI_K2: dict[str, Any] = {
    "model_type": "multimodal",
    "dtype": "bfloat16",
    "text_config": {
        "model_type": "kimi_k2",
        "num_hidden_layers": 61,
        "num_attention_heads": 64,
        "num_key_value_heads": 64,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
    },
}
DEEPSEEK_V3: dict[str, Any] = {
    "model_type": "deepseek_v3",
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "torch_dtype": "bfloat16",
}
SPARSE: dict[str, Any] = {
    **DEEPSEEK_V3,
    "model_type": "deepseek_v32",
    "index_head_dim": 128,
    "index_n_heads": 64,
    "index_topk": 2048,
}
HYBRID: dict[str, Any] = {
    "model_type": "multimodal",
    "text_config": {
        "model_type": "qwen3_5_text",
        "num_hidden_layers": 64,
        "num_attention_heads": 24,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "full_attention_interval": 4,
        "dtype": "bfloat16",
    },
}
QWEN2_32B: dict[str, Any] = {
    "model_type": "qwen2",
    "num_hidden_layers": 64,
    "num_attention_heads": 40,
    "num_key_value_heads": 8,
    "hidden_size": 5120,
    "sliding_window": 131072,
    "use_sliding_window": False,
    "torch_dtype": "bfloat16",
}
WINDOWED: dict[str, Any] = {
    "model_type": "gpt_oss",
    "num_hidden_layers": 36,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 18,
    "dtype": "bfloat16",
}
LLAMA_MHA: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "hidden_size": 4096,
    "torch_dtype": "float16",
}
KNOWN = (
    *(QWEN3_235B, KIMI_K2, DEEPSEEK_V3, SPARSE, HYBRID, QWEN2_32B),
    *(WINDOWED, LLAMA_MHA),
)
