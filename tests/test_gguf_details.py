"""What a GGUF file says of itself, checked against what writes and reads such files."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
from tiny_model import write_tiny_model

from local_react.errors import ModelError
from local_react.gguf_header.details import FILE_TYPES, read_details
from local_react.gguf_header.tensors import BLOCKS


def test_the_types_are_those_of_the_gguf_package() -> None:
    sizes = {int(kind): tuple(size) for kind, size in gguf.GGML_QUANT_SIZES.items()}
    assert {kind: sizes.get(kind, size) for kind, size in BLOCKS.items()} == BLOCKS
    names = {int(kind): kind.name.removeprefix("MOSTLY_") for kind in gguf.LlamaFileType}
    known = {kind: names.get(kind, name) for kind, name in FILE_TYPES.items() if kind}
    assert known == {kind: name for kind, name in FILE_TYPES.items() if kind}


def test_the_tensors_are_counted(tiny_path: Path) -> None:
    details = read_details(tiny_path)
    tensors = gguf.GGUFReader(tiny_path).tensors
    assert details.parameters == sum(int(tensor.n_elements) for tensor in tensors)
    assert (details.chat_template, details.shards) == (True, 1)


def test_a_file_without_a_template_says_so(tmp_path: Path) -> None:
    assert not read_details(write_tiny_model(tmp_path / "a.gguf", template=None)).chat_template


def written(path: Path) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("A name")
    writer.add_license("mit")
    writer.add_size_label("7B")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_uint16("split.count", 1)
    writer.add_block_count(1)
    writer.add_embedding_length(64)
    writer.add_context_length(512)
    blocks = np.zeros((3, 2 * 34), np.uint8)  # three rows of two blocks of 32 numbers
    writer.add_tensor("w", blocks, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_what_the_file_says(tmp_path: Path) -> None:
    details = read_details(written(tmp_path / "a.gguf"))
    assert (details.name, details.licence, details.size_label) == ("A name", "mit", "7B")
    assert (details.quantisation, details.parameters) == ("Q8_0", 192)


def test_the_end_of_the_weights_is_known_to_the_byte(tmp_path: Path) -> None:
    """204 bytes of weights, and what the writer fills up behind them."""
    path = written(tmp_path / "a.gguf")
    padded = -(-204 // 32) * 32
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - padded + 204])
    assert read_details(path).parameters == 192
    path.write_bytes(whole[: len(whole) - padded + 203])
    with pytest.raises(ModelError, match="it was cut"):
        read_details(path)


def test_every_cut_is_one_line_that_names_the_file(tiny_path: Path, tmp_path: Path) -> None:
    whole, path = tiny_path.read_bytes(), tmp_path / "cut.gguf"
    begin = gguf.GGUFReader(tiny_path).data_offset
    for kept in (*range(0, begin, 97), begin - 1, begin, len(whole) - 1):
        path.write_bytes(whole[:kept])
        with pytest.raises(ModelError, match=r"cut\.gguf") as caught:
            read_details(path)
        assert "\n" not in str(caught.value)


def test_hostile_counts_cost_nothing(tiny_path: Path, tmp_path: Path) -> None:
    data, path = bytearray(tiny_path.read_bytes()), tmp_path / "hostile.gguf"
    data[8:16] = (2**63).to_bytes(8, "little")
    path.write_bytes(data)
    with pytest.raises(ModelError, match="tensors"):
        read_details(path)
