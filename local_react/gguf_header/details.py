"""What a person wants to know of a GGUF file beyond its shape, and whether it is whole.

Unlike `read_header` this reads past the vocabulary, up to where the weights begin: 0.1 s
for a vocabulary of 262,000 tokens. What stands there is the list of the tensors, with the
place of each, which tells a file that was cut from one that is whole.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO

from local_react.errors import ModelError
from local_react.gguf_header.pairs import Unusable, Value, damaged, read_pairs
from local_react.gguf_header.shape import REQUIRED

# fmt: off
FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0",
    38: "MXFP4_MOE", 39: "NVFP4", 40: "Q1_0",
}
"""How the weights are quantised, by llama.cpp's number (llama.h, llama_ftype)."""

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

_OPTIONAL = ("name", "license", "size_label", "file_type", "alignment", "count")
_TEMPLATE = "chat_template"
_MOST_TENSORS = 1 << 16
_MOST_DIMENSIONS = 4  # GGML_MAX_DIMS
_ALIGNMENT = 32


@dataclass(frozen=True, slots=True)
class Details:
    """What a GGUF file says of itself; None where it does not."""

    name: str | None
    licence: str | None
    parameters: int | None
    """The numbers in its tensors; None where they are in several files."""
    size_label: str | None
    """Its maker's word for that, such as "1.5B"."""
    quantisation: str | None
    chat_template: bool
    shards: int
    """Files that the model was split into; 1 where it is whole."""


@dataclass(frozen=True, slots=True)
class _Tensor:
    numbers: int
    kind: int
    offset: int

    @property
    def end(self) -> int:
        """The first byte behind it, as far as its type is known."""
        per_block, size = BLOCKS.get(self.kind, (1, 0))
        return self.offset + -(-self.numbers // per_block) * size


def read_details(path: Path) -> Details:
    """Return what a GGUF file, the first one of a split model, says of itself.

    Raises ModelError, naming the file, where it cannot be read, is damaged or was cut.
    """
    try:
        with path.open("rb", buffering=1 << 16) as file:
            return _read(file, path.stat().st_size)
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from error
    except Unusable as error:
        raise ModelError(f"{path} cannot be loaded: {error}") from None


def _read(file: BinaryIO, size: int) -> Details:
    # No key is <architecture>.chat_template: wanting it has all pairs read.
    values, _ = read_pairs(file, size, (*REQUIRED, _TEMPLATE), _OPTIONAL)
    tensors = list(_tensors(file))
    _check_end(tensors, file.tell(), size, values)
    shards = _whole(values, "split.count", 1)
    return Details(
        name=_text(values, "general.name"),
        licence=_text(values, "general.license"),
        parameters=sum(tensor.numbers for tensor in tensors) if shards <= 1 else None,
        size_label=_text(values, "general.size_label"),
        quantisation=FILE_TYPES.get(_whole(values, "general.file_type", -1)),
        chat_template=f"tokenizer.{_TEMPLATE}" in values,
        shards=max(1, shards),
    )


def _check_end(tensors: list[_Tensor], listed: int, size: int, values: Mapping[str, Value]) -> None:
    """Raise Unusable where the weights, which begin behind their list, end too early."""
    alignment = _whole(values, "general.alignment", 0) or _ALIGNMENT
    begin = -(-listed // alignment) * alignment
    end = begin + max((tensor.end for tensor in tensors), default=0)
    if tensors and end > size:
        raise Unusable(f"it has {size} bytes of {end}, so it was cut: fetch or copy it again")


def _tensors(file: BinaryIO) -> Iterator[_Tensor]:
    """Yield the tensors that are listed where the file stands, behind the pairs."""
    here = file.tell()
    file.seek(8)
    (count,) = _take(file, "Q")
    file.seek(here)
    if count > _MOST_TENSORS:
        damaged(f"{count} tensors")
    for _ in range(count):
        (length,) = _take(file, "Q")
        if length > 1 << 16:
            damaged(f"a tensor's name of {length} bytes")
        file.seek(length, 1)
        (dimensions,) = _take(file, "I")
        if dimensions > _MOST_DIMENSIONS:
            damaged(f"a tensor of {dimensions} dimensions")
        *shape, kind, offset = _take(file, f"{dimensions}QIQ")
        yield _Tensor(prod(shape), kind, offset)


def _take(file: BinaryIO, form: str) -> tuple[int, ...]:
    """Return the numbers of the struct module's format that come next."""
    wanted = struct.calcsize(f"<{form}")
    piece = file.read(wanted)
    if len(piece) != wanted:
        damaged("it ends too early")
    return struct.unpack(f"<{form}", piece)


def _text(values: Mapping[str, Value], key: str) -> str | None:
    value = values.get(key)
    return value if isinstance(value, str) and value else None


def _whole(values: Mapping[str, Value], key: str, default: int) -> int:
    value = values.get(key)
    return value if isinstance(value, int) else default
