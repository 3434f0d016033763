"""`local-react doctor`: what is here, what fits, and what to do about the rest."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from local_react import hardware
from local_react.catalog import PULL, CatalogModel, human_bytes, load_catalogue, models_dir, resolve
from local_react.cli.options import model_option
from local_react.cli.show import Display, printable
from local_react.download.installed import is_verified
from local_react.errors import ModelError
from local_react.gguf_header import read_header
from local_react.memory import DEFAULT_CONTEXT, estimate, gib, refuse_if_too_large
from local_react.network import NETWORK_VARIABLE, OFFLINE_VARIABLE, Network, is_set
from local_react.places import DATA_VARIABLE, data_dir
from local_react.prefix_cache import prefix_dir
from local_react.profiles import load_profile

_BUILDS = {"NVIDIA": "-DGGML_CUDA=on", "AMD": "-DGGML_VULKAN=on", "Apple": "-DGGML_METAL=on"}
"""What llama-cpp-python is compiled with, for the GPUs of each maker."""


@dataclass(frozen=True)
class _Part:
    """One line of the report, what `--json` has of it, and what is wrong with it."""

    label: str
    text: str
    data: dict[str, Any] = field(default_factory=dict)
    advice: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """What keeps the model from working at all."""


@click.command("doctor", context_settings={"help_option_names": ["-h", "--help"]})
@model_option("The model to look at.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def doctor(model: str | None, as_json: bool) -> int:
    """Tell what this machine has, whether the model fits, and what to do if not.

    Nothing is sent. The exit code is 0, or 3 where the model cannot be used.
    """
    name = model or load_catalogue().default
    file, found = _model(name)
    gpu_build, engine = _engine()
    gpus = _gpus(gpu_build)
    parts = [
        engine,
        _cpus(file.name if file else name),
        _memory(),
        gpus,
        found,
        *([_fit(name, file, on_gpu=bool(gpu_build and gpus.data["gpus"]))] if file else []),
        _directories(),
        _network(),
    ]
    problems = [line for part in parts for line in part.problems]
    if as_json:
        click.echo(json.dumps(_as_dict(parts), ensure_ascii=False, indent=2))
    else:
        _print(parts)
    return ModelError.exit_code if problems else 0


def _engine() -> tuple[bool | None, _Part]:
    """Return whether the build of llama.cpp can use a GPU, None where it cannot even be
    loaded, and the versions."""
    versions = {
        "local_react": _version("local-react"),
        "python": platform.python_version(),
        "llama_cpp_python": _version("llama-cpp-python"),
    }
    text = "{local_react}, Python {python}, llama-cpp-python {llama_cpp_python}".format(**versions)
    try:
        # Imported here: it is the native library, and the rest is told without it too.
        from local_react.backends.llama import supports_gpu

        gpu_build = supports_gpu()
    except Exception as error:  # noqa: BLE001 - a library for another machine fails in many ways
        problem = (
            f"llama.cpp cannot be loaded ({' '.join(str(error).split())}): reinstall it with"
            " `pip install --force-reinstall --no-cache-dir --no-deps llama-cpp-python`"
        )
        return None, _Part("local-react", text, versions, problems=(problem,))
    return gpu_build, _Part("local-react", text, versions)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cpus(file: str) -> _Part:
    profile = load_profile(file)
    measured = profile.threads
    threads = measured or hardware.default_threads()
    usable, cores = hardware.usable_cpus(), hardware.physical_cores()
    why = "measured by `local-react bench`" if measured else "one for each core"
    data = {
        "cpu": hardware.cpu_name(),
        "architecture": platform.machine(),
        "usable_cpus": usable,
        "physical_cores": cores,
        "threads": threads,
        "threads_measured": measured is not None,
        "repack_measured": profile.repack,
    }
    text = (
        f"{data['cpu']}: {usable} usable CPUs, {cores} cores; "
        f"{threads} thread{'s are' if threads > 1 else ' is'} used, {why}"
    )
    if profile.repack is not None:
        text += f"; repack {'yes' if profile.repack else 'no'}, measured as well"
    return _Part("CPU", text, data)


def _memory() -> _Part:
    available, total = hardware.available_memory(), hardware.total_memory()
    data = {"memory_available": available, "memory_total": total}
    return _Part("memory", f"{gib(available)} available of {gib(total)}", data)


def _gpus(gpu_build: bool | None) -> _Part:
    names = hardware.gpus()
    data = {"gpus": list(names), "gpu_build": gpu_build}
    if gpu_build is None:
        use = "llama.cpp cannot be loaded"
    elif gpu_build:
        use = "this build of llama-cpp-python can use one"
    else:
        use = "this build of llama-cpp-python runs on the CPU only"
    advice = tuple(_rebuild(name) for name in dict.fromkeys(names)) if gpu_build is False else ()
    return _Part("GPU", f"{', '.join(names) or 'none found'}; {use}", data, advice)


def _rebuild(name: str) -> str:
    return (
        f"a GPU is present ({name}), but this build of llama-cpp-python runs on the CPU only:"
        f' reinstall it with CMAKE_ARGS="{_BUILDS[name.split()[0]]}" (README, With a GPU)'
    )


def _model(name: str) -> tuple[Path | None, _Part]:
    """Return the model's file, None where there is none that can be used, and its part."""
    data: dict[str, Any] = {"model": name, "file": None, "bytes": None, "verified": None}
    try:
        path = resolve(name)
    except ModelError as error:
        return None, _Part("model", f"{name}: not usable", data, problems=(str(error),))
    size = path.stat().st_size
    known = load_catalogue().get(name) or load_catalogue().get(path.name)
    verified = _verified(path, known, size)
    data |= {"file": str(path), "bytes": size, "verified": verified}
    file = path if name == str(path) else f"{name}: {path}"
    text = f"{file}, {human_bytes(size)}, {_VERIFIED[verified]}"
    wrong = f"{path} is not what the catalogue has as {known.name}" if known else ""
    problem = f"{wrong}: fetch it with `{PULL} --force {known.name}`" if known else ""
    return path, _Part("model", text, data, problems=(problem,) if verified is False else ())


_VERIFIED = {
    True: "its SHA-256 is the catalogue's",
    False: "its SHA-256 is NOT the catalogue's",
    None: "not one of the catalogue's, so nothing to verify it against",
}


def _verified(path: Path, known: CatalogModel | None, size: int) -> bool | None:
    """Return whether the file is the catalogue's; None where it is none of them. It is
    read only where no record says that it was before."""
    if known is None or known.bytes != size:
        return None
    with Display().waiting(f"verifying {path.name}"):
        return is_verified(path, known, lambda _: None)


def _fit(name: str, path: Path, *, on_gpu: bool) -> _Part:
    try:
        header = read_header(path)
        context = min(DEFAULT_CONTEXT, header.context_length)
        needed = estimate(path, header, context)
    except ModelError as error:
        return _Part("needs", "not known", problems=(str(error),))
    data = {"context": context, "needed": {**asdict(needed), "total": needed.total}}
    text = (
        f"{gib(needed.total)} with {context} tokens of context (weights {gib(needed.weights)},"
        f" context {gib(needed.cache)}, the rest {gib(needed.overhead)})"
    )
    try:
        refuse_if_too_large(needed, name, hardware.available_memory())
    except ModelError as error:
        data |= {"fits": False}
        if on_gpu:
            told = f"{error}; what fits into the GPU's own memory is not known here"
            return _Part("needs", f"{text}: only with the GPU", data, advice=(told,))
        return _Part("needs", f"{text}: does not fit", data, problems=(str(error),))
    return _Part("needs", f"{text}: fits", {**data, "fits": True})


def _directories() -> _Part:
    cache = prefix_dir()
    advice = [
        f"{path} cannot be written to: {use} is not kept; set {variable} to another directory"
        for path, use, variable in (
            (cache, "what makes the next start quicker", "LOCAL_REACT_CACHE"),
            (data_dir(), "what bench measures", DATA_VARIABLE),
        )
        if path is not None and not _is_writable(path)
    ]
    data = {
        "models_dir": str(models_dir()),
        "data_dir": str(data_dir()),
        "cache_dir": str(cache) if cache else None,
    }
    text = f"models {data['models_dir']}; data {data['data_dir']}; cache {cache or 'off'}"
    return _Part("directories", text, data, advice=tuple(advice))


def _is_writable(path: Path) -> bool:
    """Return whether files can be put into a directory, which may have to be made."""
    there = next((part for part in (path, *path.parents) if part.exists()), path)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _network() -> _Part:
    offline = Network.from_environment().mode == "deny"
    why = f"{OFFLINE_VARIABLE} is set" if is_set(OFFLINE_VARIABLE) else f"by {NETWORK_VARIABLE}"
    how = f"off, {why}" if offline else "on, for the tools that need it"
    return _Part("network", how, {"offline": offline})


def _as_dict(parts: Sequence[_Part]) -> dict[str, Any]:
    facts = {key: value for part in parts for key, value in part.data.items()}
    problems = [line for part in parts for line in part.problems]
    advice = [line for part in parts for line in part.advice]
    return {**facts, "advice": advice, "problems": problems, "ok": not problems}


def _print(parts: Sequence[_Part]) -> None:
    colour = None if "NO_COLOR" not in os.environ else False
    for part in parts:
        click.echo(printable(f"{part.label:<12}  {part.text}"))
    for part in parts:
        for line in part.advice:
            click.secho(printable(f"advice: {line}"), fg="yellow", color=colour)
        for line in part.problems:
            click.secho(printable(f"problem: {line}"), fg="red", color=colour)
