"""Whether a transcript holds what its lines are to hold, which anybody may have written."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from local_react.core import Run
from local_react.errors import UsageError
from local_react.transcript.lines import Transcript

_Object = dict[str, Any]


def _moment(text: str) -> str:
    datetime.fromisoformat(text.replace("Z", "+00:00"))
    return text


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Tool(_Line):
    name: str
    description: str
    schema_: _Object = Field(alias="schema")
    may: list[str]
    own_words: bool
    suits: bool | None
    offer: _Object | None
    offered: str


class _Settings(_Line):
    sampling: _Object = {}
    loading: _Object = {}


class _Head(_Line):
    time: Annotated[str, AfterValidator(_moment)]
    facts: list[str] = []
    system: str = ""
    model_sha256: str | None = None
    settings: _Settings = _Settings()
    tools: list[_Tool] = []
    session: str = ""


class _Text(_Line):
    text: str


class _Error(_Line):
    error: str


class _Passage(_Line):
    model_config = ConfigDict(strict=True, extra="forbid")
    text: str
    source: str
    title: str = ""


class _Found(_Line):
    passages: list[_Passage]
    note: str


class _Call(_Line):
    tool: str
    arguments: _Object
    result: _Text | _Error | _Found


class _Approval(_Line):
    tool: str
    arguments: _Object
    allowed: bool | _Object


class _Step(_Line):
    text: str


class _Exchange(_Line):
    tool: str
    host: str
    text: str
    bytes_sent: int
    bytes_received: int
    result: str


class _End(_Line):
    egress: list[_Exchange]


class _All(_Line):
    head: _Head
    calls: list[_Call]
    approvals: list[_Approval]
    steps: list[_Step]
    end: _End


# A run is made without a look at the types of what it holds.
_RUNS: Final = TypeAdapter(
    tuple[Run, ...], config=ConfigDict(strict=True, revalidate_instances="always")
)


def check_runs(runs: Sequence[Run]) -> None:
    """Raise ValueError where what a run holds is of another type than it says."""
    _RUNS.validate_python(tuple(runs))


def check(transcript: Transcript, name: str) -> None:
    """Raise UsageError, which says what is at fault, where something is missing or is of
    another type."""
    parts = {part: getattr(transcript, part) for part in _All.model_fields}
    try:
        _All.model_validate(parts)
        _RUNS.validate_python((transcript.run, *(transcript.earlier or ())))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise UsageError(
            f"{name} is no transcript that can be used: {where}: {fault['msg']}"
        ) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"{name} is no transcript that can be used: {type(error).__name__}: {error}"
        ) from error
