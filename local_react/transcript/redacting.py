"""A transcript to be shown to others: what was said is taken out, its shape stays.

What is kept is named, and all else goes, so that nothing new slips through. A text becomes its
number, by which the same text is known again, and its length. It is no hash: of a short text
that would tell it to whoever tries the likely ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from local_react.transcript.lines import Told, Transcript

_KEPT: Final = frozenset(
    "type format version time model_sha256 grammar_sha256 prompt_sha256 settings"
    " may own_words suits stop_reason confidence computed counts way guards usage"
    " seconds reply reason number bytes_sent bytes_received".split()
)
"""What tells nothing of what was said."""
_NAMES: Final = ("name", "tool")
"""What is kept where it is the name of a tool that there is."""
_ARGUMENTS: Final = ("arguments", "offer", "allowed")
"""What has any values, and names, of which those are kept that a tool gives."""


def redacted(transcript: Transcript) -> Transcript:
    """Return the transcript without its question, thoughts, arguments, observations, answers
    and all other texts. It can be read, but not replayed."""
    marks = _Marks(_names(transcript))
    head = {**marks.of(transcript.head), "redacted": True}
    settings = transcript.head.get("settings", {})
    # The path of a model may name its owner.
    head["settings"] = {**settings, "loading": {**transcript.loading, "path": ""}}
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
        if name in _KEPT or value is None or isinstance(value, bool):
            return value
        if name == "schema":
            return {}
        if isinstance(value, Mapping):
            return self._arguments(value) if name in _ARGUMENTS else self.of(value)
        if isinstance(value, list):
            return [self._value("", part) for part in value]
        return self._named(value) if name in _NAMES else self._mark(str(value))

    def _arguments(self, values: Told) -> dict[str, str]:
        return {self._named(name): self._mark(json.dumps(part)) for name, part in values.items()}

    def _named(self, name: object) -> str:
        return str(name) if name in self._names else self._mark(str(name))

    def _mark(self, text: str) -> str:
        if not text:
            return text
        number = self._numbers.setdefault(text, len(self._numbers) + 1)
        return f"[text {number}: {len(text)} characters]"
