"""How much memory a model takes, told before it is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_gguf_header import header

from local_react.errors import ModelError, UsageError
from local_react.memory import Estimate, estimate, kv_bytes_per_token, refuse_if_too_large

GIB = 2**30

QWEN_1_5B: dict[str, Any] = {
    "block_count": 28,
    "embedding_length": 1536,
    "attention__head_count": 12,
    "attention__head_count_kv": 2,
}


@pytest.mark.parametrize(
    ("shape", "kib"),
    [
        (QWEN_1_5B, 28),
        # Qwen3-4B: the heads are wider than their share.
        (
            {
                "block_count": 36,
                "embedding_length": 2560,
                "attention__head_count": 32,
                "attention__head_count_kv": 8,
                "attention__key_length": 128,
                "attention__value_length": 128,
            },
            144,
        ),
        # Gemma-3-270M.
        (
            {
                "block_count": 18,
                "embedding_length": 640,
                "attention__head_count": 4,
                "attention__head_count_kv": 1,
                "attention__key_length": 256,
                "attention__value_length": 256,
            },
            18,
        ),
    ],
)
def test_the_cache_of_known_models(tmp_path: Path, shape: dict[str, Any], kib: int) -> None:
    assert kv_bytes_per_token(header(tmp_path, "m", **shape)) == kib * 1024


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        ("f32", 4.0),
        ("f16", 2.0),
        ("q8_0", 34 / 32),
        ("q5_1", 24 / 32),
        ("q5_0", 22 / 32),
        ("q4_1", 20 / 32),
        ("q4_0", 18 / 32),
    ],
)
def test_keys_and_values_count_by_their_types(tmp_path: Path, kind: str, share: float) -> None:
    found = header(tmp_path, "m", **QWEN_1_5B)
    numbers = 28 * 2 * 128
    assert kv_bytes_per_token(found, kind, "f16") == numbers * (share + 2)
    assert kv_bytes_per_token(found, "f16", kind) == numbers * (share + 2)


def test_a_type_that_no_cache_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"q8_0.*not q9"):
        kv_bytes_per_token(header(tmp_path), "f16", "q9")


def test_all_shards_count_and_nothing_else(tmp_path: Path) -> None:
    found = header(tmp_path)
    for name, size in [
        ("big-00001-of-00003.gguf", 100),
        ("big-00002-of-00003.gguf", 20),
        ("big-00003-of-00003.gguf", 3),
        ("big-00002-of-00002.gguf", 1000),
        ("bigger-00002-of-00003.gguf", 1000),
        ("big.gguf", 7),
    ]:
        (tmp_path / name).write_bytes(bytes(size))
    assert estimate(tmp_path / "big-00001-of-00003.gguf", found, 256).weights == 123
    assert estimate(tmp_path / "big.gguf", found, 256).weights == 7


def test_the_cache_is_made_in_whole_steps_of_tokens(tmp_path: Path) -> None:
    found = header(tmp_path, "m", **QWEN_1_5B)
    path = tmp_path / "model.gguf"
    assert estimate(path, found, 8192).cache == 8192 * 28 * 1024
    assert estimate(path, found, 8191).cache == 8192 * 28 * 1024
    assert estimate(path, found, 8193).cache == (8192 + 256) * 28 * 1024
    assert estimate(path, found, 8192, "q8_0", "q8_0").cache == 8192 * 28 * 1024 * 34 // 64


def test_the_state_counts_for_each_sequence(tmp_path: Path) -> None:
    found = header(tmp_path, "m", shortconv__l_cache=3, attention__head_count_kv=[0, 8, 8, 8])
    path = tmp_path / "model.gguf"
    one, nine = (estimate(path, found, 256, sequences=n).cache for n in (1, 9))
    assert found.state_bytes > 0
    assert nine - one == 8 * found.state_bytes


def test_the_total_is_all_of_it_and_near_300_mb_over_the_rest(tmp_path: Path) -> None:
    found = estimate(tmp_path / "model.gguf", header(tmp_path, "m", **QWEN_1_5B), 8192)
    assert found.total == found.weights + found.cache + found.overhead
    assert 250e6 < found.overhead < 350e6


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    found = header(tmp_path)
    with pytest.raises(ModelError, match="gone"):
        estimate(tmp_path / "gone.gguf", found, 256)


def test_what_fits_is_not_refused() -> None:
    refuse_if_too_large(Estimate(2, 3, 5), "m", 10)


@pytest.mark.parametrize(
    ("needed", "told", "not_told"),
    [
        (Estimate(2 * GIB, 4 * GIB, GIB), "--ctx-size", "close other programs"),
        (Estimate(6 * GIB, GIB, GIB), "local-react models", "--ctx-size"),
    ],
)
def test_what_does_not_fit_is_refused_with_figures_and_what_to_do(
    needed: Estimate, told: str, not_told: str
) -> None:
    with pytest.raises(ModelError) as caught:
        refuse_if_too_large(needed, "big", 5 * GIB)
    message = str(caught.value)
    assert message.startswith(f"big needs {needed.total / GIB:.1f} GiB")
    assert "5.0 GiB are available" in message
    assert told in message
    assert not_told not in message
    assert "\n" not in message
