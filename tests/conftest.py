"""What every test shares: an environment of its own, and models to test with."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_model import write_tiny_model

from local_react import LlamaModel
from local_react.catalog import resolve
from local_react.errors import ModelError
from local_react.network import Ledger, Mode, Network


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxies, so that loopback is loopback, and no settings of the developer's."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("LOCAL_REACT_OFFLINE", "LOCAL_REACT_MODEL", "DDGS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True, scope="session")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is kept on disk between processes is kept elsewhere while tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCAL_REACT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("LOCAL_REACT_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        patch.setenv("LOCAL_REACT_CONFIG", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture
def own_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What this test keeps no other test sees, and no setting of the network holds."""
    monkeypatch.setenv("LOCAL_REACT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("LOCAL_REACT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCAL_REACT_CONFIG", str(tmp_path / "config"))
    for name in ("LOCAL_REACT_NETWORK", "LOCAL_REACT_NETWORK_LOG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def ledger(own_places: None) -> Ledger:
    """The egress ledger of this test alone."""
    return Ledger()


@pytest.fixture
def door(own_places: None) -> Callable[..., Network]:
    """Makes a door, open if nothing else is said, that doesn't wait between attempts."""

    def make(mode: Mode = "allow", **options: Any) -> Network:
        return Network(mode, **{"sleep": lambda seconds: None, **options})

    return make


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF of random weights, made for the tests."""
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny.gguf")


@pytest.fixture(scope="session")
def tiny(tiny_path: Path) -> Iterator[LlamaModel]:
    """The random model, loaded through llama.cpp."""
    with LlamaModel(tiny_path, threads=1) as model:  # tests share the machine
        yield model


@pytest.fixture(scope="session")
def smollm(models: None) -> Iterator[LlamaModel]:
    """The 135M model: weak, so what holds with it is the grammar's doing."""
    with _loaded("smollm2-135m") as model:
        yield model


@pytest.fixture(scope="session")
def qwen(models: None) -> Iterator[LlamaModel]:
    """The default model."""
    with _loaded("qwen2.5-coder-1.5b") as model:
        yield model


@pytest.fixture(scope="session")
def models() -> None:
    """Where the real models are is decided before a test changes the environment."""


@contextlib.contextmanager
def _loaded(name: str) -> Iterator[LlamaModel]:
    try:
        resolve(name)
    except ModelError as error:
        pytest.skip(f"SKIPPED, the model is missing: {error}")
    with LlamaModel(name) as model:
        yield model
