"""The header of a GGUF file: what a memory estimate needs, before the model is loaded.

The format is that of ggml's docs/gguf.md, versions 2 and 3, little endian: magic, version,
two counts, then key-value pairs. The `gguf` package reads it too, but builds every value
and every tensor: 2 s for a vocabulary of 49,000 tokens and 9 s for one of 262,000, where
what is wanted here stands before the vocabulary and takes less than a millisecond.

    pairs            the file: one key and value after another
    shape            the model: what the values mean
    contents         all that stands before the weights
    tensors          whether those can be where and what the file says,
    vocabulary         the tokens agree with what is said of them,
    hyperparameters    and the figures can be those of a model
    details          what a person wants to know, after all of that was checked

The names and the defaults of the keys are llama.cpp's (src/llama-arch.cpp and
src/llama-model.cpp), and so is the choice of the layers that have a cache.
"""

from __future__ import annotations

from pathlib import Path

from local_react.errors import ModelError
from local_react.gguf_header.pairs import Unusable, read_pairs
from local_react.gguf_header.shape import OPTIONAL, REQUIRED, Header, header_of

__all__ = ["Header", "read_header"]


def read_header(path: Path) -> Header:
    """Return the header of a GGUF file, the first one of a split model.

    Raises ModelError, naming the file, where it cannot be read, is not GGUF, is damaged,
    or does not describe a language model.
    """
    try:
        with path.open("rb", buffering=1 << 16) as file:
            size = path.stat().st_size
            values, vocabulary = read_pairs(file, size, REQUIRED, OPTIONAL)
        return header_of(values, vocabulary)
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from error
    except Unusable as error:
        raise ModelError(f"{path} cannot be loaded: {error}") from None
