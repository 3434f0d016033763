"""Choosing a token from logits: pure functions over numpy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from local_react.core import Sampling
from local_react.errors import ModelError

Logits: TypeAlias = NDArray[np.float32]
"""One float for every token of the vocabulary; -inf where a token may not come."""


def choose(logits: Logits, sampling: Sampling, random: np.random.Generator) -> int:
    """Return the id of the chosen token. The logits are read, not changed.

    At least one logit must be finite.
    """
    if is_greedy(sampling):
        return int(logits.argmax())
    tokens, weights = candidates(logits, sampling)
    return int(tokens[draw(weights, random)])


def is_greedy(sampling: Sampling) -> bool:
    """Return whether the likeliest token is taken: below that temperature nothing else
    ever comes, and 32 bits cannot tell the weights apart."""
    return sampling.temperature < 1e-4


def check_finite(most: np.float32) -> None:
    """Raise ModelError where the largest logit is no number."""
    if not np.isfinite(most):
        raise ModelError("the model computes no numbers: its file is damaged, or of no use")


def candidates(logits: Logits, sampling: Sampling) -> tuple[NDArray[np.intp], Logits]:
    """Return the tokens that may be drawn at a temperature above 0, and their weights.

    The order is that of llama.cpp's default chain: top-k, top-p and min-p over the plain
    probabilities, then temperature.
    """
    most = logits.max()
    check_finite(most)
    filters = bool(sampling.top_k or sampling.top_p < 1.0 or sampling.min_p > 0.0)
    # Weighing a whole vocabulary costs a good part of a small model's token. What is
    # e^-16 times as likely as the best is left out: measured on four models, a few
    # hundred to a few thousand tokens remain, and what goes weighs less than 0.1 %.
    reach = _REACH * (max(1.0, sampling.temperature) if filters else sampling.temperature)
    tokens = above(logits, most - np.float32(reach))
    if filters:
        tokens = _likeliest(tokens, logits, sampling.top_k)
        plain = np.exp(logits[tokens] - most)
        tokens = tokens[_kept(plain / plain.sum(), sampling)]
    return tokens, np.exp((logits[tokens] - most) / np.float32(sampling.temperature))


_REACH = 16.0


def draw(weights: Logits, random: np.random.Generator) -> int:
    """Return an index, as often as its weight says."""
    # One uniform draw against the cumulated weights: the same draw, the same index.
    cumulated = np.cumsum(weights)
    drawn = int(np.searchsorted(cumulated, random.random() * cumulated[-1]))
    return min(drawn, len(weights) - 1)


def above(logits: Logits, least: np.float32) -> NDArray[np.intp]:
    """Return the tokens whose logits are at least that, in the order of their ids."""
    return np.flatnonzero(logits >= least)


def penalise(logits: Logits, tokens: Iterable[int], penalty: float) -> None:
    """Make the tokens less likely, in place: a positive logit is divided by the penalty,
    a negative one multiplied by it (Keskar et al., 2019)."""
    found = np.fromiter(set(tokens), dtype=np.intp)
    held = logits[found]
    logits[found] = np.where(held > 0, held / penalty, held * penalty)


def _likeliest(tokens: NDArray[np.intp], logits: Logits, top_k: int) -> NDArray[np.intp]:
    """Return the tokens from the likeliest to the least likely, at most top-k of them."""
    if 0 < top_k < len(tokens):
        tokens = tokens[np.argpartition(logits[tokens], -top_k)[-top_k:]]
    return tokens[np.argsort(-logits[tokens], kind="stable")]


def _kept(probabilities: Logits, sampling: Sampling) -> NDArray[np.bool_]:
    """Return which of the sorted candidates top-p and min-p keep: at least the first."""
    before = np.cumsum(probabilities) - probabilities
    kept = (before < sampling.top_p) & (probabilities > 0)
    kept &= probabilities >= sampling.min_p * probabilities[0]
    kept[0] = True
    return kept


def log_probabilities(logits: Logits, tokens: Sequence[int]) -> list[float]:
    """Return the natural logarithm of the probability of each token: a softmax."""
    exact = logits.astype(np.float64)
    top = exact.max()
    total = top + np.log(np.exp(exact - top).sum())
    return [float(exact[token] - total) for token in tokens]
