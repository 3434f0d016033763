"""How long something takes or took, for people."""

from __future__ import annotations


def in_words(seconds: float) -> str:
    """Return a time in its largest unit, from seconds to days: "59 s", "3 h", "1 day"."""
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            count = round(seconds / size)
            return f"{count} {'day' if unit == 'days' and count == 1 else unit}"
    return f"{max(1, round(seconds))} s"
