"""Tiny GGUFs with random weights: real llama.cpp, real grammar, no download.

Their vocabulary is the 256 bytes in GPT-2's spelling, one merge, and control tokens,
so a text is as many tokens as it has bytes. What they write is noise, which is what
a grammar must hold against.

One model for each kind of memory that llama.cpp has, because each allows other things
to be done with what has been read:

- "llama", "qwen3moe": attention (the second with experts);
- "gemma3": attention with a sliding window in every second layer;
- "lfm2", "qwen35", "granitehybrid": attention layers between layers with a state
  (short convolution, gated delta net, Mamba-2);
- "mamba": only layers with a state.

The names and shapes of the tensors are those that llama.cpp's loader asks for
(`src/models/*.cpp` there).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np

WIDTH, HEADS, CONTEXT = 32, 4, 4096
HEAD = WIDTH // HEADS
WINDOW = 16
"""Tokens that a windowed layer of "gemma3" looks back."""
LAYERS = 4
"""Layers of every model but the attention ones, which have one."""
CONTROL = ("<|bos|>", "<|im_start|>", "<|im_end|>", "<|tool|>")
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{{ m['content'] }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)


def write_tiny_model(
    path: Path,
    *,
    architecture: str = "llama",
    template: str | None = TEMPLATE,
    seed: int = 0,
    control: Sequence[str] = (),
    user_defined: Sequence[str] = (),
) -> Path:
    """Write the model and return its path. `control` are further control tokens, and
    `user_defined` those that llama.cpp reads in any text.

    An architecture that is not in the list above gets the parts of "llama": what
    loads it has to refuse the name.
    """
    model = _Model(gguf.GGUFWriter(path, architecture), np.random.default_rng(seed))
    metadata, weights = ARCHITECTURES.get(architecture, (_attention_metadata, _llama))
    metadata(model.writer)
    words = _write_vocabulary(model.writer, [*CONTROL, *control], user_defined)
    if template is not None:
        model.writer.add_chat_template(template)
    model.random("token_embd.weight", words, WIDTH)
    model.random("output.weight", words, WIDTH)
    weights(model)
    model.finish()
    return path


def _write_vocabulary(
    writer: gguf.GGUFWriter, control: Sequence[str], user_defined: Sequence[str]
) -> int:
    tokens = [*_byte_letters(), "th", *control, *user_defined]
    types = [gguf.TokenType.NORMAL] * 257 + [gguf.TokenType.CONTROL] * len(control)
    types += [gguf.TokenType.USER_DEFINED] * len(user_defined)
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


class _Model:
    """A file being written, and the source of its weights."""

    def __init__(self, writer: gguf.GGUFWriter, random: np.random.Generator) -> None:
        self.writer = writer
        self._random = random

    def random(self, name: str, *shape: int) -> None:
        self.put(name, self._random.normal(0, 0.5, shape))

    def between(self, name: str, low: float, high: float, *shape: int) -> None:
        self.put(name, self._random.uniform(low, high, shape))

    def ones(self, width: int, *names: str) -> None:
        for name in names:
            self.put(name, np.ones(width))

    def put(self, name: str, values: np.ndarray[Any, Any]) -> None:
        self.writer.add_tensor(name, values.astype(np.float32))

    def attention(self, block: str, query: int = WIDTH) -> None:
        """Add the four matrices; `query` is the width of what the first gives."""
        self.random(f"{block}.attn_q.weight", query, WIDTH)
        for part in ("attn_k", "attn_v", "attn_output"):
            self.random(f"{block}.{part}.weight", WIDTH, WIDTH)

    def normed_attention(self, block: str, query: int = WIDTH) -> None:
        self.attention(block, query)
        self.ones(HEAD, f"{block}.attn_q_norm.weight", f"{block}.attn_k_norm.weight")

    def feed_forward(self, block: str) -> None:
        self.random(f"{block}.ffn_gate.weight", 2 * WIDTH, WIDTH)
        self.random(f"{block}.ffn_up.weight", 2 * WIDTH, WIDTH)
        self.random(f"{block}.ffn_down.weight", WIDTH, 2 * WIDTH)

    def finish(self) -> None:
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()


def _has_state(layer: int) -> bool:
    """Say whether a hybrid's layer keeps a state: the first of every two does."""
    return layer % 2 == 0


def _attention_metadata(
    writer: gguf.GGUFWriter, layers: int = 1, key_heads: int | list[int] = HEADS
) -> None:
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(key_heads)
    writer.add_rope_dimension_count(HEAD)
    writer.add_layer_norm_rms_eps(1e-5)


def _llama(model: _Model) -> None:
    model.ones(
        WIDTH, *(f"{n}.weight" for n in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"))
    )
    model.attention("blk.0")
    model.feed_forward("blk.0")


EXPERTS = 4


def _qwen3moe_metadata(writer: gguf.GGUFWriter) -> None:
    _attention_metadata(writer)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_expert_count(EXPERTS)
    writer.add_expert_used_count(2)
    writer.add_expert_feed_forward_length(WIDTH)


def _qwen3moe(model: _Model) -> None:
    model.ones(
        WIDTH, *(f"{n}.weight" for n in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"))
    )
    model.normed_attention("blk.0")
    model.random("blk.0.ffn_gate_inp.weight", EXPERTS, WIDTH)
    for part in ("gate", "up", "down"):
        model.random(f"blk.0.ffn_{part}_exps.weight", EXPERTS, WIDTH, WIDTH)


def _gemma3_metadata(writer: gguf.GGUFWriter) -> None:
    _attention_metadata(writer, LAYERS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_sliding_window(WINDOW)
    writer.add_sliding_window_pattern([_has_state(layer) for layer in range(LAYERS)])


def _gemma3(model: _Model) -> None:
    model.ones(WIDTH, "output_norm.weight")
    for block in (f"blk.{layer}" for layer in range(LAYERS)):
        norms = ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm")
        model.ones(WIDTH, *(f"{block}.{norm}.weight" for norm in norms))
        model.normed_attention(block)
        model.feed_forward(block)


def _lfm2_metadata(writer: gguf.GGUFWriter) -> None:
    # No head for keys is how these files say that a layer keeps a state.
    _attention_metadata(writer, LAYERS, [0 if _has_state(n) else HEADS for n in range(LAYERS)])
    writer.add_shortconv_l_cache(3)


def _lfm2(model: _Model) -> None:
    model.ones(WIDTH, "token_embd_norm.weight")
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        model.ones(WIDTH, f"{block}.attn_norm.weight", f"{block}.ffn_norm.weight")
        if _has_state(layer):
            model.random(f"{block}.shortconv.conv.weight", WIDTH, 3)
            model.random(f"{block}.shortconv.in_proj.weight", 3 * WIDTH, WIDTH)
            model.random(f"{block}.shortconv.out_proj.weight", WIDTH, WIDTH)
        else:
            model.normed_attention(block)
        model.feed_forward(block)


CONV, STATE, INNER = 4, 8, 2 * WIDTH
"""Of a state: tokens convolved, values kept for a channel, channels."""


def _state_metadata(writer: gguf.GGUFWriter, inner: int, rank: int, groups: int = 0) -> None:
    writer.add_ssm_conv_kernel(CONV)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(STATE)
    writer.add_ssm_time_step_rank(rank)
    if groups:
        writer.add_ssm_group_count(groups)


def _decay(model: _Model, block: str, bias: int, *shape: int) -> None:
    """Make a state forget about 1 % with a token: what is 100 tokens back still counts."""
    model.put(f"{block}.ssm_dt.bias", np.full(bias, -4.0))
    model.between(f"{block}.ssm_a", -1.0, -0.1, *shape)


def _mamba_metadata(writer: gguf.GGUFWriter) -> None:
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_layer_norm_rms_eps(1e-5)
    _state_metadata(writer, INNER, rank=2)


def _mamba(model: _Model) -> None:
    model.ones(WIDTH, "output_norm.weight")
    for block in (f"blk.{layer}" for layer in range(LAYERS)):
        model.ones(WIDTH, f"{block}.attn_norm.weight")
        model.random(f"{block}.ssm_in.weight", 2 * INNER, WIDTH)
        model.random(f"{block}.ssm_conv1d.weight", INNER, CONV)
        model.random(f"{block}.ssm_conv1d.bias", INNER)
        model.random(f"{block}.ssm_x.weight", 2 + 2 * STATE, INNER)
        model.between(f"{block}.ssm_dt.weight", -0.1, 0.1, INNER, 2)
        _decay(model, block, INNER, INNER, STATE)
        model.ones(INNER, f"{block}.ssm_d")
        model.random(f"{block}.ssm_out.weight", WIDTH, INNER)


def _qwen35_metadata(writer: gguf.GGUFWriter) -> None:
    _attention_metadata(writer, LAYERS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_rope_dimension_sections([2, 1, 1, 0])
    writer.add_full_attention_interval(2)
    _state_metadata(writer, WIDTH, rank=HEADS, groups=2)


def _qwen35(model: _Model) -> None:
    model.ones(WIDTH, "output_norm.weight")
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        model.ones(WIDTH, f"{block}.attn_norm.weight", f"{block}.post_attention_norm.weight")
        if _has_state(layer):
            _delta_net(model, block)
        else:
            model.normed_attention(block, query=2 * WIDTH)
        model.feed_forward(block)


def _delta_net(model: _Model, block: str) -> None:
    channels = WIDTH + 2 * 2 * STATE
    model.random(f"{block}.attn_qkv.weight", channels, WIDTH)
    model.random(f"{block}.attn_gate.weight", WIDTH, WIDTH)
    model.random(f"{block}.ssm_conv1d.weight", channels, CONV)
    _decay(model, block, HEADS, HEADS)
    model.random(f"{block}.ssm_beta.weight", HEADS, WIDTH)
    model.between(f"{block}.ssm_alpha.weight", -0.1, 0.1, HEADS, WIDTH)
    model.ones(STATE, f"{block}.ssm_norm.weight")
    model.random(f"{block}.ssm_out.weight", WIDTH, WIDTH)


def _granite_metadata(writer: gguf.GGUFWriter) -> None:
    _attention_metadata(writer, LAYERS, [0 if _has_state(n) else HEADS for n in range(LAYERS)])
    _state_metadata(writer, INNER, rank=HEADS, groups=1)


def _granite(model: _Model) -> None:
    model.ones(WIDTH, "output_norm.weight")
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        model.ones(WIDTH, f"{block}.attn_norm.weight", f"{block}.ffn_norm.weight")
        if _has_state(layer):
            _mamba2(model, block)
        else:
            model.attention(block)
        model.feed_forward(block)


def _mamba2(model: _Model, block: str) -> None:
    channels = INNER + 2 * STATE
    model.random(f"{block}.ssm_in.weight", INNER + channels + HEADS, WIDTH)
    model.random(f"{block}.ssm_conv1d.weight", channels, CONV)
    model.random(f"{block}.ssm_conv1d.bias", channels)
    _decay(model, block, HEADS, HEADS, 1)
    model.put(f"{block}.ssm_d", np.ones((HEADS, 1)))
    model.put(f"{block}.ssm_norm.weight", np.ones((1, INNER)))
    model.random(f"{block}.ssm_out.weight", WIDTH, INNER)


ARCHITECTURES: dict[str, tuple[Callable[[gguf.GGUFWriter], None], Callable[[_Model], None]]] = {
    "llama": (_attention_metadata, _llama),
    "qwen3moe": (_qwen3moe_metadata, _qwen3moe),
    "gemma3": (_gemma3_metadata, _gemma3),
    "lfm2": (_lfm2_metadata, _lfm2),
    "qwen35": (_qwen35_metadata, _qwen35),
    "granitehybrid": (_granite_metadata, _granite),
    "mamba": (_mamba_metadata, _mamba),
}
