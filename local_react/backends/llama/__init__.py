"""The llama.cpp backend: the only package that imports llama_cpp.

It uses the low-level functions, because the high-level Llama class masks the whole
vocabulary at every token and owns its context.

    native      the library itself: its log, its callbacks, Ctrl-C within it
    vocabulary  text and tokens, trusted and untrusted apart
    decoding    grammars, and the choice of the next token under one
    evaluator   the context and its cache: nothing is read twice
    model       LlamaModel and LlamaContext, which the agent uses
"""

import os

# libgomp reads this once, when llama_cpp loads it. By default its threads spin for long
# while they wait for each other, which costs most of the time as soon as other programs
# want the CPUs. Measured with the 135M model on 2 CPUs, tokens/s, default and this: idle
# 142 and 144, beside four busy programs 5 and 32; not spinning at all: 49 and 31.
os.environ.setdefault("GOMP_SPINCOUNT", "3000")

from local_react.backends.llama.model import (
    DEFAULT_CONTEXT,
    LlamaContext,
    LlamaModel,
)

__all__ = ["DEFAULT_CONTEXT", "LlamaContext", "LlamaModel"]
