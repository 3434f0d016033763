"""What is kept private, links, archives, the exported page, and whose code is run."""

from __future__ import annotations

from trials import hostile_folders, hostile_page, leaks, private_places, strange_code
from trials.trial import Trial

TRIALS: tuple[Trial, ...] = (
    *private_places.TRIALS,
    *leaks.TRIALS,
    *hostile_folders.TRIALS,
    *hostile_page.TRIALS,
    *strange_code.TRIALS,
)
