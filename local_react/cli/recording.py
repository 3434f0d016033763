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
    path = str(loading.pop("path", ""))
    there = path if path and Path(path).is_file() else transcript.model
    size = None if other else transcript.head.get("settings", {}).get("context_size")
    try:
        return LlamaModel(other or there, context_size=size, **loading)
    except TypeError as error:
        raise UsageError(
            f"the transcript does not say how its model was loaded ({error})"
        ) from error
