"""What a person wants to know of a GGUF file beyond its shape, and whether it can be loaded.

Native code that reads a file which contradicts itself may end the process, so all that
stands before the weights is checked here first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from local_react.catalog import all_shards, is_shard
from local_react.errors import ModelError
from local_react.gguf_header.contents import Contents, Listing, read_contents
from local_react.gguf_header.hyperparameters import check_hyperparameters
from local_react.gguf_header.pairs import MOST_LAYERS, TOKENS, Unusable, Value
from local_react.gguf_header.shape import header_of
from local_react.gguf_header.tensors import check_against, check_tensors
from local_react.gguf_header.vocabulary import TEMPLATE, check_vocabulary

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
# fmt: on


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
    shard: int
    """Which of them this is, from 0."""


def check_model(path: Path) -> Details:
    """Return what a model says of itself, of a split one its first file, after all of its
    files were checked.

    Raises ModelError, naming the file, where one cannot be read, is damaged, was cut, or
    contradicts itself or the others.
    """
    first, files = read_details(path), all_shards(path)
    if first.shards > 1 and not is_shard(path.name):
        raise ModelError(
            f"{path} is of a model that was split into {first.shards} files: get all of them,"
            f" as they were named, and give the one with -00001-of-{first.shards:05d}.gguf"
        )
    for number, file in enumerate(files):
        told = read_details(file) if number else first
        if (told.shard, told.shards) != (number, len(files)):
            raise ModelError(
                f"{file} says that it is file {told.shard + 1} of {told.shards}, and not"
                f" {number + 1} of {len(files)}: get all of them, as they were named"
            )
    return first


def read_details(path: Path) -> Details:
    """Return what a GGUF file, the first one of a split model, says of itself, after all that
    it says was checked.

    Raises ModelError, naming the file, where it cannot be read, is damaged, was cut, or
    contradicts itself.
    """
    try:
        contents = read_contents(path)
        _check(contents)
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from error
    except Unusable as error:
        raise ModelError(f"{path} cannot be loaded: {error}") from None
    shards, kind = contents.count("split.count") or 1, contents.count("general.file_type")
    numbers = sum(prod(tensor.shape) for tensor in contents.tensors)
    return Details(
        name=contents.text("general.name"),
        licence=contents.text("general.license"),
        parameters=numbers if shards == 1 else None,
        size_label=contents.text("general.size_label"),
        quantisation=None if kind is None else FILE_TYPES.get(kind),
        chat_template=TEMPLATE in contents.entries,
        shards=shards,
        shard=contents.count("split.no") or 0,
    )


def _check(contents: Contents) -> None:
    """Raise Unusable where the file is not whole, or what it says cannot be."""
    check_tensors(contents)
    check_vocabulary(contents)
    if not contents.count("split.no"):  # the others of a split model have tensors alone
        header = header_of(_values(contents), _tokens(contents))
        check_hyperparameters(contents, header)
        check_against(contents, header)


def _values(contents: Contents) -> Mapping[str, Value]:
    """Return the entries as those have them who read a few alone."""
    return {
        key: value.numbers() if isinstance(value, Listing) else value
        for key, value in contents.entries.items()
        if not isinstance(value, Listing) or value.count <= MOST_LAYERS
    }


def _tokens(contents: Contents) -> int | None:
    listing = contents.entries.get(TOKENS)
    return listing.count if isinstance(listing, Listing) else None
