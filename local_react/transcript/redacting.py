"""A transcript to be shown to others: what was said is taken out, its shape stays.

What is kept is named, and all else goes, so that nothing new slips through. A text becomes its
number, by which the same text is known again, and its length. It is no hash: of a short text
that would tell it to whoever tries the likely ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, get_args

from local_react.core import StopReason
from local_react.tools.base import Ability
from local_react.transcript.lines import Told, Transcript

_FIGURES: Final = frozenset(
    "format settings confidence guards usage seconds reply number bytes_sent bytes_received".split()
)
"""What has figures that tell nothing of what was said."""
_HASH: Final = "[0-9a-f]{64}"
_FORMS: Final[Mapping[str, str]] = {
    "type": "run|call|approval|step|end",
    "version": r"\d+(\.\w{1,8}){1,4}",
    "time": r"[\d:TZ+.-]{1,40}",
    **dict.fromkeys(("model_sha256", "grammar_sha256", "prompt_sha256"), _HASH),
    "may": "|".join(get_args(Ability)),
    "stop_reason": "|".join(get_args(StopReason)),
    "way": "tools|reasoning",
    "votes": "auto",
    "reason": "(it|its) [a-zA-Z ]{1,60}",
    **dict.fromkeys(("cache_type_k", "cache_type_v"), "[a-z]{1,4}[0-9_]{1,4}"),
}
"""Texts of ours that stay, by what they look like."""
_NAMES: Final = ("name", "tool")
"""What is kept where it is the name of a tool that there is."""
_ARGUMENTS: Final = ("arguments", "offer", "allowed")
"""What has any values, and names, of which those are kept that a tool gives."""


def redacted(transcript: Transcript) -> Transcript:
    """Return the transcript without its question, thoughts, arguments, observations, answers
    and all other texts. It can be read, but not replayed."""
    marks = _Marks(_names(transcript))
    head = {**marks.of(transcript.head), "redacted": True}
    # The path of a model may name its owner.
    head["model"] = re.split(r"[/\\]", transcript.model)[-1]
    return Transcript(
        head,
        [marks.of(one) for one in transcript.calls],
        [marks.of(one) for one in transcript.approvals],
        [marks.of(one) for one in transcript.steps],
        marks.of(transcript.end),
    )


def _names(transcript: Transcript) -> set[str]:
    """Return the names of the tools, and those that they give to their arguments."""
    tools = transcript.head.get("tools", [])
    names = {tool["name"] for tool in tools}
    return names.union(*(tool["schema"].get("properties", {}) for tool in tools))


class _Marks:
    """Puts marks in the place of texts, the same for the same text."""

    def __init__(self, names: set[str]) -> None:
        self._names = names
        self._numbers = dict[str, int]()

    def of(self, told: Told) -> dict[str, Any]:
        """Return an object with marks for all that is not kept."""
        return {name: self._value(name, value) for name, value in told.items()}

    def _value(self, name: str, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if name == "schema":
            return {}
        if name in _FIGURES:
            return self._figures(name, value)
        if isinstance(value, Mapping):
            return self._arguments(value) if name in _ARGUMENTS else self.of(value)
        if isinstance(value, list):
            return [self._value("may" if name == "may" else "", part) for part in value]
        return self._named(value) if name in _NAMES else self._text(name, str(value))

    def _figures(self, name: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {part: self._figures(part, inner) for part, inner in value.items()}
        if isinstance(value, (int, float)) or value is None:
            return value
        return self._text(name, value if isinstance(value, str) else json.dumps(value))

    def _text(self, name: str, text: str) -> str:
        return text if re.fullmatch(_FORMS.get(name, ""), text) else self._mark(text)

    def _arguments(self, values: Told) -> dict[str, str]:
        return {self._named(name): self._mark(json.dumps(part)) for name, part in values.items()}

    def _named(self, name: object) -> str:
        return str(name) if name in self._names else self._mark(str(name))

    def _mark(self, text: str) -> str:
        if not text:
            return text
        number = self._numbers.setdefault(text, len(self._numbers) + 1)
        return f"[text {number}: {len(text)} characters]"
