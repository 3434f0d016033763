"""The programs, the CPU, the memory and the GPU.

Imports what may be broken where it is needed, so that the rest is told all the same.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from local_react.cli.doctor.line import Line

_BUILDS = {"NVIDIA": "-DGGML_CUDA=on", "AMD": "-DGGML_VULKAN=on", "Apple": "-DGGML_METAL=on"}
"""What llama-cpp-python is compiled with, for the GPUs of each maker."""

_MATTERING = {"avx": "AVX", "avx2": "AVX2", "f16c": "F16C", "fma": "FMA", "asimd": "NEON"}
"""What makes llama.cpp several times as fast: Linux's name of it, and llama.cpp's."""
_TOLD = (*_MATTERING, "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_int8")
_TOLD_OF_ARM = ("asimddp", "i8mm", "sve")

_REINSTALL = "pip install --force-reinstall --no-cache-dir --no-deps llama-cpp-python"


def version_of(package: str) -> str | None:
    """Return the version of a package that is installed, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def program() -> Line:
    """Tell which local_react this is."""
    installed = version_of("local-react") or "not installed"
    return Line("local-react", installed, {"local_react": installed})


def python() -> Line:
    """Tell which Python runs it."""
    bits = 64 if sys.maxsize > 2**32 else 32
    told = platform.python_version()
    text = f"{told}, {platform.python_implementation()}, {bits} bits, {sys.executable}"
    small = "a process of 32 bits holds no model of use: install Python for 64 bits"
    return Line("Python", text, {"python": told}, advice=(small,) if bits == 32 else ())


def system() -> Line:
    """Tell the operating system."""
    return Line("platform", platform.platform(), {"platform": platform.platform()})


def llama_cpp() -> Line:
    """Tell which llama.cpp there is, and what it was built for."""
    installed = version_of("llama-cpp-python") or "not installed"
    data: dict[str, Any] = {"llama_cpp_python": installed, "gpu_build": None, "build": None}
    text = f"llama-cpp-python {installed}"
    try:
        # Imported here: it is the native library, and the rest is told without it too.
        from local_react.backends import llama
        from local_react.backends.llama.build import build_features

        data |= {"gpu_build": llama.supports_gpu(), "build": build_features()}
    except Exception as error:  # noqa: BLE001 - a library for another machine fails in many ways
        reason = " ".join(str(error).split())
        problem = f"llama.cpp cannot be loaded ({reason}): reinstall it with `{_REINSTALL}`"
        return Line("llama.cpp", text, data, problems=(problem,))
    parts = [f"{backend}: {_spelled(used)}" for backend, used in data["build"].items()]
    return Line("llama.cpp", "; ".join([text, *parts]), data)


def _spelled(features: Mapping[str, str]) -> str:
    """Return what is used; of a list, such as CUDA's architectures, what is in it."""
    return ", ".join(
        name if value == "1" else f"{name} {value}"
        for name, value in features.items()
        if value != "0"
    )


def cpu(file: str, build: Mapping[str, Mapping[str, str]] | None) -> Line:
    """Tell the CPU, the threads that a model's file is used with, and whether the build of
    llama.cpp leaves out what the CPU has."""
    from local_react import hardware
    from local_react.profiles import load_profile

    profile, features = load_profile(file), hardware.cpu_features()
    threads = profile.threads or hardware.default_threads()
    data = {
        "cpu": hardware.cpu_name(),
        "architecture": platform.machine(),
        "usable_cpus": hardware.usable_cpus(),
        "physical_cores": hardware.physical_cores(),
        "threads": threads,
        "threads_measured": profile.threads is not None,
        "repack_measured": profile.repack,
        "cpu_features": None if features is None else sorted(features),
    }
    why = "measured by `local-react bench`" if profile.threads else "one for each core"
    text = (
        f"{data['cpu']}, {_known(features)}: {data['usable_cpus']} usable CPUs, "
        f"{data['physical_cores']} cores; "
        f"{threads} thread{'s are' if threads > 1 else ' is'} used, {why}"
    )
    if profile.repack is not None:
        text += f"; repack {'yes' if profile.repack else 'no'}, measured as well"
    return Line("CPU", text, data, advice=_unused(features or frozenset(), build))


def _known(features: frozenset[str] | None) -> str:
    if features is None:
        return "what it can do is not known here"
    return " ".join(name for name in (*_TOLD, *_TOLD_OF_ARM) if name in features) or "no AVX"


def _unused(
    features: frozenset[str], build: Mapping[str, Mapping[str, str]] | None
) -> tuple[str, ...]:
    """Return the advice where the CPU has what the build does not use."""
    used = (build or {}).get("CPU", {})
    missing = [
        name for had, name in _MATTERING.items() if had in features and used.get(name, "0") == "0"
    ]
    if not used or not missing:
        return ()
    return (
        f"the CPU has {', '.join(missing)}, and this build of llama.cpp does not use it, which"
        f' makes it several times slower: reinstall it with CMAKE_ARGS="-DGGML_NATIVE=on"'
        f" `{_REINSTALL} --no-binary llama-cpp-python`",
    )


def memory() -> Line:
    """Tell the memory that is available."""
    from local_react import hardware
    from local_react.memory import gib

    available, total = hardware.available_memory(), hardware.total_memory()
    data = {"memory_available": available, "memory_total": total}
    return Line("memory", f"{gib(available)} available of {gib(total)}", data)


def gpu(gpu_build: bool | None) -> Line:
    """Tell the GPUs, and whether the build can use one; None where it cannot be loaded."""
    from local_react import hardware

    names = hardware.gpus()
    data = {"gpus": list(names), "gpu_build": gpu_build}
    if gpu_build is None:
        use = "llama.cpp cannot be loaded"
    elif gpu_build:
        use = "this build of llama-cpp-python can use one"
    else:
        use = "this build of llama-cpp-python runs on the CPU only"
    advice = tuple(_rebuild(name) for name in dict.fromkeys(names)) if gpu_build is False else ()
    return Line("GPU", f"{', '.join(names) or 'none found'}; {use}", data, advice)


def _rebuild(name: str) -> str:
    return (
        f"to use the {name}, reinstall it with"
        f' CMAKE_ARGS="{_BUILDS[name.split()[0]]}" `{_REINSTALL}` (README, With a GPU)'
    )
