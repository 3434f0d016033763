"""A GGUF file that contradicts itself is refused before native code sees it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest
from tiny_model import ARCHITECTURES, WIDTH, write_tiny_model
from trials.gguf_file import (
    ARRAY,
    FLOAT32,
    STRING,
    GgufFile,
    Pair,
    number,
    split,
    taken_apart,
    text,
    texts,
    texts_of,
)

from local_react.errors import ModelError
from local_react.gguf_header.details import check_model, read_details

TOKENS = "tokenizer.ggml.tokens"
TYPES = "tokenizer.ggml.token_type"


@pytest.fixture
def pieces(tiny_path: Path) -> GgufFile:
    return taken_apart(tiny_path.read_bytes())


def write(path: Path, file: GgufFile) -> Path:
    path.write_bytes(file.whole())
    return path


def put(file: GgufFile, *pairs: Pair) -> None:
    """Set keys, which may be there."""
    for pair in pairs:
        file.pairs = [*file.without(pair.key.decode()).pairs, pair]


def fraction(key: str, value: float) -> Pair:
    return Pair(key.encode(), FLOAT32, struct.pack("<f", value))


def scores(count: int, value: float = 0.0) -> Pair:
    packed = struct.pack(f"<IQ{count}f", FLOAT32, count, *[value] * count)
    return Pair(b"tokenizer.ggml.scores", ARRAY, packed)


def tokens(change: Callable[[list[bytes]], object]) -> Callable[[GgufFile], None]:
    """Return what changes the vocabulary."""

    def changed(file: GgufFile) -> None:
        words = texts_of(file.pair(TOKENS))
        change(words)
        file.pair(TOKENS).value = texts(words)

    return changed


def same(first: int, second: int, ending: bytes = b"") -> Callable[[GgufFile], None]:
    return tokens(lambda words: words.__setitem__(second, words[first] + ending))


def keys(*pairs: Pair) -> Callable[[GgufFile], None]:
    return lambda file: put(file, *pairs)


def shape(*numbers: int) -> Callable[[GgufFile], None]:
    """Return what changes the shape of the embeddings."""

    def changed(file: GgufFile) -> None:
        (info,) = [one for one in file.infos if one.name == b"token_embd.weight"]
        info.shape = list(numbers)

    return changed


def first(**changes: object) -> Callable[[GgufFile], None]:
    """Return what changes something of the first tensor."""

    def changed(file: GgufFile) -> None:
        for name, value in changes.items():
            setattr(file.infos[0], name, value)

    return changed


def twice(file: GgufFile) -> None:
    file.pairs.append(file.pairs[3])


def lying_on_another(file: GgufFile) -> None:
    file.infos[1].offset = file.infos[0].offset


def merged(file: GgufFile) -> None:
    put(file, Pair(b"tokenizer.ggml.merges", ARRAY, texts([b"t h", b"th"])))


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (same(1, 2), "tokens 1 and 2 are the same"),
        (same(1, 2, b"\0x"), "tokens 1 and 2 are the same"),
        (tokens(lambda words: words.__setitem__(slice(0, 2), [b"", b"[EMPTY_0]"])), "the same"),
        (tokens(lambda words: words.pop()), "token_type for"),
        (tokens(lambda words: words.clear()), "no list of tokens"),
        (tokens(lambda words: words.__setitem__(5, b"x" * 70_000)), "token 5 has 70000 bytes"),
        (keys(number(TOKENS, 3)), "no list of tokens"),
        (keys(scores(3)), "3 scores for"),
        (keys(scores(261, NAN)), "scores are not all numbers"),
        (keys(number(TYPES, 3)), "no list of numbers"),
        (keys(number("tokenizer.ggml.bos_token_id", 261)), "bos_token_id is 261 of 261"),
        (keys(number("tokenizer.ggml.eos_token_id", 1 << 31)), "eos_token_id is 2147483648"),
        (keys(number("tokenizer.ggml.padding_token_id", 9999)), "padding_token_id is 9999"),
        (keys(fraction("tokenizer.ggml.unknown_token_id", 1.0)), "unknown_token_id is 1.0"),
        (merged, "merge 1 is b'th'"),
        (keys(number("llama.block_count", 0)), "block_count is 0"),
        (keys(number("llama.block_count", 513)), "block_count is 513"),
        (keys(number("llama.embedding_length", 0)), "embedding_length is 0"),
        (keys(number("llama.embedding_length", 2 * WIDTH)), "token_embd.weight is"),
        (keys(number("llama.attention.head_count_kv", 3)), "4 heads with 3"),
        (keys(number("llama.attention.head_count", 1 << 20)), "heads"),
        (keys(number("llama.attention.key_length", 0)), "key_length is 0"),
        (keys(number("llama.rope.dimension_count", 7)), "rope.dimension_count is 7"),
        (keys(number("llama.rope.dimension_count", 1 << 20)), "rope.dimension_count"),
        (keys(number("llama.expert_count", 5000)), "5000 experts"),
        (keys(number("llama.expert_count", 4)), "0 experts used of 4"),
        (keys(number("llama.expert_used_count", 2)), "2 experts used of 0"),
        (keys(fraction("llama.attention.layer_norm_rms_epsilon", 0.0)), "epsilon is 0.0"),
        (keys(fraction("llama.attention.layer_norm_rms_epsilon", NAN)), "epsilon is nan"),
        (keys(fraction("llama.rope.freq_base", 0.0)), "freq_base is 0.0"),
        (keys(fraction("llama.rope.scaling.factor", INFINITE)), "factor is inf"),
        (keys(number("general.alignment", 0)), "alignment of 0"),
        (keys(number("general.alignment", 24)), "alignment of 24"),
        (keys(number("general.alignment", 1 << 31)), "alignment of"),
        (keys(Pair(b"tokenizer.chat_template", STRING, text(b"x" * (2 << 20)))), "chat template"),
        (keys(Pair(b"", STRING, text(b"x"))), "a key without a name"),
        (keys(number("tokenizer.ggml.\x1b[2J\n_token_id", 9999)), "?[2J?_token_id is 9999"),
        (twice, "twice"),
        (shape(WIDTH, 260), "token_embd.weight is"),
        (shape(0, 261), "of the shape"),
        (shape(1 << 32, 1 << 32), "of the shape"),
        (shape(1 << 63, 0), "of the shape"),
        (shape(*[1] * 5), "5 dimensions"),
        (first(kind=4), "type 4, which is not known"),
        (first(kind=1 << 31), "which is not known"),
        (first(kind=8, shape=[33, 2]), "rows of 33 numbers in blocks of 32"),
        (first(name=b"x" * 64), "a tensor named"),
        (first(name=b""), "a tensor named"),
        (first(name=b"a\0b"), "a tensor named"),
        (first(name=b"output.weight"), "again"),
        (first(name=b"blk.1.attn_q.weight"), "in a model of 1 layers"),
        (first(offset=4), "not aligned"),
        (first(offset=1 << 62), "it was cut"),
        (lying_on_another, "lies on another tensor"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    pieces: GgufFile, tmp_path: Path, change: Callable[[GgufFile], None], told: str
) -> None:
    change(pieces)
    path = write(tmp_path / "odd.gguf", pieces)
    with pytest.raises(ModelError) as caught:
        read_details(path)
    message = str(caught.value)
    assert message.startswith(f"{path} cannot be loaded: ")
    assert told in message
    assert "\n" not in message


def test_what_is_odd_and_can_be_is_taken(pieces: GgufFile, tmp_path: Path) -> None:
    put(
        pieces,
        Pair(b"tokenizer.chat_template", STRING, text(b"x" * 100_000)),
        Pair(b"general.license.text", STRING, text(b"x" * 1_000_000)),
        number("tokenizer.ggml.padding_token_id", (1 << 32) - 1),  # there is none
        scores(261, -1.0),
    )
    tokens(lambda words: words.__setitem__(slice(3, 5), [b"", b""]))(pieces)
    assert read_details(write(tmp_path / "odd.gguf", pieces)).chat_template


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kind_of_model_is_sound(architecture: str, tmp_path: Path) -> None:
    assert check_model(write_tiny_model(tmp_path / "a.gguf", architecture=architecture))


def test_the_files_of_a_split_model_are_numbered_as_they_are_named(
    tiny_path: Path, tmp_path: Path
) -> None:
    one, two, three = split(tiny_path, tmp_path, "big", 3)
    assert check_model(one).shards == 3
    data = two.read_bytes()
    two.write_bytes(three.read_bytes())
    with pytest.raises(ModelError, match="file 3 of 3, and not 2 of 3"):
        check_model(one)
    two.write_bytes(data[:-100])
    with pytest.raises(ModelError, match=rf"{two.name} cannot be loaded: .* it was cut"):
        check_model(one)


def test_a_file_that_says_it_is_of_a_split_model_and_is_named_otherwise(
    pieces: GgufFile, tmp_path: Path
) -> None:
    put(pieces, number("split.count", 5, kind=2))
    with pytest.raises(ModelError, match="split into 5 files"):
        check_model(write(tmp_path / "a.gguf", pieces))
    put(pieces, number("split.count", 1, kind=2), number("split.no", 3, kind=2))
    with pytest.raises(ModelError, match="file 4 of 1"):
        check_model(write(tmp_path / "a.gguf", pieces))


def test_a_header_without_end_costs_no_memory(pieces: GgufFile, tmp_path: Path) -> None:
    """A file with a hole in it takes no room on the disk, and is as long as it likes."""
    path = tmp_path / "hole.gguf"
    put(pieces, Pair(b"hole", ARRAY, struct.pack("<IQ", 0, 1 << 40)))
    with path.open("wb") as file:
        file.write(pieces.header())
        file.truncate(1 << 41)
    with pytest.raises(ModelError, match=r"cannot be loaded: its header is damaged \(it takes"):
        read_details(path)


def test_a_large_vocabulary_is_checked_in_a_moment(pieces: GgufFile, tmp_path: Path) -> None:
    words = [b"token %d" % n for n in range(262_000)]
    pieces.pair(TOKENS).value = texts(words)
    kinds = struct.pack("<IQ", 5, len(words)) + struct.pack("<i", 1) * len(words)
    pieces.pair(TYPES).value = kinds
    put(pieces, scores(len(words)))
    shape(WIDTH, len(words))(pieces)
    pieces.infos = pieces.infos[:1]
    pieces.data += bytes(4 * WIDTH * len(words))
    path = write(tmp_path / "large.gguf", pieces)
    began = process_time()
    read_details(path)
    assert process_time() - began < 10  # of which it takes a fiftieth
