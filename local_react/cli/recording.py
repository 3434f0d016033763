"""From a run of the command line to its transcript, and from that to its model again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from local_react.agent import Agent
    from local_react.backends.llama import LlamaModel
    from local_react.core import Run, Sampling
    from local_react.transcript import Recorder, Transcript

_LOADED: Final = ("gpu_layers", "flash_attention", "cache_type_k", "cache_type_v")
"""Options that a model was loaded with and does not tell itself."""


def transcript_of(
    recorder: Recorder,
    run: Run,
    agent: Agent,
    model: LlamaModel,
    options: Mapping[str, Any],
    *,
    facts: Sequence[str] = (),
    earlier: Sequence[Run] | None = None,
    session: str = "",
    sampling: Sampling | None = None,
    egress: Sequence[Mapping[str, Any]] = (),
    branch: Mapping[str, Any] | None = None,
) -> str:
    """Return the transcript of a run that has ended: Recorder.finish says what belongs to it.
    `options` are those that the model was loaded with."""
    from local_react.transcript.model_hash import model_sha256

    loading = {
        "path": str(model.path.absolute()),
        "threads": model.threads,
        "repack": model.repack,
        **{name: options[name] for name in _LOADED},
    }
    return recorder.finish(
        run,
        agent,
        facts=facts,
        earlier=earlier,
        session=session,
        sampling=sampling,
        loading=loading,
        model_sha256=model_sha256(model.path),
        egress=egress,
        branch=branch,
    )


def load_as_recorded(transcript: Transcript, other: str | None) -> LlamaModel:
    """Return the model of a transcript, loaded as it was then, or the other one, with a
    context of its own size. Raises ModelError and UsageError as LlamaModel does."""
    from local_react.backends.llama import LlamaModel
    from local_react.errors import UsageError

    loading = transcript.loading
    there = _where(transcript.model, str(loading.pop("path", "")))
    size = None if other else transcript.head.get("settings", {}).get("context_size")
    try:
        return LlamaModel(other or there, context_size=size, **loading)
    except TypeError as error:
        raise UsageError(
            f"the transcript does not say how its model was loaded ({error})"
        ) from error


def _where(name: str, path: str) -> str:
    """Return what a model is loaded by: its name where that still stands for the same file,
    else the file, or the name where that is gone."""
    from local_react.catalog import resolve
    from local_react.errors import LocalReactError

    if not path or not Path(path).is_file():
        return name
    try:
        return name if resolve(name).samefile(path) else path
    except (LocalReactError, OSError):
        return path
