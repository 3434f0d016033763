"""To be written."""

from __future__ import annotations

from trials.trial import Trial

TRIALS: tuple[Trial, ...] = ()
