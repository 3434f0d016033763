"""The llama.cpp backend: the only package that imports llama_cpp.

It uses the low-level functions, because the high-level Llama class masks the whole
vocabulary at every token and owns its context.

    library     the native library is loaded, or it is told why not
    native      the library itself: its log, its callbacks, Ctrl-C within it
    vocabulary  text and tokens, trusted and untrusted apart
    decoding    grammars, and the choice of the next token under one
    evaluator   the native context: batches of tokens for many sequences
    slots       which sequence of its cache holds what
    warm_start  what is kept of it for the next process
    engine      what contexts have grown by is read, and nothing twice
    context     LlamaContext, one chat; forks of it
    replies     replies that are being written, and whoever wants them
    admission   which of them the cache has room for
    desk        all of them together, from any number of threads, in one batch
    loading     the model's file, and options checked
    vouching    whether that file may be loaded into this process,
    trying        which is tried in another,
    rehearsal     that runs this
    model       LlamaModel
"""

from local_react.backends.llama.library import load

load()

# ruff: noqa: E402 - what imports it comes after
from local_react.backends.llama.context import LlamaContext
from local_react.backends.llama.loading import supports_gpu
from local_react.backends.llama.model import LlamaModel

__all__ = ["LlamaContext", "LlamaModel", "supports_gpu"]
