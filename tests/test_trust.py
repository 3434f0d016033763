"""The trials of bench/trust.py, in short."""

from __future__ import annotations

import pytest
from trials import TRIALS, Trial
from trust import attempted

_SEED = 8


@pytest.mark.parametrize(
    "trial",
    [
        pytest.param(trial, id=trial.name, marks=[pytest.mark.model] if trial.model else [])
        for trial in TRIALS
    ],
)
@pytest.mark.usefixtures("models", "own_places")
def test_nothing_breaks_it(trial: Trial) -> None:
    report = attempted(trial, trial.short, _SEED)
    assert not report.failures
    if report.skipped and not report.tried:
        pytest.skip(f"SKIPPED, {trial.name}: {report.skipped}")
    assert report.tried >= trial.short or report.skipped
