"""What the build of llama.cpp that is installed can use of a machine."""

from __future__ import annotations

import llama_cpp


def build_features() -> dict[str, dict[str, str]]:
    """Return the features of each of the build's backends, as in {"CPU": {"AVX2": "1"}}.

    Read from llama_print_system_info, whose text is "CPU : AVX2 = 1 | FMA = 1 | CUDA :
    ARCHS = 800 | " and names what is used, and nothing else.
    """
    text = llama_cpp.llama_print_system_info().decode("utf-8", "replace")
    features: dict[str, dict[str, str]] = {}
    backend = "CPU"
    for entry in text.split(" | "):
        named, colon, rest = entry.rpartition(" : ")
        backend = named.strip() if colon else backend
        feature, equals, value = rest.partition(" = ")
        if equals:
            features.setdefault(backend, {})[feature.strip()] = value.strip()
    return features
