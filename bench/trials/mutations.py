"""Ways to spoil a sound GGUF file: each returns the bytes of one, and says what was done."""

from __future__ import annotations

import struct
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Final, TypeAlias

from trials.gguf_file import (
    ARRAY,
    FLOAT32,
    STRING,
    UINT32,
    GgufFile,
    Pair,
    taken_apart,
    text,
    texts,
    texts_of,
)

Mutation: TypeAlias = Callable[[GgufFile, Random], "str | tuple[str, bytes]"]
"""Changes the pieces and says what it did, or returns the bytes of the file as well."""

_TOKENS: Final = "tokenizer.ggml.tokens"
_EXTREMES: Final = (
    *(0, 1, 2, 3, 7, 13, 255, 256, 512, 1000, 4095, 65_535, 65_536, 1 << 20),
    *((1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1),
)
_FRACTIONS: Final = (0.0, -0.0, -1.0, 1e-38, 1e38, 0.5, float("nan"), float("inf"), float("-inf"))
_WORDS: Final = (
    *("", "llama", "gpt2", "bert", "t5", "rwkv", "no_vocab", "plamo2", "gemma4", "qwen2", "mamba"),
    *("default", "llama-bpe", "yarn", "linear", "longrope", "none", "\0", "%s%n", "a" * 70_000),
    *("<|im_end|>", "{{ 1/0 }}", "{% for x in range(99999) %}", "é漢\U0001f600", "gemma3", "lfm2"),
)
_FORMATS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 7: "B", 10: "Q", 11: "q"}


def mutated(data: bytes, random: Random) -> tuple[str, bytes]:
    """Return what was done to a sound file, and the file. Now and then two things are."""
    file, told = taken_apart(data), list[str]()
    for _ in range(1 if random.random() < 0.8 else 2):
        mutation = random.choice(MUTATIONS)
        changed = mutation(file, random)
        if isinstance(changed, tuple):
            return ", ".join([*told, changed[0]]), changed[1]
        told.append(changed)
    return ", ".join(told), file.whole()


def _flip_bits(file: GgufFile, random: Random) -> tuple[str, bytes]:
    data, header = bytearray(file.whole()), len(file.header())
    places = [random.randrange(8 * header) for _ in range(random.choice((1, 1, 2, 8)))]
    for place in places:
        data[place // 8] ^= 1 << place % 8
    return f"bits flipped in the header at {places}", bytes(data)


def _flip_weights(file: GgufFile, random: Random) -> tuple[str, bytes]:
    data, header = bytearray(file.whole()), len(file.header())
    for _ in range(64):
        place = random.randrange(8 * header, 8 * len(data))
        data[place // 8] ^= 1 << place % 8
    return "bits flipped in the weights", bytes(data)


def _fill_weights(file: GgufFile, random: Random) -> str:
    number = struct.pack("<f", random.choice(_FRACTIONS))
    file.data = number * (len(file.data) // 4)
    return f"weights of {number.hex()}"


def _cut(file: GgufFile, random: Random) -> tuple[str, bytes]:
    data = file.whole()
    left = random.choice((random.randrange(len(data)), random.randrange(len(file.header()))))
    return f"cut to {left} bytes", data[:left]


def _number_at_random(file: GgufFile, random: Random) -> tuple[str, bytes]:
    data, size = bytearray(file.whole()), random.choice((4, 8))
    place, value = random.randrange(len(file.header()) - 8), random.choice(_EXTREMES)
    data[place : place + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
    return f"{value} put at {place}", bytes(data)


def _extreme_value(file: GgufFile, random: Random) -> str:
    pair = random.choice([pair for pair in file.pairs if pair.kind in (*_FORMATS, FLOAT32)])
    if pair.kind == FLOAT32:
        value: float = random.choice(_FRACTIONS)
        pair.value = struct.pack("<f", value)
    else:
        size = struct.calcsize(_FORMATS[pair.kind])
        value = random.choice(_EXTREMES) % (1 << 8 * size)
        pair.value = int(value).to_bytes(size, "little")
    return f"{_name(pair)} = {value}"


def _near_value(file: GgufFile, random: Random) -> str:
    pair = random.choice([pair for pair in file.pairs if pair.kind in (4, 5)])
    (value,) = struct.unpack("<I", pair.value)
    changed = random.choice((value - 1, value + 1, value * 2, value // 2, value * 3)) % (1 << 32)
    pair.value = struct.pack("<I", changed)
    return f"{_name(pair)} = {changed}"


def _other_text(file: GgufFile, random: Random) -> str:
    pair = random.choice([pair for pair in file.pairs if pair.kind == STRING])
    word = random.choice(_WORDS)
    pair.value = text(word.encode())
    return f"{_name(pair)} = {word[:20]!r}"


def _other_type(file: GgufFile, random: Random) -> str:
    pair, kind = random.choice(file.pairs), random.choice((*range(14), 99, (1 << 32) - 1))
    if random.random() < 0.5 and kind in _FORMATS:  # with a value of that type
        pair.value = bytes(struct.calcsize(_FORMATS[kind]))
    pair.kind = kind
    return f"{_name(pair)} is of type {kind}"


def _key_removed(file: GgufFile, random: Random) -> str:
    pair = file.pairs.pop(random.randrange(len(file.pairs)))
    return f"{_name(pair)} removed"


def _key_doubled(file: GgufFile, random: Random) -> str:
    pair = deepcopy(random.choice(file.pairs))
    file.pairs.insert(random.randrange(len(file.pairs)), pair)
    return f"{_name(pair)} twice"


def _keys_shuffled(file: GgufFile, random: Random) -> str:
    random.shuffle(file.pairs)
    return "keys shuffled"


def _keys_swapped(file: GgufFile, random: Random) -> str:
    one, other = random.sample(file.pairs, 2)
    one.kind, one.value, other.kind, other.value = other.kind, other.value, one.kind, one.value
    return f"the values of {_name(one)} and {_name(other)} swapped"


def _key_renamed(file: GgufFile, random: Random) -> str:
    pair = random.choice(file.pairs)
    was, pair.key = _name(pair), random.choice((b"", b"a\0b", pair.key + b"x", b"k" * 70_000))
    return f"{was} renamed"


def _key_added(file: GgufFile, random: Random) -> str:
    architecture = file.pair("general.architecture").value[8:].decode()
    name = random.choice(_MORE_KEYS).format(architecture)
    file.pairs.append(Pair(name.encode(), UINT32, struct.pack("<I", random.choice(_EXTREMES[:17]))))
    return f"{name} added"


_MORE_KEYS: Final = (
    *("{}.expert_count", "{}.expert_used_count", "{}.attention.sliding_window", "{}.vocab_size"),
    *("{}.nextn_predict_layers", "{}.attention.key_length", "{}.rope.dimension_count_swa"),
    *("{}.attention.shared_kv_layers", "{}.pooling_type", "{}.attention.causal"),
    *("{}.attention.value_length_mla", "{}.ssm.state_size", "{}.full_attention_interval"),
    *("{}.expert_group_count", "{}.rope.scaling.original_context_length", "split.count"),
    *("split.no", "general.alignment", "general.quantization_version", "{}.embedding_length_out"),
    *("tokenizer.ggml.padding_token_id", "tokenizer.ggml.unknown_token_id"),
    *("tokenizer.ggml.eot_token_id", "tokenizer.ggml.token_type_count"),
)


def _list_changed(file: GgufFile, random: Random) -> str:
    pair = random.choice([pair for pair in file.pairs if pair.kind == ARRAY])
    element, count = struct.unpack_from("<IQ", pair.value)
    what = random.choice(("count", "type", "empty", "cut"))
    if what == "count":
        count = random.choice((count - 1, count + 1, *_EXTREMES)) % (1 << 64)
    elif what == "type":
        element = random.choice((*range(14), 99))
    elif what == "empty":
        pair.value, count = pair.value[:12], 0
    else:
        pair.value = pair.value[: 12 + (len(pair.value) - 12) // 2]
    pair.value = struct.pack("<IQ", element, count) + pair.value[12:]
    return f"{_name(pair)}: {what} of the list changed"


def _tokens_changed(file: GgufFile, random: Random) -> str:
    pair = random.choice([file.pair(_TOKENS), file.pair("tokenizer.ggml.merges")])
    words = texts_of(pair)
    if not words:
        return _key_removed(file, random)
    at, other = random.randrange(len(words)), random.randrange(len(words))
    what = random.choice(("same", "empty", "long", "fewer", "more", "swapped", "bytes", "NUL"))
    words[at] = {
        "same": words[other],
        "empty": b"",
        "long": words[at] * 5000,
        "swapped": words[other],
        "bytes": b"\xff\xfe",
        "NUL": words[other] + b"\0x",
    }.get(what, words[at])
    if what == "fewer":
        words.pop()
    if what == "more":
        words.append(b"one more")
    pair.value = texts(words)
    return f"{_name(pair)}: {what} at {at}"


def _types_changed(file: GgufFile, random: Random) -> str:
    pair = file.pair("tokenizer.ggml.token_type")
    count, kind = (len(pair.value) - 12) // 4, random.choice((0, 1, 2, 3, 4, 5, 6, 99, -1))
    chosen = range(count) if random.random() < 0.5 else [random.randrange(count)]
    data = bytearray(pair.value)
    for at in chosen:
        data[12 + 4 * at : 16 + 4 * at] = struct.pack("<i", kind)
    pair.value = bytes(data)
    return f"{len(chosen)} tokens of type {kind}"


def _tensor_changed(file: GgufFile, random: Random) -> str:
    info = random.choice(file.infos)
    was, what = info.name.decode(), random.choice(("shape", "more", "type", "offset", "name"))
    if what == "shape" and info.shape:
        at = random.randrange(len(info.shape))
        info.shape[at] = random.choice((info.shape[at] * 2, info.shape[at] // 2, *_EXTREMES))
    elif what == "more":
        info.shape = random.choice(([], [*info.shape, 1], [1] * 9, [0], info.shape[::-1]))
    elif what == "type":
        info.kind = random.choice((*range(44), 99, (1 << 32) - 1))
    elif what == "offset":
        step = random.choice((1, 4, 32, -32, 1 << 20, 1 << 40, 1 << 62))
        info.offset = (info.offset + step) % (1 << 64)
    else:
        other = random.choice(file.infos).name
        info.name = random.choice((b"", other, b"x" * 64, b"x" * 200, b"blk.999.attn_q.weight"))
    return f"{what} of {was}"


def _tensors_changed(file: GgufFile, random: Random) -> str:
    what = random.choice(("swapped", "removed", "doubled", "shuffled", "renumbered"))
    if what == "swapped":
        one, other = random.sample(file.infos, 2)
        one.name, other.name = other.name, one.name
    elif what == "removed":
        file.infos.pop(random.randrange(len(file.infos)))
    elif what == "doubled":
        file.infos.append(deepcopy(random.choice(file.infos)))
    elif what == "shuffled":
        random.shuffle(file.infos)
    else:
        offsets = [info.offset for info in file.infos]
        random.shuffle(offsets)
        for info, offset in zip(file.infos, offsets, strict=True):
            info.offset = offset
    return f"tensors {what}"


def _counts_changed(file: GgufFile, random: Random) -> str:
    if random.random() < 0.5:
        count = random.choice((len(file.pairs) - 1, len(file.pairs) + 1, *_EXTREMES))
        file.pair_count = count % (1 << 64)
        return f"{count} pairs announced"
    count = random.choice((len(file.infos) - 1, len(file.infos) + 1, *_EXTREMES))
    file.info_count = count % (1 << 64)
    return f"{count} tensors announced"


def _version_changed(file: GgufFile, random: Random) -> str:
    file.version = random.choice((0, 1, 2, 4, 0x03000000, (1 << 32) - 1))
    return f"version {file.version}"


def _name(pair: Pair) -> str:
    return pair.key[:50].decode("utf-8", "replace")


MUTATIONS: Final[tuple[Mutation, ...]] = (
    *(_flip_bits, _flip_bits, _flip_weights, _fill_weights, _cut, _number_at_random),
    *(_extreme_value, _extreme_value, _extreme_value, _near_value, _near_value, _other_text),
    *(_other_type, _key_removed, _key_doubled, _keys_shuffled, _keys_swapped, _key_renamed),
    *(_key_added, _key_added, _list_changed, _tokens_changed, _tokens_changed, _types_changed),
    *(_tensor_changed, _tensor_changed, _tensors_changed, _counts_changed, _version_changed),
)
"""The more there is to try, the more often."""
