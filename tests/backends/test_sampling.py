"""Choosing a token."""

from __future__ import annotations

import numpy as np
import pytest

from local_react import Sampling
from local_react.backends.sampling import choose, penalise

LOGITS = np.log(np.array([0.5, 0.3, 0.15, 0.05], dtype=np.float32))


def shares(sampling: Sampling, logits: np.ndarray = LOGITS, n: int = 4000) -> list[float]:
    random = np.random.default_rng(1)
    drawn = [choose(logits, sampling, random) for _ in range(n)]
    return [drawn.count(token) / n for token in range(len(logits))]


def test_temperature_0_takes_the_likeliest() -> None:
    assert shares(Sampling(), n=5) == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(temperature=1.0), [0.5, 0.3, 0.15, 0.05]),
        (Sampling(temperature=1.0, top_k=2), [0.625, 0.375, 0, 0]),
        (Sampling(temperature=1.0, top_k=1), [1, 0, 0, 0]),
        (Sampling(temperature=1.0, top_p=0.6), [0.625, 0.375, 0, 0]),
        (Sampling(temperature=1.0, top_p=0.001), [1, 0, 0, 0]),
        (Sampling(temperature=1.0, min_p=0.2), [0.526, 0.316, 0.158, 0]),
        (Sampling(temperature=0.5), [0.685, 0.247, 0.062, 0.007]),
    ],
)
def test_tokens_come_as_often_as_they_should(sampling: Sampling, expected: list[float]) -> None:
    assert shares(sampling) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("temperature", [0.0, 1.0, 10.0])
def test_a_refused_token_never_comes(temperature: float) -> None:
    logits = LOGITS.copy()
    logits[0] = -np.inf
    assert shares(Sampling(temperature=temperature), logits, 300)[0] == 0


def test_the_same_seed_draws_the_same() -> None:
    def drawn(seed: int) -> list[int]:
        random = np.random.default_rng(seed)
        return [choose(LOGITS, Sampling(temperature=1.0), random) for _ in range(50)]

    assert drawn(3) == drawn(3) != drawn(4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"min_p": 1.0},
        {"seed": -1},
        {"repeat_penalty": 0.9},
    ],
)
def test_figures_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)).replace("_", "-")):
        Sampling(**wrong)  # type: ignore[arg-type]


def test_tokens_far_from_the_best_are_left_out_and_weigh_nothing() -> None:
    logits = np.concatenate([LOGITS, np.full(1000, LOGITS[0] - 17, dtype=np.float32)])
    assert sum(shares(Sampling(temperature=1.0), logits)[4:]) == 0


def test_the_penalty_makes_what_was_written_less_likely() -> None:
    logits = np.array([2.0, -2.0, 1.0], dtype=np.float32)
    penalise(logits, [0, 1, 1], 2.0)
    assert logits.tolist() == [1.0, -4.0, 1.0]
