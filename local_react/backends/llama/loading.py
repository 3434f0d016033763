"""From a GGUF file and options to a native model, or one line that says why not."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import llama_cpp

from local_react.backends.llama.evaluator import Settings
from local_react.backends.llama.native import cause, interruptible, native_log
from local_react.cache_types import CACHE_TYPES
from local_react.errors import ModelError, UsageError
from local_react.gguf_header import Header
from local_react.hardware import available_memory, default_threads, usable_cpus
from local_react.memory import (
    DEFAULT_CONTEXT,
    RECURRENT_SEQUENCES,
    Estimate,
    estimate,
    refuse_if_too_large,
)

_SMALLEST_CONTEXT = 256
_SEQUENCES = 40
"""Sequences that may be in the cache at once: 32 votes, some trunks, some more."""


def supports_gpu() -> bool:
    """Return whether this build of llama.cpp can put layers on a GPU."""
    return bool(llama_cpp.llama_supports_gpu_offload())


def repacks_by_default() -> bool:
    """Return whether weights are laid out anew when they are loaded, unless a measurement
    on this machine says otherwise.

    Measured on 2 x86 CPUs with AVX-512 and the 1.5B in Q4_K_M: 22 % more tokens per
    second when writing, but 30 % fewer when reading, loading takes 0.9 s instead of 0.25,
    and the memory is taken twice. ARM's gain in reading is large, by llama.cpp's own
    figures.
    """
    return platform.machine().casefold() not in ("x86_64", "amd64", "i686")


def checked_memory(path: Path, header: Header, name: str, settings: Settings) -> Estimate:
    """Return what the model will take; raise ModelError, with the figures, where that is
    more memory than there is. With a GPU only llama.cpp knows what goes where."""
    needed = estimate(
        path,
        header,
        settings.context_size,
        settings.cache_type_k,
        settings.cache_type_v,
    )
    if not supports_gpu():
        refuse_if_too_large(needed, name, available_memory())
    return needed


def load(path: Path, *, gpu_layers: int, repack: bool) -> Any:
    """Return the native model. Raises ModelError, with llama.cpp's own cause."""
    params = llama_cpp.llama_model_default_params()
    params.n_gpu_layers = gpu_layers if supports_gpu() else 0
    params.use_extra_bufts = repack
    if repack and not supports_gpu():
        # The file is read and not mapped: its pages would stay beside their copy.
        params.load_mode = llama_cpp.LLAMA_LOAD_MODE_NONE
    with native_log().causes() as causes, interruptible() as interrupted:
        # Kept in a variable: the native code calls it while it loads.
        going_on = llama_cpp.llama_progress_callback(lambda *_: not interrupted.is_set())
        params.progress_callback = going_on
        model = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
    if not model:
        raise ModelError(f"{path.name} cannot be loaded: {cause(causes)}")
    return model


def checked_context_size(trained: int, name: str, wanted: int | None) -> int:
    """Return the context size in tokens, for a model that was trained for so many; raise
    UsageError where it cannot work, and ModelError where the model's own is of no use."""
    if trained < _SMALLEST_CONTEXT:
        raise ModelError(f"{name} says that its context is {trained} tokens: no use")
    size = min(DEFAULT_CONTEXT, trained) if wanted is None else wanted
    if size < _SMALLEST_CONTEXT:
        raise UsageError(
            f"a context of {size} tokens is too small: give --ctx-size {_SMALLEST_CONTEXT} or more"
        )
    if size > trained:
        raise UsageError(
            f"{name} was trained for a context of {trained} tokens, not {size}: "
            f"give --ctx-size {trained} or less"
        )
    return size


def check_settings(settings: Settings) -> None:
    """Raise UsageError where the cache's types cannot work."""
    for option, kind in (("k", settings.cache_type_k), ("v", settings.cache_type_v)):
        if kind not in CACHE_TYPES:
            raise UsageError(
                f"--cache-type-{option} must be one of {', '.join(CACHE_TYPES)}, not {kind}"
            )
    if settings.flash_attention == "off" and settings.cache_type_v not in ("f16", "f32"):
        raise UsageError(
            f"--cache-type-v {settings.cache_type_v} needs flash attention: "
            "leave out --flash-attn off"
        )


def sequences_for(model: Any) -> int:
    """Return how many sequences a context of the model gets."""
    recurrent = llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model)
    return RECURRENT_SEQUENCES if recurrent else _SEQUENCES


def checked_threads(wanted: int | None, measured: int | None) -> int:
    """Return the threads to use, at most the CPUs there are for us: those asked for, or
    measured as the best, or one for each core."""
    if wanted is not None and wanted < 1:
        raise UsageError(f"--threads must be 1 or more, not {wanted}")
    return min(wanted or measured or default_threads(), usable_cpus())
