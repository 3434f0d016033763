"""Whether the tensors of a GGUF file can be what its list says of them."""

from __future__ import annotations

import re
from math import prod

from local_react.gguf_header.contents import Contents, Tensor
from local_react.gguf_header.pairs import TOKENS, Unusable, damaged, senseless
from local_react.gguf_header.shape import Header

# fmt: off
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110),
    22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8),
    29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36),
    41: (128, 18),
}
"""Numbers in a block and its bytes, by the type's number (ggml.h, ggml_type)."""
# fmt: on

_ALIGNMENT = 32
_LARGEST_ALIGNMENT = 1 << 20
_MOST_NUMBERS = 1 << 63
_LAYER = re.compile(r"blk\.(\d+)\.")


def check_tensors(contents: Contents) -> None:
    """Raise Unusable where a tensor cannot be as it is listed, lies outside of the file or
    on another one."""
    alignment = _alignment(contents)
    begin = -(-contents.listed // alignment) * alignment
    end = begin
    for tensor in sorted(contents.tensors, key=lambda one: one.offset):
        size = _bytes(tensor)
        if tensor.offset % alignment:
            damaged(f"{tensor.name!r} is not aligned to {alignment} bytes")
        if begin + tensor.offset < end:
            damaged(f"{tensor.name!r} lies on another tensor")
        end = begin + tensor.offset + size
    if contents.tensors and end > contents.size:
        raise Unusable(
            f"it has {contents.size} bytes of {end}, so it was cut: fetch or copy it again"
        )


def check_against(contents: Contents, header: Header) -> None:
    """Raise Unusable where the tensors are not those of such a model."""
    tokens = contents.entries.get(TOKENS)
    for tensor in contents.tensors:
        layer = _LAYER.match(tensor.name)
        if layer and int(layer[1]) >= header.block_count:
            senseless(f"{tensor.name!r} in a model of {header.block_count} layers")
        if tensor.name == "token_embd.weight" and tokens is not None:
            wanted = (header.embedding_length, header.vocabulary)
            if tensor.shape != wanted:
                senseless(f"token_embd.weight is {tensor.shape} and not {wanted}")


def _alignment(contents: Contents) -> int:
    """Return the bytes that each tensor begins at a multiple of."""
    if "general.alignment" not in contents.entries:
        return _ALIGNMENT
    alignment = contents.count("general.alignment") or 0
    if not 0 < alignment <= _LARGEST_ALIGNMENT or alignment & (alignment - 1):
        damaged(f"an alignment of {alignment} bytes")
    return alignment


def _bytes(tensor: Tensor) -> int:
    """Return the bytes of a tensor."""
    if tensor.kind not in BLOCKS:
        raise Unusable(
            f"{tensor.name!r} is of type {tensor.kind}, which is not known:"
            " take another quantisation of it, or update local-react"
        )
    numbers = prod(tensor.shape)
    if not 0 < numbers < _MOST_NUMBERS or max(tensor.shape, default=1) >= _MOST_NUMBERS:
        damaged(f"{tensor.name!r} of the shape {tensor.shape}")
    per_block, size = BLOCKS[tensor.kind]
    if tensor.shape and tensor.shape[0] % per_block:
        damaged(f"{tensor.name!r} has rows of {tensor.shape[0]} numbers in blocks of {per_block}")
    return numbers // per_block * size
