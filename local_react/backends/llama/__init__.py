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

# libgomp reads this once, when llama_cpp loads it. By default its threads spin while
# they wait for each other, and with another program on one of the CPUs, as on any
# laptop, most of the time goes there: seen here, 0.7 tokens/s against 42.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from local_react.backends.llama.model import (
    DEFAULT_CONTEXT,
    LlamaContext,
    LlamaModel,
)

__all__ = ["DEFAULT_CONTEXT", "LlamaContext", "LlamaModel"]
