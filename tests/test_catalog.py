"""The catalogue holds what it says, and a name or path leads to a usable file or one line."""

from __future__ import annotations

import importlib.resources
import os
import string
from pathlib import Path

import pytest

from local_react import catalog
from local_react.catalog import (
    CatalogModel,
    human_bytes,
    is_shard,
    load_catalogue,
    models_dir,
    parse_catalogue,
    resolve,
)
from local_react.errors import LocalReactError, ModelError, ModelNotFound

ROOT = Path(__file__).resolve().parent.parent
CATALOG = (ROOT / "models" / "catalog.toml").read_text(encoding="utf-8")
MODELS = load_catalogue().models


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty directory for models, and work in another empty one."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("LOCAL_REACT_MODELS", str(tmp_path / "store"))
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


def gguf(path: Path, size: int = 64) -> Path:
    """Make a file that begins like a GGUF; a hole on disk beyond that."""
    path.write_bytes(b"GGUF")
    os.truncate(path, size)
    return path


def the_line(name: str | Path) -> str:
    """Return the message that resolving gives, checking that it's one line."""
    with pytest.raises(ModelError) as caught:
        resolve(name)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_model_can_be_told_from_all_others(model: CatalogModel) -> None:
    others = [other for other in MODELS if other is not model]
    assert all(
        model.name != other.name and model.sha256 != other.sha256 and model.file != other.file
        for other in others
    )
    assert model.name == model.name.casefold()
    assert not is_shard(model.file)
    assert model.memory * 2**30 > model.bytes
    assert "\n" not in model.good_for


def test_the_sizes_go_from_tiny_to_5_gb_and_the_chosen_ones_fit_their_purpose() -> None:
    catalogue = load_catalogue()
    sizes = [model.bytes for model in MODELS]
    assert sizes[0] < 1e8 and 4.5e9 < max(sizes) < 5.5e9
    for low, high in ((0.3, 0.6), (1.0, 1.3), (2.0, 2.8)):
        assert any(low * 1e9 <= size <= high * 1e9 for size in sizes)
    assert catalogue.default == "qwen2.5-coder-1.5b"
    assert catalogue.find(catalogue.test).bytes == min(sizes)
    assert catalogue.find(catalogue.recommended).bytes > catalogue.find(catalogue.default).bytes


@pytest.mark.parametrize(
    "model", [model for model in MODELS if model.index], ids=lambda model: model.name
)
def test_the_parts_in_the_index_are_as_many_as_the_bytes_need(model: CatalogModel) -> None:
    assert model.index
    count = -(-model.bytes // model.index.part_bytes)
    names = {model.index.package_of(n) for n in range(1, count + 1)}
    assert len(names) == count
    fields = {field for _, field, _, _ in string.Formatter().parse(model.index.member) if field}
    assert fields == ({"n"} if count > 1 else set())


def test_the_parts_are_numbered_from_one_as_n_and_from_zero_as_i() -> None:
    index = catalog.IndexSource("p{n}", "1", "d/{n:02d}-{i:02d}", 10)
    assert index.package_of(3) == "p3"
    assert index.member_of(3) == "d/03-02"


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('licence = "MIT"', 'licence = "CC-BY-NC-4.0"', "licence"),
        ("bytes = 98362432", 'bytes = "many"', "bytes"),
        ('sha256 = "b179', 'sha256 = "B179', "sha256"),
        ("memory = 0.8", "memory = 0.8\nmemroy = 1", "memroy"),
        ('default = "qwen2.5', 'default = "qwen25', "qwen25"),
        ("[[model]]", "[[model]", "broken"),
    ],
)
def test_a_broken_catalogue_is_one_line_that_names_the_place(
    old: str, new: str, place: str
) -> None:
    assert old in CATALOG
    with pytest.raises(LocalReactError, match=place) as caught:
        parse_catalogue(CATALOG.replace(old, new, 1))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "smollm2-135m",
        "SmolLM2-135M",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "smollm2-135m-instruct.q4_1",
    ],
)
def test_a_model_is_found_by_name_file_and_stem_in_any_case(name: str) -> None:
    assert load_catalogue().find(name).name == "smollm2-135m"


@pytest.mark.parametrize(
    ("name", "near"),
    [("qwen2.5-codr-1.5b", "qwen2.5-coder-1.5b"), ("qwen3-8", "qwen3-8b"), ("phi", "phi-4-mini")],
)
def test_an_unknown_name_gets_the_nearest_ones(name: str, near: str) -> None:
    with pytest.raises(ModelNotFound) as caught:
        load_catalogue().find(name)
    assert near in str(caught.value)
    assert catalog.LIST in str(caught.value)


def test_a_name_like_no_other_gets_no_guess(store: Path) -> None:
    assert "did you mean" not in the_line("zzzz")
    assert "did you mean" not in the_line("")


def test_without_a_checkout_the_catalogue_comes_from_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "catalog.toml").write_text(CATALOG.replace("smollm2-135m", "in-the-wheel"))
    monkeypatch.setattr(catalog, "_checkout", lambda: None)
    monkeypatch.setattr(importlib.resources, "files", lambda _: tmp_path)
    assert load_catalogue().models[0].name == "in-the-wheel"


def test_models_go_where_the_variable_says_else_to_the_checkout_else_to_the_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("LOCAL_REACT_MODELS", "~/gguf")
    assert models_dir() == tmp_path / "gguf"
    monkeypatch.setenv("LOCAL_REACT_MODELS", "")
    assert models_dir() == ROOT / "models"
    monkeypatch.setattr(catalog, "_checkout", lambda: None)
    assert models_dir().parts[-2:] == ("local-react", "models")


def test_a_catalogue_name_leads_to_its_file(store: Path) -> None:
    model = load_catalogue().find("smollm2-135m")
    file = gguf(store / model.file, model.bytes)
    assert resolve("SMOLLM2-135m") == file
    assert resolve(model.file) == file


def test_a_missing_model_says_how_to_fetch_it_and_how_big_it_is(store: Path) -> None:
    line = the_line("qwen3-8b")
    assert "5.0 GB" in line
    assert "local-react pull qwen3-8b" in line


def test_an_incomplete_model_is_not_handed_on(store: Path) -> None:
    model = load_catalogue().find("smollm2-135m")
    gguf(store / model.file, model.bytes - 1)
    line = the_line("smollm2-135m")
    assert str(model.bytes) in line and str(model.bytes - 1) in line


@pytest.mark.parametrize("name", ["a.gguf", "./b", "model-without-suffix", "smollm2-135m"])
def test_any_file_that_exists_is_a_path(store: Path, name: str) -> None:
    gguf(Path(name))
    assert resolve(name) == Path(name)


def test_a_directory_of_a_models_name_does_not_hide_the_model(store: Path) -> None:
    Path("smollm2-135m").mkdir()
    assert "pull" in the_line("smollm2-135m")


def test_a_home_directory_is_filled_in(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    file = gguf(tmp_path / "m.gguf")
    assert resolve("~/m.gguf") == file


@pytest.mark.parametrize("name", ["gone.gguf", "dir/gone", "x" * 5000 + "/y", "nul\0.gguf"])
def test_a_path_to_nothing_is_one_line(store: Path, name: str) -> None:
    with pytest.raises(ModelNotFound, match="there is no file"):
        resolve(name)


def test_what_is_no_gguf_is_said_to_be_none(store: Path) -> None:
    Path("page.gguf").write_text("<!doctype html>")
    Path("empty.gguf").touch()
    Path("folder.gguf").mkdir()
    assert "not a GGUF" in the_line("page.gguf")
    assert "empty" in the_line("empty.gguf")
    assert "is a directory" in the_line("folder.gguf")
    assert "is a directory" in the_line(".")


def test_a_later_shard_is_refused_whether_it_is_there_or_not(store: Path) -> None:
    for _ in range(2):
        line = the_line("big-00002-of-00003.gguf")
        assert "give the first shard, big-00001-of-00003.gguf" in line
        gguf(Path("big-00002-of-00003.gguf"))


def test_a_first_shard_needs_all_the_others(store: Path) -> None:
    gguf(Path("big-00001-of-00003.gguf"))
    gguf(Path("big-00002-of-00003.gguf"))
    assert "big-00003-of-00003.gguf" in the_line("big-00001-of-00003.gguf")
    gguf(Path("big-00003-of-00003.gguf"))
    assert resolve("big-00001-of-00003.gguf") == Path("big-00001-of-00003.gguf")


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (98_362_432, "98.4 MB"),
     (999_960_000, "1.0 GB"), (1_117_320_768, "1.1 GB"), (5_027_783_488, "5.0 GB")],
)  # fmt: skip
def test_bytes_for_people(count: int, text: str) -> None:
    assert human_bytes(count) == text
