"""The trials of bench/trust.py, one module for each kind of attack or accident.

grammars        generated tools and public schemas against noise
protocol_fuzz   hostile text through the prompt, the parser and the transcript
kills           kill -9 at any moment, and what the next start finds
surroundings    full disks, closed pipes, missing directories, signals
soak            hundreds of questions in one process, many threads on one agent
files           what is kept private, links, archives, the exported page
supply          mutated model files
"""

from __future__ import annotations

from trials import files, grammars, kills, protocol_fuzz, soak, supply, surroundings
from trials.trial import Report, Trial

__all__ = ["TRIALS", "Report", "Trial"]

TRIALS: tuple[Trial, ...] = (
    *grammars.TRIALS,
    *protocol_fuzz.TRIALS,
    *kills.TRIALS,
    *surroundings.TRIALS,
    *soak.TRIALS,
    *files.TRIALS,
    *supply.TRIALS,
)
