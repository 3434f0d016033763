"""The evaluated beginning of every run, kept on disk for the next process."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from local_react.backends.llama.evaluator import BATCH, Settings
from local_react.prefix_cache import PrefixCache

_FEWEST = 32
"""Tokens below which a prefix is read again sooner than it is fetched."""
_SAMPLES, _SAMPLE = 64, 4096


class WarmStart:
    """The prefixes of one model in one kind of context.

    An entry's key covers all that changes what llama.cpp makes of the tokens: the
    model's bytes, the tokens, how the context and the weights are laid out, and the
    version of llama-cpp-python.
    """

    def __init__(self, cache: PrefixCache, path: Path, settings: Settings, layout: str) -> None:
        self._cache = cache
        self._path = path
        self._settings = settings
        self._layout = layout

    def load(self, tokens: tuple[int, ...]) -> NDArray[np.uint8] | None:
        """Return what was made of the tokens in an earlier process, or None."""
        return self._cache.load(self._key(tokens)) if len(tokens) >= _FEWEST else None

    def save(self, tokens: tuple[int, ...], state: NDArray[np.uint8]) -> None:
        """Keep what was made of the tokens."""
        if len(tokens) >= _FEWEST:
            name, count = self._path.name, len(tokens)
            self._cache.save(self._key(tokens), state, model=name, tokens=count)

    def remove(self, tokens: tuple[int, ...]) -> None:
        """Remove an entry that turned out to be of no use."""
        self._cache.remove(self._key(tokens))

    def _key(self, tokens: tuple[int, ...]) -> str:
        parts = [self._model, self._context, np.asarray(tokens, dtype=np.int64).tobytes()]
        return hashlib.sha256(b"".join(hashlib.sha256(p).digest() for p in parts)).hexdigest()[:40]

    @cached_property
    def _context(self) -> bytes:
        # The threads too: how the work is shared can change the last bits of a sum.
        parts = [asdict(self._settings), BATCH, self._layout, version("llama-cpp-python")]
        return json.dumps(parts, sort_keys=True).encode()

    @cached_property
    def _model(self) -> bytes:
        """The model's identity: its size, when it was last touched, and samples from all over
        it, because to hash a gigabyte would take longer than a warm start saves."""
        about = self._path.stat()
        digest = hashlib.sha256(f"{about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}".encode())
        with self._path.open("rb") as file:
            for number in range(_SAMPLES):
                file.seek(max(0, about.st_size - _SAMPLE) * number // (_SAMPLES - 1))
                digest.update(file.read(_SAMPLE))
        return digest.digest()
