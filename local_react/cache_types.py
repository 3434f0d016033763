"""How the numbers of a model's cache may be kept, by ggml's names."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

CacheType: TypeAlias = Literal["f32", "f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"]
CACHE_TYPES: Final[tuple[str, ...]] = get_args(CacheType)
