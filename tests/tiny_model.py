"""A tiny GGUF with random weights: real llama.cpp, real grammar, no download.

Its vocabulary is the 256 bytes in GPT-2's spelling, one merge, and control tokens,
so a text is as many tokens as it has bytes. What it writes is noise, which is what
a grammar must hold against.
"""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

WIDTH, HEADS, CONTEXT = 32, 4, 4096
CONTROL = ("<|bos|>", "<|im_start|>", "<|im_end|>", "<|tool|>")
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{{ m['content'] }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)


def write_tiny_model(
    path: Path, *, architecture: str = "llama", template: str | None = TEMPLATE, seed: int = 0
) -> Path:
    """Write the model and return its path."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    words = _write_vocabulary(writer)
    if template is not None:
        writer.add_chat_template(template)
    _write_weights(writer, words, np.random.default_rng(seed))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _write_vocabulary(writer: gguf.GGUFWriter) -> int:
    tokens = [*_byte_letters(), "th", *CONTROL]
    types = [gguf.TokenType.NORMAL] * 257 + [gguf.TokenType.CONTROL] * len(CONTROL)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(257)
    writer.add_eos_token_id(259)
    writer.add_add_bos_token(True)
    return len(tokens)


def _byte_letters() -> list[str]:
    """Return GPT-2's letter for each byte: itself where it prints, else one above 255."""
    printing = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(b) if b in printing else chr(next(others)) for b in range(256)]


def _write_weights(writer: gguf.GGUFWriter, words: int, random: np.random.Generator) -> None:
    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, random.normal(0, 0.5, shape).astype(np.float32))

    add("token_embd.weight", words, WIDTH)
    add("output.weight", words, WIDTH)
    for norm in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{norm}.weight", np.ones(WIDTH, dtype=np.float32))
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.0.{part}.weight", WIDTH, WIDTH)
    add("blk.0.ffn_gate.weight", 2 * WIDTH, WIDTH)
    add("blk.0.ffn_up.weight", 2 * WIDTH, WIDTH)
    add("blk.0.ffn_down.weight", WIDTH, 2 * WIDTH)
