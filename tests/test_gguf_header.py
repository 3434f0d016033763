"""The header of a GGUF file: what it says, and that no file can do harm."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_model import CONTEXT, HEADS, WIDTH, write_tiny_model

from local_react.errors import ModelError
from local_react.gguf_header import Header, read_header

PLAIN: Mapping[str, Any] = {
    "block_count": 4,
    "embedding_length": 64,
    "context_length": 512,
    "attention.head_count": 8,
}
"""The least that a transformer says of itself, by the names of its keys."""


def write_header(
    path: Path, architecture: str = "llama", *, tokens_first: bool = False, **more: Any
) -> Path:
    """Write a GGUF file that has a header and no weights, as the gguf package does, and
    return its path. In the names of what is `more`, __ stands for the dot."""
    writer = gguf.GGUFWriter(path, architecture)
    if tokens_first:
        writer.add_token_list(["a", "bb", ""])
        writer.add_token_merges(["a bb"])
        writer.add_token_types([1, 1, 1])
    for name, value in {**PLAIN, **{n.replace("__", "."): v for n, v in more.items()}}.items():
        if isinstance(value, list):
            writer.add_array(f"{architecture}.{name}", value)
        else:
            writer.add_uint32(f"{architecture}.{name}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def header(path: Path, architecture: str = "llama", **more: Any) -> Header:
    return read_header(write_header(path / "model.gguf", architecture, **more))


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def pair(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def uint32(key: str, value: int) -> bytes:
    return pair(key, 4, struct.pack("<I", value))


def file_of(*pairs: bytes, version: int = 3, count: int | None = None) -> bytes:
    counts = struct.pack("<IQQ", version, 0, len(pairs) if count is None else count)
    return b"GGUF" + counts + b"".join(pairs)


LLAMA = pair("general.architecture", 8, text("llama"))
NEEDED = tuple(uint32(f"llama.{n}", PLAIN[n]) for n in list(PLAIN)[:3])


def test_the_tiny_model_says_what_it_was_written_with(tiny_path: Path) -> None:
    found = read_header(tiny_path)
    assert found.architecture == "llama"
    assert (found.block_count, found.embedding_length) == (1, WIDTH)
    assert found.context_length == CONTEXT
    assert (found.head_count, found.head_count_kv) == ((HEADS,), (HEADS,))
    assert (found.key_length, found.value_length) == (WIDTH // HEADS, WIDTH // HEADS)
    assert found.caches == ((WIDTH, WIDTH),)
    assert found.state_bytes == 0
    tokens = gguf.GGUFReader(tiny_path).fields["tokenizer.ggml.tokens"].data
    assert found.vocabulary == len(tokens)


def test_nothing_after_the_length_of_the_vocabulary_is_read(
    tiny_path: Path, tmp_path: Path
) -> None:
    data = tiny_path.read_bytes()
    end = data.index(b"tokenizer.ggml.tokens") + len(b"tokenizer.ggml.tokens") + 4 + 4 + 8
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(data[:end])
    assert read_header(cut) == read_header(tiny_path)
    cut.write_bytes(data[: end - 1])
    with pytest.raises(ModelError, match="damaged"):
        read_header(cut)


def test_what_comes_after_the_vocabulary_is_found_where_it_has_to_be(tmp_path: Path) -> None:
    found = header(tmp_path, tokens_first=True, attention__head_count_kv=2)
    assert found.vocabulary == 3
    assert found.caches == ((16, 16),) * 4


def test_the_order_of_the_keys_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(file_of(*NEEDED, LLAMA))
    assert read_header(tmp_path / "m.gguf").block_count == 4


@pytest.mark.parametrize(
    ("architecture", "more", "caches"),
    [
        ("llama", {}, [(64, 64)] * 4),
        ("qwen2", {"attention__head_count_kv": 2}, [(16, 16)] * 4),
        (
            "qwen3",
            {
                "attention__head_count_kv": 2,
                "attention__key_length": 32,
                "attention__value_length": 16,
            },
            [(64, 32)] * 4,
        ),
        # Layers of their own, some without attention.
        ("lfm2", {"attention__head_count_kv": [0, 0, 4, 0]}, [(0, 0), (0, 0), (32, 32), (0, 0)]),
        ("qwen35", {"full_attention_interval": 4}, [(0, 0)] * 3 + [(64, 64)]),
        (
            "qwen35",
            {"full_attention_interval": 4, "attention__recurrent_layers": [False] * 2 + [True] * 2},
            [(64, 64)] * 2 + [(0, 0)] * 2,
        ),
        # The last layers use the cache of earlier ones; sliding ones have smaller heads.
        (
            "gemma4",
            {
                "attention__head_count_kv": 1,
                "attention__key_length": 32,
                "attention__value_length": 32,
                "attention__key_length_swa": 16,
                "attention__value_length_swa": 8,
                "attention__sliding_window_pattern": [True, False, True, True],
                "attention__shared_kv_layers": 1,
            },
            [(16, 8), (32, 32), (16, 8), (0, 0)],
        ),
        # Latent attention keeps keys alone.
        (
            "deepseek2",
            {
                "attention__head_count_kv": 1,
                "attention__key_length": 48,
                "attention__key_length_mla": 24,
            },
            [(48, 0)] * 4,
        ),
    ],
)
def test_each_layer_keeps_what_llama_cpp_keeps(
    tmp_path: Path, architecture: str, more: dict[str, Any], caches: list[tuple[int, int]]
) -> None:
    assert header(tmp_path, architecture, **more).caches == tuple(caches)


SSM = {"ssm__conv_kernel": 4, "ssm__inner_size": 128, "ssm__state_size": 16, "ssm__group_count": 2}
ONE_SSM = 4 * (3 * (128 + 2 * 2 * 16) + 128 * 16)


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({}, 0),
        ({**SSM, "full_attention_interval": 2}, 2 * ONE_SSM),
        ({**SSM, "attention__head_count_kv": [0, 8, 0, 0]}, 3 * ONE_SSM),
        (SSM, 4 * ONE_SSM),  # every layer is both, as in Falcon-H1
        ({"attention__head_count": 0, **SSM}, 4 * ONE_SSM),  # none attends, as in Mamba
        ({"shortconv__l_cache": 3, "attention__head_count_kv": [0, 8, 8, 8]}, 4 * 2 * 64),
    ],
)
def test_the_state_of_recurrent_layers(tmp_path: Path, more: dict[str, Any], state: int) -> None:
    assert header(tmp_path, "hybrid", **more).state_bytes == state


def test_a_model_without_attention_keeps_nothing_of_a_token(tmp_path: Path) -> None:
    assert header(tmp_path, "mamba", attention__head_count=0).caches == ((0, 0),) * 4


def test_version_2_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(file_of(LLAMA, *NEEDED, version=2))
    assert read_header(tmp_path / "m.gguf").context_length == 512


HUGE = struct.pack("<Q", 2**63)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "damaged"),
        (b"no model at all", "not a GGUF"),
        (b"GGUF" + bytes([0, 0, 0, 3]) + bytes(16), "big endian"),
        (file_of(version=1), "newer conversion"),
        (file_of(version=4), "update local-react"),
        (file_of(LLAMA, *NEEDED, count=9), "damaged"),
        (file_of(count=2**64 - 1), "entries"),
        (file_of(HUGE, count=1), "name"),
        (file_of(pair("general.architecture", 8, HUGE)), "a text"),
        (file_of(pair("other", 8, HUGE)), "announced"),
        (file_of(pair("other", 13, b"")), "unknown type 13"),
        (file_of(pair("other", 9, struct.pack("<IQ", 5, 2**62))), "announced"),
        (file_of(pair("other", 9, struct.pack("<IQ", 8, 2**62))), "texts"),
        (file_of(pair("other", 9, struct.pack("<IQ", 8, 3) + text("a"))), "damaged"),
        (file_of(pair("other", 9, struct.pack("<IQ", 9, 1) + bytes(12))), "unknown type 9"),
        (file_of(pair("x.block_count", 9, struct.pack("<IQ", 4, 2**40))), "layers"),
        (file_of(), "general.architecture"),
        (file_of(LLAMA), "llama.block_count"),
        (file_of(LLAMA, *NEEDED, uint32("llama.block_count", 2**32 - 1)), "layers"),
        (file_of(LLAMA, *NEEDED, pair("llama.block_count", 5, struct.pack("<i", -1))), "is -1"),
        (file_of(LLAMA, *NEEDED, pair("llama.block_count", 6, struct.pack("<f", 4.0))), "is 4.0"),
        (
            file_of(
                LLAMA,
                *NEEDED,
                pair("llama.attention.head_count", 9, struct.pack("<IQI", 4, 1, 8)),
            ),
            "1 of 4 layers",
        ),
    ],
)
def test_a_bad_header_is_one_line_that_names_the_file(
    tmp_path: Path, data: bytes, told: str
) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        read_header(path)
    message = str(caught.value)
    assert told in message
    assert message.startswith(f"{path} cannot be loaded: ")
    assert "\n" not in message


def test_the_texts_of_all_lists_are_counted_before_they_are_walked(tmp_path: Path) -> None:
    path = tmp_path / "zeros.gguf"
    few = pair("a", 9, struct.pack("<IQ", 8, 100)) + bytes(800)
    most = pair("b", 9, struct.pack("<IQ", 8, (1 << 21) - 99))
    path.write_bytes(file_of(few, most))
    with pytest.raises(ModelError, match="texts"):
        read_header(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.gguf"):
        with pytest.raises(ModelError, match="cannot read"):
            read_header(path)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("mutated") / "tiny.gguf")


@pytest.fixture(scope="module")
def original(scratch: Path) -> bytes:
    data = scratch.read_bytes()
    return data[: data.index(b"tokenizer.chat_template") + 400]


def survives(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        found = read_header(path)
    except ModelError as error:
        assert str(path) in str(error)
        assert "\n" not in str(error)
    else:
        assert len(found.caches) == found.block_count
        assert min((width for cache in found.caches for width in cache), default=0) >= 0


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_truncation_does_harm(scratch: Path, original: bytes, data: st.DataObject) -> None:
    survives(scratch, original[: data.draw(st.integers(0, len(original)))])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 900), st.binary(min_size=1, max_size=9)), max_size=4))
def test_no_mutation_does_harm(
    scratch: Path, original: bytes, changes: list[tuple[int, bytes]]
) -> None:
    data = bytearray(original)
    for at, new in changes:
        data[at : at + len(new)] = new
    survives(scratch, bytes(data))
