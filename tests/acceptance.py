"""Asks llama.cpp's own grammar engine whether a grammar admits a text."""

from __future__ import annotations

import llama_cpp
import numpy as np

from local_react import LlamaModel


def admits(model: LlamaModel, grammar: str, text: str) -> bool:
    """Return whether the grammar admits exactly this text, to its end."""
    return _follow(model, grammar, text) is True


def begins(model: LlamaModel, grammar: str, text: str) -> bool:
    """Return whether the grammar admits a text that begins so."""
    return _follow(model, grammar, text) is not None


def _follow(model: LlamaModel, grammar: str, text: str) -> bool | None:
    """Return whether the text may end here, or None where it is refused on the way."""
    grammars = model.grammars
    state = grammars.start(grammar)
    try:
        for token in model.vocabulary.tokenize(text):
            if not len(grammars.admitted(state, np.array([token]))):
                return None
            llama_cpp.llama_sampler_accept(state, token)
        end = np.array([model.vocabulary.eos])
        return len(grammars.admitted(state, end)) == 1
    finally:
        llama_cpp.llama_sampler_free(state)
