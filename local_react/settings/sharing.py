"""What a project's file may set.

Whoever made a directory, such as a repository that was cloned, wrote its file. So it may
not name what is run (functions, a model's file, which native code reads), let anything out
or choose who is sent it, have a tool count as asked for by name, redirect a directory, nor
hide what happens. What is named here is harmless; what is not is refused, so that a new
setting is the user's alone until somebody has thought about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

HARMLESS: Final = frozenset(
    {
        *("max_steps", "votes", "thought_tokens", "thinking_tokens", "observation_tokens"),
        *("temperature", "seed", "top_k", "top_p", "min_p", "repeat_penalty"),
        *("ctx_size", "threads", "gpu_layers", "flash_attn", "cache_type_k", "cache_type_v"),
        *("repack", "no_cache", "no_tools", "search_region", "timeout"),
    }
)
ONLY: Final[Mapping[str, object]] = {"offline": True, "network": "deny"}
"""What may be set in the one direction in which it lets less out."""


def refusal(key: str, value: object) -> str | None:
    """Return why a project's file may not give the key that value, or None where it may."""
    if key in HARMLESS:
        return None
    if key in ONLY:
        only = ONLY[key]
        allowed = type(value) is type(only) and value == only
        return None if allowed else f"a project file may set {key} to {_spelled(only)} alone"
    if key == "model":
        named = isinstance(value, str) and not _is_path(value)
        return None if named else "a project file may name a model, but no file"
    return f"a project file may not set {key}, because anybody may have written it"


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'


def _is_path(name: str) -> bool:
    """Return whether a model of that name would be read from a file that is not in the
    user's directory of models."""
    if any(sign in name for sign in "/\\:~\0") or name.casefold().endswith(".gguf"):
        return True
    return Path(name).exists()
