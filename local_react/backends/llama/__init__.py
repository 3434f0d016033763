"""The llama.cpp backend: the only package that imports llama_cpp.

It uses the low-level functions, because the high-level Llama class masks the whole
vocabulary at every token and owns its context.

    native      the library itself: its log, its callbacks, Ctrl-C within it
    vocabulary  text and tokens, trusted and untrusted apart
    decoding    grammars, and the choice of the next token under one
    evaluator   the context and its cache: nothing is read twice
    model       LlamaModel and LlamaContext, which the agent uses
"""

from local_react.backends.llama.model import DEFAULT_CONTEXT, LlamaContext, LlamaModel

__all__ = ["DEFAULT_CONTEXT", "LlamaContext", "LlamaModel"]
