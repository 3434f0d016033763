"""Another attempt where a fault may pass: later each time, and not for everybody at the
same moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TypeVar

T = TypeVar("T")

TRIES = 3


class Again(Exception):
    """A fault that may pass. `fault` is what to raise where no attempt is left; `after`
    the seconds that the service asks to be left alone."""

    def __init__(self, fault: Exception, after: float | None = None) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.after = after


def patiently(
    work: Callable[[], T], *, seconds: float, sleep: Callable[[float], None] = time.sleep
) -> T:
    """Return what `work` returns, after at most three attempts within so many seconds.

    Raises the fault of the last Again, at once where the service asks for more time than
    there is; whatever else `work` raises goes on.
    """
    import tenacity

    deadline = time.monotonic() + seconds
    backoff = tenacity.wait_exponential(multiplier=0.5, max=4) + tenacity.wait_random(0, 0.3)

    def pause(state: tenacity.RetryCallState) -> float:
        error = state.outcome and state.outcome.exception()
        asked = error.after if isinstance(error, Again) else None
        return max(asked or 0.0, backoff(state))

    def too_late(state: tenacity.RetryCallState) -> bool:
        # The next pause is known only after the question whether to stop.
        return state.attempt_number >= TRIES or time.monotonic() + pause(state) >= deadline

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Again),
        stop=too_late,
        wait=pause,
        sleep=sleep,
        reraise=True,
    )
    try:
        return retrying(work)
    except Again as again:
        raise again.fault from again


def retry_after(value: str) -> float | None:
    """Return the seconds that a Retry-After header asks for: a number or a date (RFC 9110,
    section 10.2.3); None where it has neither."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())
