"""Whole numbers between two bounds, digit by digit."""

from __future__ import annotations

from typing import Final

from local_react.gbnf.notation import choice

DIGITS: Final = 20
"""The most that a number has: those of 64 bits, and none of a model that can't stop."""


def integers(least: int | None, most: int | None) -> str:
    """Return an expression of the whole numbers from `least` to `most`, of DIGITS digits at
    most; an empty one where there are none. None is no bound."""
    options = []
    if least is None or least < 0:
        low = 1 if most is None or most >= 0 else -most
        options += [f'"-" ({body})' for body in _from_to(low, None if least is None else -least)]
    if most is None or most >= 0:
        options += _from_to(max(least or 0, 0), most)
    return choice(options)


def _from_to(low: int, high: int | None) -> list[str]:
    """Return expressions of the numbers from `low`, which is not negative, to `high`."""
    highest = 10**DIGITS - 1
    last = highest if high is None else min(high, highest)
    options = []
    while low <= last:
        digits = len(str(low))
        if low == max(10 ** (digits - 1), 1) and last == highest:  # all that are as long, or longer
            options.append(f"[1-9] [0-9]{{{digits - 1},{DIGITS - 1}}}")
            break
        until = min(last, 10**digits - 1)
        options.append(_alike(str(low), str(until)))
        low = until + 1
    return options


def _alike(low: str, high: str) -> str:
    """Return an expression of the numbers between two that have as many digits."""
    if not low:
        return '""'
    rest = len(low) - 1
    first, last, options = int(low[0]), int(high[0]), []
    if first == last:
        return _joined(f'"{low[0]}"', _alike(low[1:], high[1:]), rest)
    if low[1:] != "0" * rest:
        options.append(_joined(f'"{low[0]}"', _alike(low[1:], "9" * rest), rest))
        first += 1
    if high[1:] != "9" * rest:
        options.append(_joined(f'"{high[0]}"', _alike("0" * rest, high[1:]), rest))
        last -= 1
    if first <= last:
        options.append(_joined(f"[{first}-{last}]", f"[0-9]{{{rest}}}", rest))
    return choice(options)


def _joined(head: str, tail: str, rest: int) -> str:
    return f"{head} ({tail})" if rest else head
