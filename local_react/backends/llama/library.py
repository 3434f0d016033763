"""The native library is loaded, or one line says why not."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Final

from local_react.errors import ModelError

_ADDRESSES: Final = 192 << 20
"""Bytes that llama.cpp, and NumPy which its binding brings, take at least to be loaded; with
less, NumPy ends the process."""


def load() -> None:
    """Load it. Raises ModelError where that cannot be."""
    _set_threads()
    if 0 <= (allowed := _allowed()) < _ADDRESSES:
        raise ModelError(
            f"llama.cpp cannot be loaded: only {allowed >> 20} MiB of addresses are allowed, and "
            f"it takes {_ADDRESSES >> 20} and more: raise the limit (`ulimit -v`)"
        )
    try:
        import llama_cpp
    except Exception as error:
        # Each of the libraries raises what it likes, over many lines of which the last tells.
        told = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = told[-1] if told else type(error).__name__
        raise ModelError(
            f"llama.cpp cannot be loaded ({reason}): see that it has memory and files enough "
            "(`ulimit -a`), or install local-react anew"
        ) from error
    # The binding holds them open for good, of which Python would warn at the end.
    for name in ("outnull_file", "errnull_file"):
        if file := getattr(getattr(llama_cpp, "_utils", None), name, None):
            atexit.register(file.close)


def _set_threads() -> None:
    # libgomp reads this once, when llama_cpp loads it. By default its threads spin for long
    # while they wait for each other, which costs most of the time as soon as other programs
    # want the CPUs. Measured with the 135M model on 2 CPUs, tokens/s, default and this: idle
    # 142 and 144, beside four busy programs 5 and 32; not spinning at all: 49 and 31.
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")
    # NumPy would start a thread for each CPU, with memory of its own, for sums that we don't do.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _allowed() -> int:
    """Return the bytes of addresses that the process may have, -1 where there is no limit."""
    if sys.platform == "win32":
        return -1
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return -1 if limit == resource.RLIM_INFINITY else limit
