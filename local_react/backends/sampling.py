"""Choosing a token from logits: pure functions over numpy arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from local_react.core import Sampling

Logits: TypeAlias = NDArray[np.float32]
"""One float for every token of the vocabulary; -inf where a token may not come."""


def choose(logits: Logits, sampling: Sampling, random: np.random.Generator) -> int:
    """Return the id of the chosen token. The logits are read, not changed.

    At least one logit must be finite. The order is that of llama.cpp's default
    chain: top-k, top-p and min-p over the plain probabilities, then temperature.
    """
    if sampling.temperature == 0.0:
        return int(logits.argmax())
    tokens = _likeliest(logits, sampling)
    tokens = tokens[_kept(_softmax(logits[tokens]), sampling)]
    weights = _softmax(logits[tokens] / np.float32(sampling.temperature))
    # One uniform draw against the cumulated weights: the same draw, the same token.
    drawn = int(np.searchsorted(np.cumsum(weights), random.random() * weights.sum()))
    return int(tokens[min(drawn, len(tokens) - 1)])


def _likeliest(logits: Logits, sampling: Sampling) -> NDArray[np.intp]:
    """Return token ids from the likeliest to the least likely, at most top-k of them."""
    # Sorting a whole vocabulary costs more than a small model's token. What is e^-20
    # times as likely as the best token is never drawn in practice.
    reach = 20.0 * max(1.0, sampling.temperature)
    near = np.flatnonzero(logits > logits.max() - np.float32(reach))
    if 0 < sampling.top_k < len(near):
        near = near[np.argpartition(logits[near], -sampling.top_k)[-sampling.top_k :]]
    return near[np.argsort(-logits[near], kind="stable")]


def _kept(probabilities: Logits, sampling: Sampling) -> NDArray[np.bool_]:
    """Return which of the sorted candidates top-p and min-p keep: at least the first."""
    before = np.cumsum(probabilities) - probabilities
    kept = (before < sampling.top_p) & (probabilities > 0)
    kept &= probabilities >= sampling.min_p * probabilities[0]
    kept[0] = True
    return kept


def _softmax(logits: Logits) -> Logits:
    powers = np.exp(logits - logits.max())
    return np.asarray(powers / powers.sum(), dtype=np.float32)
